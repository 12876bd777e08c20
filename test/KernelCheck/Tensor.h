//===- Tensor.h - host tensors in a kernel's element type -------*- C++ -*-===//
#ifndef TEST_KERNELCHECK_TENSOR_H
#define TEST_KERNELCHECK_TENSOR_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"
#include "test/Support/BFloat16.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tessera::check {

using test::fromBF16;
using test::toBF16;

/// What a kernel reads or writes: numbers of an Element, or i32.
class Tensor {
public:
  Tensor() = default;
  /// Filled with NaNs.
  Tensor(kernels::Element type, int64_t size)
      : type(type), bytes(size * kernels::sizeOf(type), char(0xff)) {}
  /// Numbers with mean 0 and standard deviation `scale`, the same everywhere.
  static Tensor random(kernels::Element type, int64_t size, uint64_t seed,
                       double scale = 1.0);
  static Tensor ids(const std::vector<int32_t> &values) {
    Tensor tensor;
    tensor.bytes.resize(values.size() * 4);
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor;
  }

  char *data() { return bytes.data(); }
  const char *data() const { return bytes.data(); }
  int64_t size() const { return bytes.size() / kernels::sizeOf(type); }
  uint64_t byteSize() const { return bytes.size(); }

  double operator[](int64_t i) const {
    if (type == kernels::Element::BF16) {
      uint16_t half;
      std::memcpy(&half, &bytes[i * 2], 2);
      return fromBF16(half);
    }
    float value;
    std::memcpy(&value, &bytes[i * 4], 4);
    return value;
  }
  void set(int64_t i, double value) {
    float single = static_cast<float>(value);
    if (type == kernels::Element::BF16) {
      uint16_t half = toBF16(single);
      std::memcpy(&bytes[i * 2], &half, 2);
    } else {
      std::memcpy(&bytes[i * 4], &single, 4);
    }
  }

private:
  kernels::Element type = kernels::Element::F32;
  std::vector<char> bytes;
};

/// `value` as `type` stores it.
inline double rounded(kernels::Element type, double value) {
  float single = static_cast<float>(value);
  return type == kernels::Element::F32 ? single : fromBF16(toBF16(single));
}

} // namespace tessera::check

#endif // TEST_KERNELCHECK_TENSOR_H
