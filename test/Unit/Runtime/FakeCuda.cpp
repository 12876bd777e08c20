//===- FakeCuda.cpp - a CUDA driver that is none --------------------------===//
//
// A libcuda.so.1 on host memory which knows the fake program's kernel: it lets
// the CUDA backend run from end to end without a GPU. FAKE_CUDA_SM sets the
// compute capability, FAKE_CUDA_FAIL what fails. Each loaded image is reported
// on standard error.
//
//===----------------------------------------------------------------------===//
#include "FakeKernel.h"
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {
using Clock = std::chrono::steady_clock;
bool fails(const char *what) {
  const char *fault = std::getenv("FAKE_CUDA_FAIL");
  return fault && std::string(fault) == what;
}
int sm() {
  const char *text = std::getenv("FAKE_CUDA_SM");
  return text ? std::atoi(text) : 90;
}
char token;
} // namespace

extern "C" {
int cuInit(unsigned) { return fails("init") ? 100 : 0; }
int cuDriverGetVersion(int *v) { return *v = 13000, 0; }
int cuGetErrorName(int error, const char **name) {
  *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
          : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
                         : "CUDA_ERROR_FAKE";
  return 0;
}
int cuGetErrorString(int, const char **text) { return *text = "as asked", 0; }
int cuDeviceGetCount(int *count) { return *count = fails("none") ? 0 : 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, 0; }
int cuDeviceGetName(char *name, int, int) {
  std::strcpy(name, "Fake GPU");
  return 0;
}
int cuDeviceGetAttribute(int *value, int attribute, int) {
  *value = attribute == 75 ? sm() / 10 : attribute == 76 ? sm() % 10 : -1;
  return 0;
}
int cuDeviceTotalMem_v2(size_t *bytes, int) { return *bytes = 1 << 30, 0; }
int cuDevicePrimaryCtxRetain(void **c, int) { return *c = &token, 0; }
int cuCtxSetCurrent(void *c) { return c == &token ? 0 : 201; }
int cuMemAlloc_v2(unsigned long long *p, size_t bytes) {
  if (fails("memory"))
    return 2;
  void *memory = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  std::memset(memory, 0xff, bytes);
  *p = reinterpret_cast<unsigned long long>(memory);
  return 0;
}
int cuMemFree_v2(unsigned long long p) {
  std::free(reinterpret_cast<void *>(p));
  return 0;
}
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t n) {
  std::memcpy(reinterpret_cast<void *>(to), from, n);
  return 0;
}
int cuMemcpyDtoH_v2(void *to, unsigned long long from, size_t n) {
  std::memcpy(to, reinterpret_cast<void *>(from), n);
  return 0;
}
int cuMemsetD8_v2(unsigned long long to, unsigned char byte, size_t n) {
  std::memset(reinterpret_cast<void *>(to), byte, n);
  return 0;
}
int cuStreamCreate(void **s, unsigned) { return *s = &token, 0; }
int cuStreamDestroy_v2(void *) { return 0; }
int cuStreamSynchronize(void *) { return fails("kernel") ? 700 : 0; }
int cuCtxSynchronize(void) { return 0; }
int cuEventCreate(void **e, unsigned) {
  return *e = new Clock::time_point(), 0;
}
int cuEventDestroy_v2(void *e) {
  delete static_cast<Clock::time_point *>(e);
  return 0;
}
int cuEventRecord(void *e, void *) {
  *static_cast<Clock::time_point *>(e) = Clock::now();
  return 0;
}
int cuEventSynchronize(void *) { return 0; }
int cuEventElapsedTime(float *ms, void *a, void *b) {
  *ms = std::chrono::duration<float, std::milli>(
            *static_cast<Clock::time_point *>(b) -
            *static_cast<Clock::time_point *>(a))
            .count();
  return 0;
}
int cuModuleLoadDataEx(void **module, const void *image, unsigned n,
                       int *options, void **values) {
  const char *text = static_cast<const char *>(image);
  if (fails("load") || (fails("cubin") && std::strstr(text, "cubin"))) {
    for (unsigned i = 0; i < n; ++i)
      if (options[i] == 5)
        std::strcpy(static_cast<char *>(values[i]), "line 1; fatal\n");
    return 218;
  }
  std::fprintf(stderr, "loaded %s\n", text);
  *module = const_cast<void *>(image);
  return 0;
}
int cuModuleGetFunction(void **f, void *, const char *name) {
  *f = const_cast<char *>(name);
  return std::strcmp(name, "local_part") == 0 ? 0 : 500;
}
int cuFuncSetAttribute(void *, int, int) { return 0; }
int cuLaunchKernel(void *f, unsigned, unsigned, unsigned, unsigned, unsigned,
                   unsigned, unsigned, void *, void **params, void **) {
  if (fails("launch") || std::strcmp(static_cast<char *>(f), "local_part") != 0)
    return 1;
  localPartOfFake(params);
  return 0;
}
}
