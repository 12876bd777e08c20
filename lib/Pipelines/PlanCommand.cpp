//===- PlanCommand.cpp - `tessera plan` -----------------------------------===//
#include "ClusterFile.h"
#include "CommandLine.h"
#include "PlanFlags.h"
#include "tessera/Pipelines/Commands.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct PlanFlags {
  cl::OptionCategory category{"tessera plan"};
  PlanInputFlags input{category};
  cl::opt<std::string> fixed{"fix", cl::cat(category),
                             cl::value_desc("tp=8,pp=4,zero=1"),
                             cl::desc("Choices that are decided")};
  cl::opt<std::string> objective{
      "objective", cl::init("step-time"), cl::cat(category),
      cl::value_desc("NAME"),
      cl::desc("step-time, tokens-per-gpu, cost or energy (default: "
               "step-time)")};
  cl::opt<bool> gpusFree{"gpus-free", cl::cat(category),
                         cl::desc("Also smaller numbers of nodes")};
  cl::opt<std::string> price{
      "price", cl::cat(category), cl::value_desc("2.5"),
      cl::desc("Price of a GPU-hour, with the currency if it should be "
               "printed: '$2.5', '2.5 EUR'")};
  cl::opt<bool> pareto{"pareto", cl::cat(category),
                       cl::desc("Front of step time against memory")};
  cl::opt<bool> sensitivity{"sensitivity", cl::init(true), cl::cat(category),
                            cl::desc("What if the network were slower "
                                     "(default: true)")};
  WholeFlag<1, 1000> top{"top", cl::init(6), cl::cat(category),
                         cl::value_desc("N"),
                         cl::desc("Meshes in the table (default: 6)")};
  SecondsFlag timeLimit{
      "time-limit", cl::init(0), cl::cat(category), cl::value_desc("10s"),
      cl::desc("Time to search, in seconds if no unit is given (default: 0, "
               "until proven)")};
  PlanOutputFlags output{category};
};
} // namespace

int tessera::planCommand(int argc, char **argv) {
  static PlanFlags flags;
  if (auto code = parseFlags(
          flags.category, argc, argv,
          "Finds the best layout of a training run, and says why. MODEL is a "
          "folder, a config.json, the .mlir file of a graph or a name that "
          "'tessera models' lists.",
          "MODEL"))
    return *code;
  PlanOptions options;
  options.input = flags.input.read();
  if (Error error = requireModel(options.input.model))
    return fail(std::move(error));
  if (Error error = readClusterFile(options.input.cluster))
    return fail(std::move(error));
  options.input.fixed = flags.fixed;
  options.objective = flags.objective;
  options.gpusFree = flags.gpusFree;
  if (!flags.price.empty()) {
    Expected<Price> price = parsePrice(flags.price);
    if (!price)
      return usage("--price: " + toString(price.takeError()));
    options.gpuHourPrice = *price;
  }
  options.pareto = flags.pareto;
  options.sensitivity = flags.sensitivity;
  options.top = int(flags.top);
  options.timeLimit = flags.timeLimit;
  flags.output.read(options);
  return runPlan(options, outs(), errs());
}
