//===- EstimateCommand.cpp - `tessera estimate` ---------------------------===//
#include "ClusterFile.h"
#include "CommandLine.h"
#include "Flags.h"
#include "ForwardEstimate.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Forecast/GraphSource.h"
#include "tessera/Hardware/Chip.h"
#include "tessera/Planning/Plan.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct EstimateFlags {
  cl::OptionCategory category{"tessera estimate"};
  cl::opt<std::string> model{cl::Positional, cl::cat(category),
                             cl::desc("MODEL (or a parameter count, 6.7B)")};
  cl::opt<std::string> cluster{
      "cluster", cl::cat(category), cl::value_desc("CHIP:NODESxGPUS"),
      cl::desc("h100-sxm:16x8, or a JSON or MLIR file")};
  cl::opt<std::string> chip{
      "chip", cl::cat(category), cl::value_desc("NAME"),
      cl::desc("Instead of --cluster: one GPU (h100-sxm; 'tessera clusters' "
               "lists them)")};
  SequenceFlag sequence{category, "Tokens of a sequence (default: the model's "
                                  "positions, at most 4096)"};
  WholeFlag<> cacheBatch{"cache-batch", cl::init(1), cl::cat(category),
                         cl::value_desc("N"),
                         cl::desc("Sequences served at once (default: 1)")};
  cl::opt<std::string> weights{
      "weights", cl::cat(category),
      cl::value_desc("bf16|fp8|int8|mxfp4|nvfp4|int4"),
      cl::desc("Format of the served layers' matrices (default: the "
               "checkpoint's, or bf16)")};
  cl::opt<std::string> cache{"kv-cache", cl::cat(category),
                             cl::value_desc("bf16|fp8|int8"),
                             cl::desc("Format of the key-value cache "
                                      "(default: bf16)")};
  CountFlag<1000, 'T'> tokens{"tokens", cl::init(0), cl::cat(category),
                              cl::value_desc("1.4T"),
                              cl::desc("Training tokens")};
  NumberFlag<NumberRange::Share> mfu{"mfu", cl::init(0), cl::cat(category),
                                     cl::value_desc("0.4"),
                                     cl::desc("Model FLOPs utilisation")};
  CountFlag<0, 'K'> gpuHours{"gpu-hours", cl::init(0), cl::cat(category),
                             cl::value_desc("100K"),
                             cl::desc("GPU-hours of the training")};
  NumberFlag<> tokensPerSecond{"tokens-per-second", cl::init(0),
                               cl::cat(category), cl::value_desc("X"),
                               cl::desc("Of one GPU, in training")};
  cl::opt<bool> forward{
      "forward", cl::cat(category),
      cl::desc("What one rank's forward program does, exactly")};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::value_desc("dp=2,tp=2,sp"),
                              cl::desc("Memory by kind and by rank, on a whole "
                                       "--cluster; or for --forward")};
  WholeFlag<> globalBatch{
      "global-batch", cl::init(0), cl::cat(category), cl::value_desc("N"),
      cl::desc("Sequences of a step, for --layout (default: about 4M tokens)")};
  cl::opt<std::string> stack{"stack", cl::init("nemo"), cl::cat(category),
                             cl::value_desc("NAME"),
                             cl::desc("Training software, for --layout "
                                      "(default: nemo)")};
  WholeFlag<> batch{"batch", cl::init(0), cl::cat(category),
                    cl::value_desc("N"),
                    cl::desc("For --forward: sequences of all ranks "
                             "(default: dp times mb)")};
  cl::opt<std::string> dtype{"dtype", cl::cat(category),
                             cl::value_desc("f32|bf16"),
                             cl::desc("For --forward: element type")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
};
} // namespace

int tessera::estimateCommand(int argc, char **argv) {
  static EstimateFlags flags;
  if (auto code = parseFlags(
          flags.category, argc, argv,
          "Sizes of a model, and what training and serving it take. MODEL is "
          "as 'tessera plan' takes it, or a number of parameters (6.7B).",
          "MODEL"))
    return *code;
  if (flags.forward) {
    for (const cl::Option *option :
         {static_cast<cl::Option *>(&flags.cluster),
          static_cast<cl::Option *>(&flags.chip),
          static_cast<cl::Option *>(&flags.cacheBatch),
          static_cast<cl::Option *>(&flags.weights),
          static_cast<cl::Option *>(&flags.cache),
          static_cast<cl::Option *>(&flags.tokens),
          static_cast<cl::Option *>(&flags.mfu),
          static_cast<cl::Option *>(&flags.gpuHours),
          static_cast<cl::Option *>(&flags.tokensPerSecond),
          static_cast<cl::Option *>(&flags.globalBatch),
          static_cast<cl::Option *>(&flags.stack)})
      if (option->getNumOccurrences() > 0)
        return usage("--" + option->ArgStr + " does not go with --forward");
    if (Error error = requireModel(flags.model))
      return fail(std::move(error));
    return forwardEstimate({flags.model, flags.layout, flags.sequence,
                            flags.batch, flags.dtype, flags.json});
  }
  for (const cl::Option *option : {static_cast<cl::Option *>(&flags.batch),
                                   static_cast<cl::Option *>(&flags.dtype)})
    if (option->getNumOccurrences() > 0)
      return usage("--" + option->ArgStr + " needs --forward");
  EstimateOptions options;
  options.model = flags.model;
  if (!flags.cluster.empty() && !flags.chip.empty())
    return usage("--cluster and --chip both name the chip; give one");
  options.cluster = flags.chip.empty() ? flags.cluster : flags.chip;
  if (!flags.chip.empty())
    if (Expected<Chip> chip = findChip(flags.chip); !chip)
      return usage("--chip: " + toString(chip.takeError()));
  if (Error error = requireModel(options.model))
    return fail(std::move(error));
  if (Error error = readClusterFile(options.cluster))
    return fail(std::move(error));
  options.sequence = flags.sequence;
  options.cacheBatch = flags.cacheBatch;
  options.weights = flags.weights;
  options.cache = flags.cache;
  options.layout = flags.layout;
  options.globalBatch = flags.globalBatch;
  options.stack = flags.stack;
  options.features = makeGraphSource;
  options.mfu = flags.mfu;
  options.tokensPerSecondPerGpu = flags.tokensPerSecond;
  options.json = flags.json;
  options.tokens = flags.tokens;
  options.gpuHours = flags.gpuHours;
  return runEstimate(options, outs(), errs());
}
