//===- Import.h - model folders to the tessera dialect --------------------===//
#ifndef TESSERA_IMPORT_IMPORT_H
#define TESSERA_IMPORT_IMPORT_H

#include "tessera/Import/ModelConfig.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace tessera {

struct ImportOptions {
  /// A Hugging Face folder, or its config.json. A folder's safetensors
  /// checkpoint, where there is one, is checked against the program and noted
  /// in `tessera.model`; with a config.json alone no weights are looked at and
  /// parameters will be drawn at random.
  std::string model;
  int64_t batch = 1;
  int64_t sequence = 0; ///< 0: the model's number of positions
  /// "f32" or "bf16"; empty: the config's `dtype` (`torch_dtype`), f32 where
  /// it has none.
  std::string dtype;
};

/// Reports one line: lower case, no full stop, naming file and field.
using ErrorHandler = llvm::function_ref<void(const llvm::Twine &)>;

/// The forward graph of a model: parameters, one block function for each kind
/// of layer, and
///   @forward(tokens [batch, sequence] i32, labels i32)
///     -> (nll [batch, sequence] f32, mean loss f32).
/// The module's `tessera.model` attribute holds the facts about the model:
/// architecture, dtype, batch, sequence, hidden, intermediate, layers, heads,
/// kv_heads, head_dim, vocab, positions, window (0: none), parameters (their
/// number) and, where the folder has a checkpoint, weights (its path).
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
importModel(mlir::MLIRContext &context, const ImportOptions &options,
            ErrorHandler error);

/// The graph of a model that was read already; `weights` may be empty.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
buildModel(mlir::MLIRContext &context, const ModelConfig &config,
           const ImportOptions &options, llvm::StringRef weights,
           ErrorHandler error);

/// Compares the checkpoint at `path` with what the model reads: every tensor
/// there, of the right shape and a floating-point type, and none that nobody
/// reads. Takes the prefix off the parameters' names where the checkpoint is
/// one of the bare model.
llvm::Error checkWeights(llvm::StringRef path, ModelConfig &config);

} // namespace tessera

#endif // TESSERA_IMPORT_IMPORT_H
