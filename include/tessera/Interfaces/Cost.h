//===- Cost.h - what one operation costs on the shapes it is given --------===//
//
// The one vocabulary in which operations state their cost. The planner asks an
// operation with shapes it imagines, the compiled program with the shapes it
// has, so both sides add up the same numbers. Plain C++: no MLIR type occurs
// here, so that the cost model can use it without the compiler.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_INTERFACES_COST_H
#define TESSERA_INTERFACES_COST_H

#include <cstdint>

namespace tessera {

/// What kind of kernel an operation becomes; efficiencies are fitted per kind.
enum class KernelClass : uint8_t {
  None,          ///< no kernel (a view, a parameter read)
  Matmul,        ///< dense matrix product on the matrix units
  GroupedMatmul, ///< one matrix product per expert
  Attention,     ///< fused attention
  Elementwise,   ///< bandwidth bound, one pass
  RowReduction,  ///< norms, softmax statistics, cross-entropy
  Gather,        ///< embedding, permutation of tokens
  Collective,    ///< communication between ranks
};

/// One direction (forward or backward) of one operation on local shapes.
struct PassCost {
  /// Floating-point operations on the matrix units, multiply and add counted
  /// as two.
  int64_t matmulFlops = 0;
  /// All other floating-point operations.
  int64_t vectorFlops = 0;
  /// Bytes that must cross device memory at least once.
  int64_t bytesRead = 0;
  int64_t bytesWritten = 0;

  PassCost &operator+=(const PassCost &o) {
    matmulFlops += o.matmulFlops;
    vectorFlops += o.vectorFlops;
    bytesRead += o.bytesRead;
    bytesWritten += o.bytesWritten;
    return *this;
  }
  bool operator==(const PassCost &o) const {
    return matmulFlops == o.matmulFlops && vectorFlops == o.vectorFlops &&
           bytesRead == o.bytesRead && bytesWritten == o.bytesWritten;
  }
};

/// The shape of a (possibly batched) matrix product: `batch` products of
/// [m, k] by [k, n]. Zero where the operation is none.
struct MatmulShape {
  int64_t batch = 0, m = 0, n = 0, k = 0;
};

/// What an operation costs forward, what its backward pass costs, and what must
/// be kept from forward for backward.
struct OpCost {
  KernelClass kernel = KernelClass::None;
  MatmulShape shape;
  PassCost forward;
  PassCost backward;
  /// Bit i set: operand i (result i) must be kept until backward. A tensor
  /// that several operations keep is counted once by who adds up.
  uint32_t savedOperands = 0;
  uint32_t savedResults = 0;
  /// Further bytes kept for backward that are no operand or result
  /// (attention's row statistics, say).
  int64_t savedExtraBytes = 0;
};

} // namespace tessera

#endif // TESSERA_INTERFACES_COST_H
