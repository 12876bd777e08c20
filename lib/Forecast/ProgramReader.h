//===- ProgramReader.h - from a partitioned graph to block specs ----------===//
#ifndef TESSERA_LIB_FORECAST_PROGRAMREADER_H
#define TESSERA_LIB_FORECAST_PROGRAMREADER_H

#include "dialects/Tessera/TesseraDialect.h"
#include "lib/Forecast/RankProgram.h"
#include "tessera/Analysis/Sharding/ShardingPlan.h"

#include "llvm/ADT/StringMap.h"

namespace tessera::forecast {

class ProgramReader {
public:
  /// `program.module` is partitioned, `plan` is what it was partitioned by.
  ProgramReader(RankProgram &program, const ShardingPlan &plan);
  llvm::Error run();

private:
  void begin(llvm::StringRef name, mlir::Value input);
  llvm::Error readBlock(mlir::func::FuncOp function);
  llvm::Error visit(mlir::Operation *op);
  /// Counts what `read` reads among the block's parameters.
  void addParameter(GetParameterOp read);
  void describe(mlir::Operation *op, RankOp &base);
  void markRows(mlir::Operation *op);
  bool hasRows(mlir::Value value) const;
  int tensorOf(mlir::Value value);
  int symbolOf(llvm::StringRef name);
  /// The rows of `tensor` on the ranks of their experts, or back where their
  /// tokens are: ops that the partitioner does not build (UnbuiltAxes.cpp).
  int exchange(int tensor, bool dispatch);

  RankProgram &program;
  const ShardingPlan &plan;
  mlir::ModuleOp module;
  BlockSpec *block = nullptr;
  llvm::StringMap<int> symbols;
  // Of the block being read:
  llvm::DenseMap<mlir::Value, int> tensors;
  /// Rows of experts; whether they lie with their experts.
  llvm::DenseMap<mlir::Value, bool> rows;
  /// Rows of the experts' inner width.
  llvm::DenseSet<mlir::Value> innerRows;
  /// Encodings of distances and their projections.
  llvm::DenseSet<mlir::Value> ofDistances;
  llvm::DenseMap<int, int> exchanged;
};

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_PROGRAMREADER_H
