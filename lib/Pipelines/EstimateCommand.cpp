//===- EstimateCommand.cpp - `tessera estimate` ---------------------------===//
#include "ClusterFile.h"
#include "CommandLine.h"
#include "ForwardEstimate.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Forecast/GraphSource.h"
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
      "cluster", cl::cat(category),
      cl::desc("A chip (a100-80g-sxm), a cluster (h100-sxm:16x8) or the JSON "
               "or MLIR file of one")};
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
  cl::opt<bool> forward{
      "forward", cl::cat(category),
      cl::desc("What one rank's forward program does, exactly")};
  cl::opt<std::string> layout{"layout", cl::cat(category),
                              cl::value_desc("dp=2,tp=2,sp"),
                              cl::desc("Memory by kind and by rank, on a whole "
                                       "--cluster; or for --forward")};
  cl::opt<int64_t> globalBatch{
      "global-batch", cl::init(0), cl::cat(category),
      cl::desc("Sequences of a step, for --layout (default: about 4M tokens)")};
  cl::opt<std::string> stack{"stack", cl::init("nemo"), cl::cat(category),
                             cl::desc("Training software, for --layout")};
  cl::opt<int64_t> batch{"batch", cl::init(0), cl::cat(category),
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
  if (!parseFlags(flags.category, argc, argv,
                  "sizes of a model, and what training it takes\n"))
    return kUsageError;
  if (flags.forward) {
    for (const cl::Option *option :
         {static_cast<cl::Option *>(&flags.cluster),
          static_cast<cl::Option *>(&flags.cacheBatch),
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
  options.cluster = flags.cluster;
  if (Error error = requireModel(options.model))
    return fail(std::move(error));
  if (Error error = readClusterFile(options.cluster))
    return fail(std::move(error));
  options.sequence = flags.sequence;
  options.cacheBatch = flags.cacheBatch;
  options.layout = flags.layout;
  options.globalBatch = flags.globalBatch;
  options.stack = flags.stack;
  options.features = makeGraphSource;
  options.mfu = flags.mfu;
  options.tokensPerSecondPerGpu = flags.tokensPerSecond;
  options.json = flags.json;
  for (auto [name, text, out] :
       {std::tuple<StringRef, StringRef, double *>{
            "tokens", flags.tokens.getValue(), &options.tokens},
        {"gpu-hours", flags.gpuHours.getValue(), &options.gpuHours}}) {
    std::optional<double> value;
    if (Error error = readCountFlag(name, text, value))
      return fail(std::move(error));
    if (value && *value == 0)
      return fail("--" + name + " must be above 0, got '" + text + "'");
    *out = value.value_or(*out);
  }
  // Zero stands for a flag that is not given.
  for (const cl::opt<double> *flag : {&flags.mfu, &flags.tokensPerSecond})
    if (flag->getNumOccurrences() && flag->getValue() == 0)
      return fail("--" + flag->ArgStr + " must be above 0, got 0");
  return runEstimate(options, outs(), errs());
}
