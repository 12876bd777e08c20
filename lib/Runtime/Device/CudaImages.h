//===- CudaImages.h - which embedded image suits a device -------*- C++ -*-===//
//
// The rules of binary compatibility ("CUDA C++ Programming Guide", sections
// "Binary Compatibility" and "PTX Compatibility"): a cubin for X.y runs on X.z
// with z >= y; PTX for X.y is compiled for anything newer; an `a` suffix means
// exactly this architecture, `f` this family (the same major number).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_DEVICE_CUDAIMAGES_H
#define TESSERA_LIB_RUNTIME_DEVICE_CUDAIMAGES_H

#include "tessera/Runtime/BinaryTable.h"
#include <string>
#include <vector>

namespace tessera::rt::cuda {

/// The images of `table` that a device of compute capability `sm` (90 for 9.0)
/// can run, best first: cubins before PTX, newer before older, specific before
/// general.
std::vector<const tessera_image *>
usableImages(const tessera_binary_table &table, unsigned sm);

/// "cubin sm_80, ptx sm_90", for messages; "nothing" when it is empty.
std::string listImages(const tessera_binary_table &table);

} // namespace tessera::rt::cuda

#endif // TESSERA_LIB_RUNTIME_DEVICE_CUDAIMAGES_H
