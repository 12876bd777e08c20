//===- Reduce.cpp - elementwise reduction in rank order -------------------===//
//
// One loop per pair of type and operator, by template.
//
//===----------------------------------------------------------------------===//
#include "Reduce.h"

#include "tessera/Runtime/DType.h"
#include <type_traits>

namespace tessera::rt {

namespace {
/// Storage and accumulator of a type, and the way between them.
template <typename T>
struct Plain {
  using Storage = T;
  // Integers wrap, so they are added unsigned.
  using Accumulator = T;
  static T load(T s) { return s; }
  static T store(T a) { return a; }
};
struct Half {
  using Storage = uint16_t;
  using Accumulator = float;
  static float load(uint16_t s) { return f16ToFloat(s); }
  static uint16_t store(float a) { return floatToF16(a); }
};
struct BFloat {
  using Storage = uint16_t;
  using Accumulator = float;
  static float load(uint16_t s) { return bf16ToFloat(s); }
  static uint16_t store(float a) { return floatToBF16(a); }
};

template <typename A>
A wrap(A a, A b, bool product) {
  if constexpr (std::is_integral_v<A>) {
    uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<A>(product ? x * y : x + y);
  } else {
    return product ? a * b : a + b;
  }
}

template <typename A>
A combine(ncclRedOp_t op, A a, A b) {
  switch (op) {
  case ncclSum:
  case ncclAvg:
    return wrap(a, b, false);
  case ncclProd:
    return wrap(a, b, true);
  case ncclMax:
    return a != a || a > b ? a : b;
  case ncclMin:
    return a != a || a < b ? a : b;
  }
  return a;
}

template <typename T, ncclRedOp_t Op>
void loop(const void *const *inputs, int n, void *out, uint64_t count) {
  using S = typename T::Storage;
  using A = typename T::Accumulator;
  for (uint64_t i = 0; i < count; ++i) {
    A sum = T::load(static_cast<const S *>(inputs[0])[i]);
    for (int r = 1; r < n; ++r)
      sum = combine<A>(Op, sum, T::load(static_cast<const S *>(inputs[r])[i]));
    if (Op == ncclAvg)
      sum = static_cast<A>(sum / static_cast<A>(n));
    static_cast<S *>(out)[i] = T::store(sum);
  }
}

template <typename T>
void pick(ncclRedOp_t op, const void *const *inputs, int n, void *out,
          uint64_t count) {
  switch (op) {
  case ncclSum:
    return loop<T, ncclSum>(inputs, n, out, count);
  case ncclProd:
    return loop<T, ncclProd>(inputs, n, out, count);
  case ncclMax:
    return loop<T, ncclMax>(inputs, n, out, count);
  case ncclMin:
    return loop<T, ncclMin>(inputs, n, out, count);
  case ncclAvg:
    return loop<T, ncclAvg>(inputs, n, out, count);
  }
}
} // namespace

uint64_t bytesOf(ncclDataType_t type) {
  switch (type) {
  case ncclInt8:
  case ncclUint8:
    return 1;
  case ncclFloat16:
  case ncclBfloat16:
    return 2;
  case ncclInt32:
  case ncclUint32:
  case ncclFloat32:
    return 4;
  case ncclInt64:
  case ncclUint64:
  case ncclFloat64:
    return 8;
  }
  return 0;
}

void reduceInOrder(ncclDataType_t type, ncclRedOp_t op,
                   const void *const *inputs, int n, void *out,
                   uint64_t count) {
  switch (type) {
  case ncclInt8:
    return pick<Plain<int8_t>>(op, inputs, n, out, count);
  case ncclUint8:
    return pick<Plain<uint8_t>>(op, inputs, n, out, count);
  case ncclInt32:
    return pick<Plain<int32_t>>(op, inputs, n, out, count);
  case ncclUint32:
    return pick<Plain<uint32_t>>(op, inputs, n, out, count);
  case ncclInt64:
    return pick<Plain<int64_t>>(op, inputs, n, out, count);
  case ncclUint64:
    return pick<Plain<uint64_t>>(op, inputs, n, out, count);
  case ncclFloat16:
    return pick<Half>(op, inputs, n, out, count);
  case ncclBfloat16:
    return pick<BFloat>(op, inputs, n, out, count);
  case ncclFloat32:
    return pick<Plain<float>>(op, inputs, n, out, count);
  case ncclFloat64:
    return pick<Plain<double>>(op, inputs, n, out, count);
  }
}

} // namespace tessera::rt
