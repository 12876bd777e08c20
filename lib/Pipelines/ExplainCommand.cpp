//===- ExplainCommand.cpp - `tessera explain` -----------------------------===//
#include "ClusterFile.h"
#include "CommandLine.h"
#include "PlanFlags.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Hardware/Cluster.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/Export.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Support/Printable.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ExplainFlags {
  cl::OptionCategory category{"tessera explain"};
  PlanInputFlags input{category};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::value_desc("dp=8,tp=8,pp=4,mb=1,sp"),
                              cl::desc("The layout; dp may be left out")};
  cl::opt<std::string> from{
      "from", cl::cat(category), cl::value_desc("FILE"),
      cl::desc("Instead of --layout: the file of a training framework "
               "(docs/exports.md)")};
  PlanOutputFlags output{category};
};
} // namespace

/// "Megatron-LM" of "megatron".
static std::string titleOf(StringRef format) {
  for (const FrameworkName &name : frameworkNames())
    if (name.name == format)
      return name.title.str();
  return format.str();
}

/// Layout and, where no option says otherwise, batch and sequence length from
/// the file of a training framework. Its notes go to the error stream.
static Error readFrom(StringRef path, const PlanInputFlags &flags,
                      ExplainOptions &options) {
  Expected<Cluster> cluster = parseCluster(options.input.cluster);
  if (!cluster)
    return cluster.takeError();
  Expected<ModelConfig> model = readModelConfig(options.input.model);
  if (!model)
    return model.takeError();
  FrameworkReadOptions reading;
  reading.gpus = cluster->numGPUs();
  reading.layers = model->layers;
  reading.experts = model->experts.has_value();
  reading.latent = model->latent.has_value();
  Expected<FrameworkRun> run = readFrameworkFile(path, reading);
  if (!run)
    return run.takeError();
  showNotes(run->notes);
  if (run->layers && run->layers != model->layers)
    errs() << "note: the file is for " << run->layers
           << " layers, the model has " << model->layers << "\n";
  if (run->hidden && run->hidden != model->hidden)
    errs() << "note: the file is for a width of " << run->hidden
           << ", the model has " << model->hidden << "\n";
  if (!flags.stack.getNumOccurrences() && !run->stack.empty()) {
    options.input.stack = run->stack;
    bool own = run->stack == stackOfFormat(run->format);
    options.input.stackWhy = own ? "the file is for " + titleOf(run->format)
                                 : "the head of the file says";
  }
  if (!flags.precision.getNumOccurrences() && !run->precision.empty())
    options.input.precision = run->precision;
  options.layout = withoutMootFields(run->layout, model->layers).str();
  options.layoutFile = path.str();
  if (options.input.globalBatch == 0) {
    options.input.globalBatch = run->workload.globalBatch;
    options.input.batchFrom = printableName(path);
  }
  if (options.input.sequence == 0) {
    options.input.sequence = run->workload.sequence;
    options.input.sequenceFrom = printableName(path);
  }
  return Error::success();
}

int tessera::explainCommand(int argc, char **argv) {
  static ExplainFlags flags;
  if (auto code = parseFlags(
          flags.category, argc, argv,
          "Compares a layout of your own with the best, and says what it loses "
          "on. MODEL is as 'tessera plan' takes it.",
          "MODEL"))
    return *code;
  ExplainOptions options;
  options.input = flags.input.read();
  if (Error error = requireModel(options.input.model))
    return fail(std::move(error));
  if (Error error = readClusterFile(options.input.cluster))
    return fail(std::move(error));
  options.layout = flags.layout;
  flags.output.read(options);
  if (!flags.from.empty()) {
    Error error = flags.layout.empty()
                      ? readFrom(flags.from, flags.input, options)
                      : createStringError("give either --layout or --from");
    if (error)
      return fail(std::move(error));
  }
  return runExplain(options, outs(), errs());
}
