//===- ExportCommand.cpp - tessera export ---------------------------------===//
#include "ClusterFile.h"
#include "CommandLine.h"
#include "Flags.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/CostModel/Constants.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Hardware/Cluster.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/Export.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Planning/Plan.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ExportFlags {
  cl::OptionCategory category{"tessera export"};
  cl::opt<std::string> to{
      "to", cl::cat(category), cl::value_desc("NAME"),
      cl::desc("megatron, megatron-bridge, nemo, torchtitan, deepspeed, "
               "nanotron or accelerate")};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::value_desc("dp=8,tp=8,pp=4,mb=1,sp"),
                              cl::desc("The layout")};
  cl::opt<std::string> from{
      "from", cl::cat(category), cl::value_desc("FILE"),
      cl::desc("A framework's file instead of --layout; without --to, show "
               "the layout that it means")};
  cl::opt<std::string> format{"from-format", cl::cat(category),
                              cl::value_desc("NAME"),
                              cl::desc("What --from is, where in doubt")};
  WholeFlag<> gpus{"gpus", cl::init(0), cl::cat(category), cl::value_desc("N"),
                   cl::desc("GPUs of the run, where --from does not say")};
  cl::opt<std::string> model{
      "model", cl::cat(category), cl::value_desc("MODEL"),
      cl::desc("What the layout is for: it is checked, and its layers are "
               "counted")};
  cl::opt<std::string> cluster{
      "cluster", cl::cat(category), cl::value_desc("CHIP:NODESxGPUS"),
      cl::desc("With --model: is there memory for the layout?")};
  WholeFlag<> globalBatch{"global-batch", cl::init(0), cl::cat(category),
                          cl::value_desc("N"),
                          cl::desc("Sequences of one step")};
  SequenceFlag sequence{category, "Tokens of a sequence"};
  WholeFlag<1, 1 << 16> gpusPerNode{"gpus-per-node", cl::init(8),
                                    cl::cat(category), cl::value_desc("N"),
                                    cl::desc("For the launcher (default: "
                                             "those of --cluster, or 8)")};
  cl::opt<std::string> precision{
      "precision", cl::cat(category), cl::value_desc("bf16|fp16|fp8"),
      cl::desc("Of the layers' products (default: what --from says, or "
               "bf16)")};
  cl::opt<std::string> stack{
      "stack", cl::cat(category), cl::value_desc("NAME"),
      cl::desc("What the layout was planned for, for the head of the file "
               "(default: the framework's own stack)")};
  cl::opt<bool> json{"json", cl::cat(category),
                     cl::desc("With --to: the file and what it does not "
                              "express, as JSON")};
  cl::opt<std::string> output{"o", cl::init("-"), cl::cat(category),
                              cl::value_desc("FILE"),
                              cl::desc("Write here instead of the terminal")};
};
} // namespace

/// Layout, workload and layers from the file of --from; its notes go to `errs`.
static Error readFrom(const ExportFlags &flags, ExportInput &input,
                      std::string &format) {
  FrameworkReadOptions options;
  options.format = flags.format;
  options.gpus = flags.gpus;
  options.layers = input.layers;
  options.experts = input.experts;
  options.latent = input.latent;
  Expected<FrameworkRun> run = readFrameworkFile(flags.from, options);
  if (!run)
    return run.takeError();
  showNotes(run->notes);
  input.layout = run->layout;
  format = run->format;
  if (input.workload.globalBatch == 0)
    input.workload.globalBatch = run->workload.globalBatch;
  if (input.workload.sequence == 0)
    input.workload.sequence = run->workload.sequence;
  if (input.layers == 0)
    input.layers = run->layers;
  if (input.precision.empty())
    input.precision = run->precision;
  if (flags.to.empty())
    outs() << "format: " << run->format << "\n";
  return Error::success();
}

