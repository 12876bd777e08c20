//===- Device.h - one device, real or virtual -------------------*- C++ -*-===//
//
// What the runtime needs of a device. Two backends: the CUDA driver, opened
// with dlopen when it is asked for, and the virtual GPU. Emitted code reaches
// the current device through tessera_launch (BinaryTable.h).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_DEVICE_H
#define TESSERA_RUNTIME_DEVICE_H

#include "tessera/Runtime/BinaryTable.h"
#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <memory>
#include <string>

namespace tessera::rt {

enum class DeviceKind { Virtual, Cuda };

/// Shape of one launch.
struct LaunchDims {
  uint64_t grid[3];
  uint64_t block[3];
  uint32_t dynamicSharedBytes;
};

class Device {
public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  /// One line for people: "virtual GPU", "cuda device 0: NVIDIA H200, sm_90".
  virtual std::string describe() const = 0;

  /// Device memory, at least 256-byte aligned; contents undefined.
  virtual Expected<void *> allocate(uint64_t bytes) = 0;
  virtual Status release(void *pointer) = 0;
  /// The copies and the fill return when the memory is ready.
  virtual Status copyToDevice(void *to, const void *from, uint64_t bytes) = 0;
  virtual Status copyToHost(void *to, const void *from, uint64_t bytes) = 0;
  virtual Status fill(void *to, int byte, uint64_t bytes) = 0;

  virtual Expected<void *> createStream() = 0;
  virtual Status destroyStream(void *stream) = 0;
  /// Waits for everything enqueued; reports failures of asynchronous work.
  virtual Status synchronize(void *stream) = 0;

  virtual Expected<void *> createEvent() = 0;
  virtual Status destroyEvent(void *event) = 0;
  virtual Status record(void *event, void *stream) = 0;
  /// Milliseconds between two recorded events; waits for the second.
  virtual Expected<double> elapsed(void *begin, void *end) = 0;

  /// Enqueues kernel number `kernel` of `table`.
  virtual Status launch(const tessera_binary_table *table, uint32_t kernel,
                        const LaunchDims &dims, void *stream,
                        void **params) = 0;
};

/// The virtual GPU of this process (options: VirtualDevice.h).
Expected<std::unique_ptr<Device>> createVirtualDevice();

/// CUDA device `ordinal`, through libcuda.so.1. Fails with one message if
/// there is no driver or no such device.
Expected<std::unique_ptr<Device>> createCudaDevice(int ordinal);

/// Number of CUDA devices, or why there is none.
Expected<int> countCudaDevices();

/// The device that emitted code uses. Not owned.
Device *currentDevice();
void setCurrentDevice(Device *device);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_DEVICE_H
