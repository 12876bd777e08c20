//===- PlanCommands.cpp - plan, explain, estimate
//-------------------------------===//
#include "tessera/Pipelines/Commands.h"

#include "tessera/Hardware/Chip.h"
#include "tessera/Hardware/Cluster.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/Export.h"
#include "tessera/Planning/Plan.h"
#include "tessera/Support/Units.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

static void parse(cl::OptionCategory &category, int argc, char **argv,
                  StringRef overview) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
}

namespace {
/// What plan and explain both ask for.
struct InputFlags {
  explicit InputFlags(cl::OptionCategory &category)
      : model(cl::Positional, cl::Required, cl::cat(category),
              cl::desc("MODEL")),
        cluster("cluster", cl::cat(category), cl::value_desc("CHIP:NODESxGPUS"),
                cl::desc("h100-sxm:16x8, or a JSON file")),
        sequence("sequence", cl::init(0), cl::cat(category),
                 cl::desc("Tokens of a sequence (default: the model's "
                          "positions, at most 4096)")),
        globalBatch("global-batch", cl::init(0), cl::cat(category),
                    cl::desc("Sequences of a step (default: about 4M tokens)")),
        precision("precision", cl::init("bf16"), cl::cat(category),
                  cl::desc("bf16, fp16 or fp8, of the layers' products")),
        stack("stack", cl::init("nemo"), cl::cat(category),
              cl::desc("Training software (nemo, megatron-core, "
                       "megatron-bridge, torchtitan, ...)")),
        memory("memory", cl::cat(category), cl::value_desc("bytes"),
               cl::desc("Limit for each GPU (70GiB)")),
        skew("expert-skew", cl::init(1.0), cl::cat(category),
             cl::desc("Load of the fullest expert rank over the mean")) {}

  PlanInput read() const {
    PlanInput in;
    in.model = model;
    in.cluster = cluster;
    in.sequence = sequence;
    in.globalBatch = globalBatch;
    in.precision = precision;
    in.stack = stack;
    in.memory = memory;
    in.expertSkew = skew;
    return in;
  }

