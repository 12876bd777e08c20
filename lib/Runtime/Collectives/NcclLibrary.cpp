//===- NcclLibrary.cpp - the real NCCL, opened at run time ----------------===//
//
// dlopen with local visibility, so that the library's symbols and the
// executable's own nccl* symbols do not meet.
//
//===----------------------------------------------------------------------===//
#include "NcclLibrary.h"

#include <dlfcn.h>

namespace tessera::rt {

namespace {
Expected<const NcclLibrary *> open() {
  void *handle = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return failure(
        "cannot open NCCL, which more than one rank on CUDA needs: ", dlerror(),
        "; put its folder into LD_LIBRARY_PATH, or use "
        "--device=virtual");
  NcclLibrary *library = new NcclLibrary(); // for the life of the process
#define TESSERA_NCCL_LOAD(name)                                                \
  library->name = reinterpret_cast<decltype(&::name)>(dlsym(handle, #name));   \
  if (!library->name)                                                          \
    return failure("libnccl.so.2 has no " #name                                \
                   ": it is too old, 2.18 or later is needed");
  TESSERA_NCCL_FUNCTIONS(TESSERA_NCCL_LOAD)
#undef TESSERA_NCCL_LOAD
  return library;
}
} // namespace

Expected<const NcclLibrary *> openNccl() {
  static Expected<const NcclLibrary *> opened = open();
  return opened;
}

} // namespace tessera::rt
