//===- Reduce.h - elementwise reduction in rank order -----------*- C++ -*-===//
//
// The arithmetic of the virtual devices' reducing collectives.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_COLLECTIVES_REDUCE_H
#define TESSERA_LIB_RUNTIME_COLLECTIVES_REDUCE_H

#include "tessera/Runtime/Nccl.h"
#include <cstdint>

namespace tessera::rt {

/// Bytes of one element, 0 for a type that is not supported.
uint64_t bytesOf(ncclDataType_t type);

/// out[i] = inputs[0][i] op inputs[1][i] op ... in this order, for i in
/// [0, count). 16-bit floats are accumulated in f32 and rounded once. A NaN
/// anywhere makes the result NaN, in minimum and maximum too. `out` may be one
/// of the inputs.
void reduceInOrder(ncclDataType_t type, ncclRedOp_t op,
                   const void *const *inputs, int n, void *out, uint64_t count);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_COLLECTIVES_REDUCE_H