  cl::opt<std::string> model, cluster;
  cl::opt<int64_t> sequence, globalBatch;
  cl::opt<std::string> precision, stack, memory;
  cl::opt<double> skew;
};

struct PlanFlags {
  cl::OptionCategory category{"tessera plan"};
  InputFlags input{category};
  cl::opt<std::string> fixed{"fix", cl::cat(category),
                             cl::value_desc("choices"),
                             cl::desc("What is decided: tp=8,pp=4,zero=1")};
  cl::opt<std::string> objective{
      "objective", cl::init("step-time"), cl::cat(category),
      cl::desc("step-time, tokens-per-gpu, cost or energy")};
  cl::opt<bool> gpusFree{"gpus-free", cl::cat(category),
                         cl::desc("Also smaller numbers of nodes")};
  cl::opt<double> price{"price", cl::init(0), cl::cat(category),
                        cl::desc("Price of a GPU-hour")};
  cl::opt<bool> pareto{"pareto", cl::cat(category),
                       cl::desc("Front of step time against memory")};
  cl::opt<bool> sensitivity{"sensitivity", cl::init(true), cl::cat(category),
                            cl::desc("What if the network were slower")};
  cl::opt<int> top{"top", cl::init(6), cl::cat(category),
                   cl::desc("Meshes in the table")};
  cl::opt<double> timeLimit{"time-limit", cl::init(0), cl::cat(category),
                            cl::desc("Seconds to search; 0: until proven")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
};
} // namespace

int tessera::planCommand(int argc, char **argv) {
  static PlanFlags flags;
  parse(flags.category, argc, argv,
        "finds the best layout of a training run, and says why\n");
  PlanOptions options;
  options.input = flags.input.read();
  options.input.fixed = flags.fixed;
  options.objective = flags.objective;
  options.gpusFree = flags.gpusFree;
  options.gpuHourPrice = flags.price;
  options.pareto = flags.pareto;
  options.sensitivity = flags.sensitivity;
  options.top = flags.top;
  options.timeLimit = flags.timeLimit;
  options.json = flags.json;
  return runPlan(options, outs(), errs());
}

namespace {
struct ExplainFlags {
  cl::OptionCategory category{"tessera explain"};
  InputFlags input{category};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::desc("dp=8,tp=8,pp=4,mb=1,sp; dp may be "
                                       "left out")};
  cl::opt<std::string> from{
      "from", cl::cat(category), cl::value_desc("file"),
      cl::desc("Instead of --layout: the file of a training framework "
               "(docs/exports.md)")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
};

struct EstimateFlags {
  cl::OptionCategory category{"tessera estimate"};
  cl::opt<std::string> model{cl::Positional, cl::Required, cl::cat(category),
                             cl::desc("MODEL (or a parameter count, 6.7B)")};
  cl::opt<std::string> cluster{
      "cluster", cl::cat(category),
      cl::desc("A chip (a100-80g-sxm) or a cluster (h100-sxm:16x8)")};
  cl::opt<int64_t> sequence{"sequence", cl::init(0), cl::cat(category),
                            cl::desc("Tokens of a sequence")};
  cl::opt<int64_t> cacheBatch{"cache-batch", cl::init(1), cl::cat(category),
                              cl::desc("Sequences served at once")};
  cl::opt<std::string> tokens{"tokens", cl::cat(category),
                              cl::desc("Training tokens (1.4T)")};
  cl::opt<double> mfu{"mfu", cl::init(0), cl::cat(category),
                      cl::desc("Model FLOPs utilisation (0.4)")};
  cl::opt<std::string> gpuHours{"gpu-hours", cl::cat(category),
                                cl::desc("GPU-hours of the training")};
  cl::opt<double> tokensPerSecond{"tokens-per-second", cl::init(0),
                                  cl::cat(category),
                                  cl::desc("Of one GPU, in training")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
};
} // namespace

/// Layout and, where no option says otherwise, batch and sequence length from
/// the file of a training framework. Its notes go to the error stream.
static Error readFrom(StringRef path, ExplainOptions &options) {
  Expected<Cluster> cluster = parseCluster(options.input.cluster);
  if (!cluster)
    return cluster.takeError();
  Expected<ModelConfig> model = readModelConfig(options.input.model);
  if (!model)
    return model.takeError();
  FrameworkReadOptions reading;
  reading.gpus = cluster->numGPUs();
  reading.layers = model->layers;
  Expected<FrameworkRun> run = readFrameworkFile(path, reading);
  if (!run)
    return run.takeError();
  for (const std::string &note : run->notes)
    errs() << "note: " << note << "\n";
  if (run->layers && run->layers != model->layers)
    errs() << "note: the file is for " << run->layers << " layers, the model has "
           << model->layers << "\n";
  options.layout = withoutMootFields(run->layout).str();
  if (options.input.globalBatch == 0)
    options.input.globalBatch = run->workload.globalBatch;
  if (options.input.sequence == 0)
    options.input.sequence = run->workload.sequence;
  return Error::success();
}

int tessera::explainCommand(int argc, char **argv) {
  static ExplainFlags flags;
  parse(flags.category, argc, argv,
        "compares a layout with the best and says what it loses on\n");
  ExplainOptions options;
  options.input = flags.input.read();
  options.layout = flags.layout;
  options.json = flags.json;
  if (!flags.from.empty()) {
    Error error = flags.layout.empty()
                      ? readFrom(flags.from, options)
                      : createStringError("give either --layout or --from");
    if (error) {
      errs() << "error: " << toString(std::move(error)) << "\n";
      return 1;
    }
  }
  return runExplain(options, outs(), errs());
}

int tessera::estimateCommand(int argc, char **argv) {
  static EstimateFlags flags;
  parse(flags.category, argc, argv,
        "sizes of a model, and what training it takes\n");
  EstimateOptions options;
  options.model = flags.model;
  options.cluster = flags.cluster;
  options.sequence = flags.sequence;
  options.cacheBatch = flags.cacheBatch;
  options.mfu = flags.mfu;
  options.tokensPerSecondPerGpu = flags.tokensPerSecond;
  options.json = flags.json;
  for (auto [name, text, out] :
       {std::tuple<StringRef, StringRef, double *>{
            "tokens", flags.tokens.getValue(), &options.tokens},
        {"gpu-hours", flags.gpuHours.getValue(), &options.gpuHours}}) {
    if (text.empty())
      continue;
    Expected<double> value = parseCount(text);
    if (!value) {
      errs() << "error: --" << name << ": " << toString(value.takeError())
             << "\n";
      return 1;
    }
    *out = *value;
  }
  return runEstimate(options, outs(), errs());
}

int tessera::clustersCommand(int argc, char **argv) {
  static cl::OptionCategory category("tessera clusters");
  parse(category, argc, argv, "lists the chips that clusters are made of\n");
  printChips(outs());
  outs() << "\na cluster is CHIP:NODESxGPUS, like h100-sxm:16x8, or a JSON "
            "file\n";
  return 0;
}
