//===- CudaDriver.h - the driver entry points that are used -----*- C++ -*-===//
//
// Own declarations of the CUDA driver API (types, constants and signatures as
// documented in the "CUDA Driver API" manual), so that no CUDA header is needed
// to build. The functions are looked up in libcuda.so.1 at run time, under the
// symbol names that the manual's functions map to since CUDA 3.2 (_v2).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_DEVICE_CUDADRIVER_H
#define TESSERA_LIB_RUNTIME_DEVICE_CUDADRIVER_H

#include "tessera/Runtime/Status.h"
#include <cstddef>

namespace tessera::rt::cuda {

using Result = int; // CUresult
using DeviceId = int;
using DevicePtr = unsigned long long;
using Context = void *;
using Module = void *;
using Function = void *;
using Stream = void *;
using Event = void *;

inline constexpr Result success = 0;
inline constexpr Result errorOutOfMemory = 2;
inline constexpr Result errorNoBinaryForGpu = 209;
inline constexpr unsigned streamNonBlocking = 1;
inline constexpr int attributeMajor = 75;
inline constexpr int attributeMinor = 76;
inline constexpr int functionMaxDynamicShared = 8;
inline constexpr int jitErrorLogBuffer = 5;
inline constexpr int jitErrorLogBufferSize = 6;

/// The entry points, in one table: member, symbol, signature.
struct Driver {
#define TESSERA_CUDA_FUNCTIONS(F)                                              \
  F(init, cuInit, (unsigned flags))                                            \
  F(driverVersion, cuDriverGetVersion, (int *version))                         \
  F(errorName, cuGetErrorName, (Result error, const char **name))              \
  F(errorString, cuGetErrorString, (Result error, const char **text))          \
  F(deviceCount, cuDeviceGetCount, (int *count))                               \
  F(deviceGet, cuDeviceGet, (DeviceId * device, int ordinal))                  \
  F(deviceName, cuDeviceGetName, (char *name, int length, DeviceId device))    \
  F(deviceAttribute, cuDeviceGetAttribute,                                     \
    (int *value, int attribute, DeviceId device))                              \
  F(deviceMemory, cuDeviceTotalMem_v2, (size_t *bytes, DeviceId device))       \
  F(contextRetain, cuDevicePrimaryCtxRetain,                                   \
    (Context * context, DeviceId device))                                      \
  F(contextSet, cuCtxSetCurrent, (Context context))                            \
  F(memAlloc, cuMemAlloc_v2, (DevicePtr * pointer, size_t bytes))              \
  F(memFree, cuMemFree_v2, (DevicePtr pointer))                                \
  F(copyToDevice, cuMemcpyHtoD_v2,                                             \
    (DevicePtr to, const void *from, size_t bytes))                            \
  F(copyToHost, cuMemcpyDtoH_v2, (void *to, DevicePtr from, size_t bytes))     \
  F(fill8, cuMemsetD8_v2, (DevicePtr to, unsigned char byte, size_t count))    \
  F(streamCreate, cuStreamCreate, (Stream * stream, unsigned flags))           \
  F(streamDestroy, cuStreamDestroy_v2, (Stream stream))                        \
  F(streamSynchronize, cuStreamSynchronize, (Stream stream))                   \
  F(contextSynchronize, cuCtxSynchronize, (void))                              \
  F(eventCreate, cuEventCreate, (Event * event, unsigned flags))               \
  F(eventDestroy, cuEventDestroy_v2, (Event event))                            \
  F(eventRecord, cuEventRecord, (Event event, Stream stream))                  \
  F(eventSynchronize, cuEventSynchronize, (Event event))                       \
  F(eventElapsed, cuEventElapsedTime,                                          \
    (float *milliseconds, Event begin, Event end))                             \
  F(moduleLoad, cuModuleLoadDataEx,                                            \
    (Module * module, const void *image, unsigned options, int *option,        \
     void **value))                                                            \
  F(moduleFunction, cuModuleGetFunction,                                       \
    (Function * function, Module module, const char *name))                    \
  F(functionSetAttribute, cuFuncSetAttribute,                                  \
    (Function function, int attribute, int value))                             \
  F(launch, cuLaunchKernel,                                                    \
    (Function function, unsigned gridX, unsigned gridY, unsigned gridZ,        \
     unsigned blockX, unsigned blockY, unsigned blockZ, unsigned sharedBytes,  \
     Stream stream, void **params, void **extra))

#define TESSERA_CUDA_MEMBER(member, symbol, signature)                         \
  Result(*member) signature = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_MEMBER)
#undef TESSERA_CUDA_MEMBER

  /// "cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY: out of memory"
  Status check(Result result, const char *what) const;
};

/// Opens libcuda.so.1 and initialises it, once. The message of a failure says
/// what to do instead.
Expected<const Driver *> openDriver();

} // namespace tessera::rt::cuda

#endif // TESSERA_LIB_RUNTIME_DEVICE_CUDADRIVER_H
