//===- MergeReductions.h - one reduction for a sum of several ---*- C++ -*-===//
#ifndef TESSERA_LIB_TRANSFORMS_PARTITION_MERGEREDUCTIONS_H
#define TESSERA_LIB_TRANSFORMS_PARTITION_MERGEREDUCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tessera {

/// In a partitioned function: where several reductions of the same kind, over
/// the same axes, are only used in one sum (through biases and further adds),
/// adds the partial sums and reduces once. Returns how many reductions are
/// saved.
unsigned mergeReductions(mlir::func::FuncOp function);

} // namespace tessera

#endif // TESSERA_LIB_TRANSFORMS_PARTITION_MERGEREDUCTIONS_H
