//===- Format.h - one framework's way to say a layout ---------------------===//
#ifndef TESSERA_LIB_PLANNING_EXPORT_FORMAT_H
#define TESSERA_LIB_PLANNING_EXPORT_FORMAT_H

#include "Settings.h"
#include "tessera/Planning/Export.h"

namespace tessera::exports {

struct Format {
  llvm::StringLiteral name, title, fileName;
  Syntax syntax;
  /// Appends the settings. The layout has no moot field, and the framework can
  /// run it (Framework.h).
  void (*write)(const ExportInput &input, Settings &out);
  /// Fills layout, workload, layers and notes; absent settings mean what the
  /// framework takes them to mean.
  void (*read)(SettingsReader &reader, const FrameworkReadOptions &options,
               FrameworkRun &run);
  bool (*recognises)(llvm::ArrayRef<Setting> settings);
  /// Why the file cannot say a field (by the names of fieldTexts) that the
  /// framework can run; "" for "there is no setting for it".
  llvm::StringRef (*whyNot)(llvm::StringRef field, const Layout &layout);
  /// What a run needs beside the file.
  llvm::StringLiteral toAdd;
};

/// Notes on what a file sets and no plan is made with: what is known to change
/// time or memory by name, what is not known together. Settings known to change
/// neither are passed over.
void noteRest(const Format &format, const SettingsReader &reader,
              FrameworkRun &run);

/// The options of Megatron-LM for a model's sizes, by their names with
/// underscores; `unsaid` gets what there is no option for.
Settings megatronModel(const ModelConfig &model,
                       std::vector<std::string> &unsaid);

extern const Format kMegatron, kMegatronBridge, kNemo, kTorchTitan, kDeepSpeed,
    kNanotron, kAccelerate;

/// Each field of a layout, by the names of its text form (switches without the
/// "no-"), and its value.
std::vector<std::pair<llvm::StringLiteral, std::string>>
fieldTexts(const Layout &layout);

/// Sets dp from the number of GPUs: `options.gpus`, else `stated` by the file.
/// `how` says where the framework takes the number from.
void settleDataParallel(SettingsReader &reader,
                        const FrameworkReadOptions &options, int64_t stated,
                        llvm::StringRef how, FrameworkRun &run);

/// Megatron's methods of full recomputation: `block` recomputes so many
/// `layers` of each chunk, the other one all in units of so many.
void applyMethod(bool block, std::optional<int64_t> layers, FrameworkRun &run);

/// The product, or the largest number where it would be more.
int64_t product(std::initializer_list<int64_t> factors);

/// Fails where there are more virtual stages than anyone runs.
bool checkChunks(SettingsReader &reader, const Layout &layout);

/// `layers` over `chunks`, the first ones longer where it does not divide,
/// which is how TorchTitan does it by itself.
llvm::SmallVector<int, 8> frontLoadedChunks(int64_t layers, int64_t chunks);

/// Layers of each chunk where a file has to say them: those given, or those of
/// the even partition where they are not all the same. Empty otherwise, and
/// where the number of layers is not known.
llvm::SmallVector<int, 8> unevenChunks(const ExportInput &input);

inline void put(Settings &out, llvm::StringRef key, llvm::json::Value value) {
  out.push_back({key.str(), std::move(value), 0});
}

// Megatron-Core's string for uneven stages, "Et*7|t*8|t*7L".
std::string pipelineLayoutText(llvm::ArrayRef<int> chunks);
/// Layers of each chunk; fails with a message without a place.
llvm::Expected<llvm::SmallVector<int, 8>>
parsePipelineLayout(llvm::StringRef text);

} // namespace tessera::exports

#endif // TESSERA_LIB_PLANNING_EXPORT_FORMAT_H
