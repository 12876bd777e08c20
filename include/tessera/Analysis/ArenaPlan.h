//===- ArenaPlan.h - where every tensor of a program lies -------*- C++ -*-===//
//
// The one account of activation memory. The planner's memory figures, the
// counts over IR and the offsets in the emitted program all come from here, so
// they are equal by construction. Works on any phase from `partition` on: an
// operand or result of tensor type is a buffer, whatever the op.
//
// Rules:
//  - The entry function (`@forward`) owns the arena. Its arguments (the
//    inputs) and what it returns (the outputs) stay alive until it returns.
//  - A block function owns its scratch, which its caller places like a buffer
//    that is alive during the call. The block's arguments and results are
//    storage of the caller; the block may overwrite an argument after its last
//    use. If result i ends up in the storage of argument i (a residual stream
//    updated in place) all layers work in one buffer; otherwise consecutive
//    layers alternate between two.
//  - Parameters and rotary tables lie in the parameter arena and are not
//    counted here.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_ANALYSIS_ARENAPLAN_H
#define TESSERA_ANALYSIS_ARENAPLAN_H

#include "dialects/Tessera/TesseraDialect.h"

#include "llvm/ADT/DenseMap.h"

namespace tessera {

/// Place of one tensor.
struct Storage {
  enum class Base : uint8_t {
    Scratch,  ///< `offset` bytes into the function's arena
    Argument, ///< storage of argument `index` (block functions)
    Result,   ///< storage that the caller gives for result `index`
  };
  Base base = Base::Scratch;
  unsigned index = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
};

/// Storage around one `tessera.layers`.
struct LayersStorage {
  /// Scratch of the block function.
  Storage scratch;
  /// For each operand the second buffer of the pair, bytes 0 where the block
  /// works in place. The first layer reads the operand's own storage.
  llvm::SmallVector<Storage> other;
};

/// Storage of one function.
struct FunctionArena {
  /// Size of the arena (entry) or of the scratch (block).
  int64_t bytes = 0;
  /// Sum of the buffers alive at the worst step: a lower bound of `bytes`.
  int64_t peakLive = 0;
  llvm::DenseMap<mlir::Value, Storage> values;
  llvm::DenseMap<mlir::Operation *, LayersStorage> layers;
  /// Block functions: whether result i lies in the storage of argument i.
  llvm::SmallVector<bool> inPlace;
};

class ArenaPlan {
public:
  /// Plans all functions of a partitioned module. Emits a diagnostic and fails
  /// where a copy is missing that `tessera-expand-copies` inserts.
  static mlir::FailureOr<ArenaPlan> compute(mlir::ModuleOp module);

  const FunctionArena &get(mlir::func::FuncOp function) const {
    return functions.find(function)->second;
  }
  /// The entry function.
  mlir::func::FuncOp getEntry() const { return entry; }

private:
  llvm::DenseMap<mlir::Operation *, FunctionArena> functions;
  mlir::func::FuncOp entry;
};

/// What one rank may hold in one tensor, and in all parameters: the addresses
/// of a device have 48 bits. Below it no sum of offsets overflows.
inline constexpr int64_t kMostTensorBytes = int64_t(1) << 48;

/// Why a type of a tensor program has no place in memory ("" if it has one): a
/// tensor needs a static shape, elements of whole or floating-point numbers
/// and at most kMostTensorBytes. Other types than tensors are no concern.
std::string whyNotStorable(mlir::Type type);

/// Bytes of a tensor for which whyNotStorable() has no objection.
int64_t tensorBytes(mlir::Type type);

/// Whether a value has storage that an ArenaPlan gives out (it is a tensor and
/// no parameter or table).
bool isArenaValue(mlir::Value value);

/// Whether `op` may write result `result` over operand `operand`, both being
/// of equal size and the operand dead afterwards.
bool mayShareStorage(mlir::Operation *op, unsigned operand, unsigned result);

} // namespace tessera

#endif // TESSERA_ANALYSIS_ARENAPLAN_H
