//===- ExportCommand.cpp - tessera export ---------------------------------===//
#include "tessera/Pipelines/Commands.h"
#include "CommandLine.h"

#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/Export.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ExportFlags {
  cl::OptionCategory category{"tessera export"};
  cl::opt<std::string> to{
      "to", cl::cat(category), cl::value_desc("framework"),
      cl::desc("megatron, megatron-bridge, nemo, torchtitan, deepspeed, "
               "nanotron or accelerate")};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::value_desc("entries"),
                              cl::desc("Layout: dp=8,tp=8,pp=4,mb=1,sp")};
  cl::opt<std::string> from{
      "from", cl::cat(category), cl::value_desc("file"),
      cl::desc("A framework's file instead of --layout; without --to, show "
               "the layout that it means")};
  cl::opt<std::string> format{"from-format", cl::cat(category),
                              cl::value_desc("framework"),
                              cl::desc("What --from is, where in doubt")};
  cl::opt<int64_t> gpus{"gpus", cl::cat(category),
                        cl::desc("GPUs of the run, where --from does not say")};
  cl::opt<std::string> model{
      "model", cl::cat(category),
      cl::desc("Folder, config.json or shipped name: number of layers")};
  cl::opt<int64_t> globalBatch{"global-batch", cl::cat(category),
                               cl::desc("Sequences of one step")};
  cl::opt<int64_t> sequence{"seq", cl::cat(category),
                            cl::desc("Tokens of a sequence")};
  cl::opt<int> gpusPerNode{"gpus-per-node", cl::init(8), cl::cat(category),
                           cl::desc("For the launcher (default: 8)")};
  cl::opt<bool> json{"json", cl::cat(category),
                     cl::desc("With --to: the file and what it does not "
                              "express, as JSON")};
  cl::opt<std::string> output{"o", cl::init("-"), cl::cat(category),
                              cl::value_desc("file"),
                              cl::desc("Write here instead of the terminal")};
};
} // namespace

/// Layout, workload and layers from the file of --from; its notes go to `errs`.
static Error readFrom(const ExportFlags &flags, ExportInput &input) {
  FrameworkReadOptions options;
  options.format = flags.format;
  options.gpus = flags.gpus;
  options.layers = input.layers;
  Expected<FrameworkRun> run = readFrameworkFile(flags.from, options);
  if (!run)
    return run.takeError();
  showNotes(run->notes);
  input.layout = run->layout;
  if (input.workload.globalBatch == 0)
    input.workload.globalBatch = run->workload.globalBatch;
  if (input.workload.sequence == 0)
    input.workload.sequence = run->workload.sequence;
  if (input.layers == 0)
    input.layers = run->layers;
  if (flags.to.empty())
    outs() << "format: " << run->format << "\n";
  return Error::success();
}

static void show(const ExportInput &input) {
  outs() << "layout: " << input.layout.str() << "\n"
         << "gpus: " << input.layout.numGPUs() << "\n";
  if (input.workload.globalBatch)
    outs() << "global batch: " << input.workload.globalBatch << "\n";
  if (input.workload.sequence)
    outs() << "sequence: " << input.workload.sequence << "\n";
}

static json::Value fileJson(StringRef framework, const ExportedFile &file) {
  json::Object o{{"framework", framework},
                 {"text", file.text},
                 {"not_expressed", json::Array(file.notExpressed)}};
  for (const FrameworkName &name : frameworkNames())
    if (name.name == framework) {
      o["title"] = name.title;
      o["file_name"] = name.fileName;
    }
  return o;
}

int tessera::exportCommand(int argc, char **argv) {
  static ExportFlags flags;
  if (!parseFlags(flags.category, argc, argv,
                  "writes a layout as a training framework's file, or reads "
                  "one\n"))
    return kUsageError;
  if (flags.layout.empty() == flags.from.empty())
    return fail("give either --layout or --from");
  if (flags.json && flags.to.empty())
    return fail("--json describes the file that is written; give --to");
  if (flags.to.empty() && flags.from.empty())
    return fail("give the framework (--to)");
  if (flags.gpus < 0 || flags.globalBatch < 0 || flags.sequence < 0 ||
      flags.gpusPerNode < 1)
    return fail("--gpus, --global-batch, --seq and --gpus-per-node must be "
                "above 0");
  ExportInput input;
  input.workload.globalBatch = flags.globalBatch;
  input.workload.sequence = flags.sequence;
  input.gpusPerNode = flags.gpusPerNode;
  if (!flags.model.empty()) {
    Expected<ModelConfig> config = readModelConfig(flags.model);
    if (!config)
      return fail(config.takeError());
    input.layers = config->layers;
    input.experts = config->experts.has_value();
  }
  if (!flags.from.empty()) {
    if (Error error = readFrom(flags, input))
      return fail(std::move(error));
  } else {
    Expected<Layout> layout = parseLayout(flags.layout);
    if (!layout)
      return fail(layout.takeError());
    input.layout = *layout;
  }
  if (flags.to.empty()) {
    show(input);
    return 0;
  }
  Expected<ExportedFile> file = exportLayout(flags.to, input);
  if (!file)
    return fail(file.takeError());
  if (!flags.json)
    for (const std::string &loss : file->notExpressed)
      errs() << "note: not expressed: " << loss << "\n";
  auto write = [&](raw_ostream &os) {
    if (flags.json)
      printJson(fileJson(flags.to, *file), os);
    else
      os << file->text;
  };
  if (Error error = writeFileAtomically(flags.output, write))
    return fail(std::move(error));
  return 0;
}
