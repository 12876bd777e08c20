//===- Interpreter.h - the tessera dialect in plain loops -----------------===//
//
// A reference for tests: runs a module of `tessera` ops, whole or partitioned,
// in double precision on the host. All ranks of the mesh advance together, one
// op at a time, so a collective sees every rank's operand. Nothing of the
// compiler's own arithmetic is used, and nothing here is fast.
//
//===----------------------------------------------------------------------===//
#ifndef TEST_SUPPORT_INTERPRETER_INTERPRETER_H
#define TEST_SUPPORT_INTERPRETER_INTERPRETER_H

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Runtime/Checkpoint.h"

#include "llvm/ADT/DenseMap.h"
#include <vector>

namespace tessera::test {

struct HostTensor {
  llvm::SmallVector<int64_t, 4> shape;
  std::vector<double> data;

  HostTensor() = default;
  explicit HostTensor(llvm::ArrayRef<int64_t> shape)
      : shape(shape.begin(), shape.end()),
        data(llvm::product_of(shape, int64_t(1)), 0.0) {}
  /// The part of dimension `dim` from `first` on, `size` long.
  HostTensor part(int64_t dim, int64_t first, int64_t size) const;
  /// Writes `piece` into this tensor at index `first` of dimension `dim`.
  void place(const HostTensor &piece, int64_t dim, int64_t first);
};

/// One value on every rank; an offset is a tensor without dimensions.
using Ranks = std::vector<HostTensor>;

/// What an op without communication computes on one rank. Fails on an op that
/// it does not know, and on a token outside the table.
mlir::FailureOr<HostTensor>
interpretOp(mlir::Operation *op, llvm::ArrayRef<const HostTensor *> operands);

class Interpreter {
public:
  Interpreter(mlir::ModuleOp module, const rt::Checkpoint &checkpoint);

  /// Runs a function: arguments and results on every rank.
  mlir::LogicalResult run(mlir::func::FuncOp function,
                          llvm::ArrayRef<Ranks> arguments,
                          std::vector<Ranks> &results);

  int64_t numRanks() const { return mesh.numRanks(); }
  /// The ranks' parts of a global tensor.
  Ranks split(const HostTensor &global, const TensorSharding &sharding) const;
  /// The global tensor of the ranks' parts; fails where ranks that should hold
  /// the same differ by more than `tolerance`.
  mlir::FailureOr<HostTensor> join(const Ranks &parts,
                                   llvm::ArrayRef<int64_t> shape,
                                   const TensorSharding &sharding,
                                   double tolerance) const;
  TensorSharding resolve(mlir::Attribute sharding, int64_t rank) const;

private:
  mlir::LogicalResult step(mlir::Operation &op);
  mlir::FailureOr<Ranks> readParameter(GetParameterOp op);
  mlir::FailureOr<Ranks> communicate(mlir::Operation *op, const Ranks &x);
  /// The ranks that differ from `rank` along `axes` alone, in group order, and
  /// the place of `rank` among them.
  std::vector<int64_t> groupOf(int64_t rank, const AxisList &axes,
                               int64_t &index) const;
  AxisList axesOf(mlir::ArrayAttr names) const;
  /// Index of `rank` in the group along `axes`.
  int64_t indexAlong(int64_t rank, const AxisList &axes) const;

  mlir::ModuleOp module;
  const rt::Checkpoint &checkpoint;
  Mesh mesh;
  int64_t layer = 0;
  llvm::DenseMap<mlir::Value, Ranks> values;
};

} // namespace tessera::test

#endif // TEST_SUPPORT_INTERPRETER_INTERPRETER_H