/// --precision and --stack.
static Error checkNames(const ExportFlags &flags) {
  static const StringRef kPrecisions[] = {"bf16", "fp16", "fp8"};
  StringRef precision = flags.precision;
  if (!precision.empty() && !is_contained(kPrecisions, precision))
    return makeError("--precision: expected bf16, fp16 or fp8, got '" +
                     precision + "'" + didYouMean(precision, kPrecisions));
  if (flags.stack.empty())
    return Error::success();
  return stackTraits(flags.stack).takeError();
}

/// Warns of a layout that cannot run, which is written all the same: the file
/// may be the start of another. `format` of the file that is written, or read.
static Error warn(const ExportFlags &flags, const ExportInput &input,
                  StringRef format) {
  if (flags.model.empty())
    return Error::success();
  PlanInput question;
  question.model = flags.model;
  question.cluster = flags.cluster;
  question.sequence = input.workload.sequence;
  question.globalBatch = input.workload.globalBatch;
  if (!flags.precision.empty())
    question.precision = flags.precision;
  question.stack = flags.stack;
  if (question.stack.empty())
    question.stack = stackOfFormat(format).str();
  question.features = makeGraphSource;
  if (Error error = readClusterFile(question.cluster))
    return error;
  Expected<std::vector<std::string>> obstacles =
      layoutObstacles(question, input.layout);
  if (!obstacles)
    return obstacles.takeError();
  for (const std::string &obstacle : *obstacles)
    errs() << "warning: " << printable(obstacle) << "\n";
  return Error::success();
}

static void show(const ExportInput &input) {
  outs() << "layout: " << input.layout.str() << "\n"
         << "gpus: " << input.layout.numGPUs() << "\n";
  if (input.workload.globalBatch)
    outs() << "global batch: " << input.workload.globalBatch << "\n";
  if (input.workload.sequence)
    outs() << "sequence: " << input.workload.sequence << "\n";
  if (!input.precision.empty())
    outs() << "precision: " << input.precision << "\n";
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
  if (auto code = parseFlags(flags.category, argc, argv,
                             "Writes a layout as a training framework's file, "
                             "or reads one.",
                             ""))
    return *code;
  if (flags.layout.empty() == flags.from.empty())
    return fail("give either --layout or --from");
  if (flags.json && flags.to.empty())
    return fail("--json describes the file that is written; give --to");
  if (flags.to.empty() && flags.from.empty())
    return fail("give the framework (--to)");
  if (!flags.cluster.empty() && flags.model.empty())
    return fail("--cluster needs --model: the memory is that of a model");
  ExportInput input;
  input.workload.globalBatch = flags.globalBatch;
  input.workload.sequence = flags.sequence;
  input.gpusPerNode = int(flags.gpusPerNode);
  if (!flags.cluster.empty() && !flags.gpusPerNode.getNumOccurrences()) {
    std::string text = flags.cluster;
    if (Error error = readClusterFile(text))
      return fail(std::move(error));
    Expected<Cluster> cluster = parseCluster(text);
    if (!cluster)
      return fail(cluster.takeError());
    input.gpusPerNode = cluster->gpusPerNode;
  }
  input.precision = flags.precision;
  if (Error error = checkNames(flags))
    return fail(std::move(error));
  input.stack = flags.stack;
  ModelConfig config;
  if (!flags.model.empty()) {
    Expected<ModelConfig> read = readModelConfig(flags.model);
    if (!read)
      return fail(read.takeError());
    config = std::move(*read);
    input.model = &config;
    input.layers = config.layers;
    input.experts = config.experts.has_value();
    input.latent = config.latent.has_value();
  }
  std::string format = flags.to;
  if (!flags.from.empty()) {
    std::string read;
    if (Error error = readFrom(flags, input, read))
      return fail(std::move(error));
    if (format.empty())
      format = read;
  } else {
    Expected<Layout> layout = parseLayout(flags.layout);
    if (!layout)
      return fail(atFlag("--layout", layout.takeError()));
    input.layout = *layout;
  }
  if (flags.to.empty()) {
    show(input);
    if (Error error = warn(flags, input, format))
      return fail(std::move(error));
    return 0;
  }
  if (Error error = warn(flags, input, format))
    return fail(std::move(error));
  if (input.precision.empty())
    input.precision = "bf16";
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
