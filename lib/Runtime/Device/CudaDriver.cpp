//===- CudaDriver.cpp - opening libcuda -----------------------------------===//
//
// dlopen and dlsym over the table of entry points.
//
//===----------------------------------------------------------------------===//
#include "CudaDriver.h"

#include <dlfcn.h>

namespace tessera::rt::cuda {

Status Driver::check(Result result, const char *what) const {
  if (result == success)
    return Status::success();
  const char *name = nullptr, *text = nullptr;
  if (errorName(result, &name) != success || !name)
    name = "unknown error";
  if (errorString(result, &text) != success || !text)
    text = "no description";
  return failure(what, ": ", name, " (", result, "): ", text);
}

namespace {
Expected<const Driver *> open() {
  const char *advice = "; --device=virtual runs without a GPU";
  void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return failure("cannot open the CUDA driver: ", dlerror(), advice);
  Driver *driver = new Driver(); // for the life of the process
#define TESSERA_CUDA_LOAD(member, symbol, signature)                           \
  driver->member =                                                             \
      reinterpret_cast<Result(*) signature>(dlsym(library, #symbol));          \
  if (!driver->member)                                                         \
    return failure("the CUDA driver has no ", #symbol, ": it is too old",      \
                   advice);
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_LOAD)
#undef TESSERA_CUDA_LOAD
  if (Status s = driver->check(driver->init(0), "cuInit"))
    return failure("the CUDA driver does not start: ", s.message(), advice);
  return driver;
}
} // namespace

Expected<const Driver *> openDriver() {
  static Expected<const Driver *> opened = open();
  return opened;
}

} // namespace tessera::rt::cuda
