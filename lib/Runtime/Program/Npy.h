//===- Npy.h - numpy's .npy files -------------------------------*- C++ -*-===//
//
// The format of NEP 1 ("A Simple File Format for NumPy Arrays"): magic,
// version, header length, a Python dict, then the data.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_NPY_H
#define TESSERA_LIB_RUNTIME_PROGRAM_NPY_H

#include "tessera/Runtime/Checkpoint.h"

namespace tessera::rt {

struct NpyArray {
  DType dtype;
  std::vector<int64_t> shape;
  const char *data; ///< row-major, little-endian, perhaps not aligned
  std::shared_ptr<const MappedFile> file;
};

/// Reads an array of integers or floats in row-major little-endian order.
Expected<NpyArray> readNpy(const std::string &path);

/// The bytes before the data of a row-major f32 array.
std::string npyHeaderF32(const std::vector<int64_t> &shape);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_NPY_H
