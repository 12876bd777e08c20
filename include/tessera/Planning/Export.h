//===- Export.h - layouts as the files of training frameworks -------------===//
//
// A registry of formats. Each writes a layout as the file that its framework
// reads, and reads such files back. Nothing is dropped in silence: what was
// written is read again, and every field that comes back different is reported
// with the reason. docs/exports.md has the table of what each can express.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_EXPORT_H
#define TESSERA_PLANNING_EXPORT_H

#include "tessera/CostModel/Features.h"
#include "tessera/CostModel/Layout.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include <string>
#include <vector>

namespace tessera {

struct ModelConfig;

struct ExportInput {
  Layout layout;
  /// `globalBatch` and `sequence` are written; 0 leaves them out.
  Workload workload;
  /// Transformer layers of the model; 0: not known. Some formats need them for
  /// uneven stages or virtual stages.
  int64_t layers = 0;
  bool experts = false;
  /// Multi-head latent attention.
  bool latent = false;
  /// The model, for formats that state it; null: the file has the layout alone.
  const ModelConfig *model = nullptr;
  /// Of the layers' products: bf16, fp16 or fp8; "": not stated.
  std::string precision;
  /// The software stack that the layout was planned for, stated in the head of
  /// the file where the format is not the stack's own; "": not known.
  std::string stack;
  /// GPUs of a node, for the launcher's options.
  int gpusPerNode = 8;
};

struct ExportedFile {
  std::string text;
  /// One sentence for each field that the file does not carry.
  std::vector<std::string> notExpressed;
};

struct FrameworkReadOptions {
  /// Name of the format; "": found out from the file.
  std::string format;
  /// GPUs of the run, instead of what the file says; 0: the file must say.
  int64_t gpus = 0;
  /// Layers of the model where the file does not say; 0: not known.
  int64_t layers = 0;
  /// Whether the model has experts, latent attention; they decide what light
  /// recomputation means.
  bool experts = false, latent = false;
};

struct FrameworkRun {
  std::string format;
  Layout layout;
  /// Only `globalBatch` and `sequence`, 0 where the file does not say.
  Workload workload;
  int64_t layers = 0; ///< as the file says, 0 where it does not
  int64_t hidden = 0; ///< likewise: width of the residual stream
  /// bf16, fp16 or fp8; "" where the file does not say.
  std::string precision;
  /// Of the stacks that the cost model knows the one that runs the file: the
  /// format's own, or the one that the head of an exported file names.
  std::string stack;
  /// What was assumed or could not be taken in.
  std::vector<std::string> notes;
};

/// Names of the formats ("megatron", ...) and the frameworks they belong to.
struct FrameworkName {
  llvm::StringRef name, title, fileName;
};
std::vector<FrameworkName> frameworkNames();

/// The file of format `format`. Fails on an unknown format, an inconsistent
/// layout, or a global batch that the layout cannot split.
llvm::Expected<ExportedFile> exportLayout(llvm::StringRef format,
                                          const ExportInput &input);

/// Reads `text`; `where` names it in messages.
llvm::Expected<FrameworkRun>
readFrameworkText(llvm::StringRef text, llvm::StringRef where,
                  const FrameworkReadOptions &options);

/// The same for a file ("-" is standard input).
llvm::Expected<FrameworkRun>
readFrameworkFile(llvm::StringRef path, const FrameworkReadOptions &options);

/// The layout with every field that means nothing in it at its default: the
/// kind of context parallelism where cp is 1, the dispatcher where ep is 1, a
/// stage partition that is the even one, and so on. `layers` of the model, 0
/// where not known.
Layout withoutMootFields(const Layout &layout, int64_t layers = 0);

} // namespace tessera

#endif // TESSERA_PLANNING_EXPORT_H
