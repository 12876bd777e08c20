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
  PlanOutputFlags output{category};
};
} // namespace

int tessera::planCommand(int argc, char **argv) {
  static PlanFlags flags;
  if (!parseFlags(flags.category, argc, argv,
                  "finds the best layout of a training run, and says why\n"))
    return kUsageError;
  PlanOptions options;
  options.input = flags.input.read();
  if (Error error = requireModel(options.input.model))
    return fail(std::move(error));
  if (Error error = readClusterFile(options.input.cluster))
    return fail(std::move(error));
  options.input.fixed = flags.fixed;
  options.objective = flags.objective;
  options.gpusFree = flags.gpusFree;
  options.gpuHourPrice = flags.price;
  options.pareto = flags.pareto;
  options.sensitivity = flags.sensitivity;
  options.top = flags.top;
  options.timeLimit = flags.timeLimit;
  flags.output.read(options);
  return runPlan(options, outs(), errs());
}
