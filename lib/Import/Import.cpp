//===- Import.cpp - a model folder to a module ----------------------------===//
#include "tessera/Import/Import.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace tessera;

/// Whether a folder holds anything that looks like weights, readable or not:
/// what cannot be read must be reported and not replaced by random numbers.
static bool holdsWeights(StringRef folder) {
  std::error_code ec;
  for (llvm::sys::fs::directory_iterator it(folder, ec), end; it != end && !ec;
       it.increment(ec)) {
    StringRef name = llvm::sys::path::filename(it->path());
    for (StringRef ending :
         {".safetensors", ".safetensors.index.json", ".bin", ".pt", ".pth"})
      if (name.ends_with(ending))
        return true;
  }
  return false;
}

FailureOr<OwningOpRef<ModuleOp>>
tessera::importModel(MLIRContext &context, const ImportOptions &options,
                     ErrorHandler error) {
  llvm::Expected<ModelConfig> config = readModelConfig(options.model);
  if (!config) {
    error(llvm::toString(config.takeError()));
    return failure();
  }
  if (!config->planOnly.empty()) {
    error("'" + Twine(options.model) +
          "' is planned, not compiled: " + config->planOnly);
    return failure();
  }
  std::string weights;
  if (llvm::sys::fs::is_directory(options.model) &&
      holdsWeights(options.model)) {
    weights = options.model;
    if (config->quantized) {
      error("'" + weights +
            "': quantized weights ('quantization_config' of its config.json) "
            "are not supported");
      return failure();
    }
    if (llvm::Error failed = checkWeights(weights, *config)) {
      error(llvm::toString(std::move(failed)));
      return failure();
    }
  }
  for (const std::string &note : config->notes)
    emitWarning(UnknownLoc::get(&context)) << note;
  return buildModel(context, *config, options, weights, error);
}
