//===- ScaleCommand.cpp - `tessera scale` ---------------------------------===//
#include "CommandLine.h"
#include "Flags.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Hardware/Chip.h"
#include "tessera/Planning/ScalingLaws.h"
#include "tessera/Support/Units.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ScaleFlags {
  cl::OptionCategory category{"tessera scale"};
  CountFlag<1'000'000'000, 'T'> flops{"flops", cl::init(0), cl::cat(category),
                                      cl::value_desc("5.76e23"),
                                      cl::desc("Compute budget in FLOPs")};
  CountFlag<0, 'K'> gpuHours{
      "gpu-hours", cl::init(0), cl::cat(category), cl::value_desc("100K"),
      cl::desc("Budget in GPU-hours, with --chip or --peak")};
  cl::opt<std::string> chip{
      "chip", cl::cat(category), cl::value_desc("NAME"),
      cl::desc("Chip whose 16-bit peak --gpu-hours is of (h100-sxm; 'tessera "
               "clusters' lists them)")};
  CountFlag<1'000'000'000, 'T'> peak{
      "peak", cl::init(0), cl::cat(category), cl::value_desc("989T"),
      cl::desc("Peak of one GPU in FLOP/s, instead of --chip")};
  NumberFlag<NumberRange::Share> mfu{
      "mfu", cl::init(0.4), cl::cat(category), cl::value_desc("X"),
      cl::desc("Model FLOPs utilisation, for --gpu-hours (default: 0.4)")};
  CountFlag<1000, 'B'> parameters{"params", cl::init(0), cl::cat(category),
                                  cl::value_desc("7B"),
                                  cl::desc("Fix the model size")};
  CountFlag<1000, 'T'> tokens{"tokens", cl::init(0), cl::cat(category),
                              cl::value_desc("1.4T"),
                              cl::desc("Fix the training tokens")};
  CountFlag<1000, 'T'> inference{
      "inference-tokens", cl::init(0), cl::cat(category), cl::value_desc("2T"),
      cl::desc("Tokens to be served: adds the lifetime optimum")};
  NumberFlag<> ratio{"tokens-per-param", cl::init(20), cl::cat(category),
                     cl::value_desc("X"),
                     cl::desc("For the rule of that name (default: 20)")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
  cl::opt<bool> details{"details", cl::cat(category),
                        cl::desc("With --json: also the plot as SVG")};
  cl::opt<std::string> plot{"plot", cl::cat(category), cl::value_desc("FILE"),
                            cl::desc("Write the curves as SVG")};
};
} // namespace

int tessera::scaleCommand(int argc, char **argv) {
  static ScaleFlags flags;
  if (auto code = parseFlags(flags.category, argc, argv,
                             "Model and token sizes for a compute budget, by "
                             "published laws.",
                             ""))
    return *code;
  scaling::ScaleOptions options;
  // 0: not given.
  auto given = [](double value) {
    return value > 0 ? std::optional<double>(value) : std::nullopt;
  };
  std::optional<double> flops = given(flags.flops),
                        hours = given(flags.gpuHours), peak = given(flags.peak),
                        inference = given(flags.inference);
  options.budget.parameters = given(flags.parameters);
  options.budget.tokens = given(flags.tokens);
  if (flops && hours)
    return fail("--flops and --gpu-hours both state the budget; give one");
  if (!flags.chip.empty()) {
    if (peak)
      return fail("--chip and --peak both state the peak; give one");
    Expected<Chip> chip = findChip(flags.chip);
    if (!chip)
      return usage("--chip: " + toString(chip.takeError()));
    peak = chip->peak(DataType::BF16);
  }
  if (hours && !peak)
    return fail("--gpu-hours needs the GPU: --chip h100-sxm, or --peak, its "
                "FLOP/s");
  if (peak && !hours)
    return fail("--chip and --peak go with --gpu-hours, which is not given");
  if (hours)
    flops = *hours * 3600 * *peak * flags.mfu;
  if (!flops && options.budget.parameters && options.budget.tokens)
    flops = 6 * *options.budget.parameters * *options.budget.tokens;
  if (!flops)
    return fail("give a budget: --flops, --gpu-hours with --chip, or --params "
                "with --tokens");
  options.budget.flops = *flops;
  if (hours)
    options.budgetFrom = formatCount(*hours) + " GPU-hours of " +
                         formatNumber(*peak / 1e12, 0) + " TFLOP/s at " +
                         formatPercent(flags.mfu) + " MFU (--mfu)";
  options.budget.inferenceTokens = inference.value_or(0);
  options.budget.tokensPerParameter = flags.ratio;
  options.json = flags.json;
  options.details = flags.details;
  options.plot = flags.plot;
  if (Error error = scaling::runScale(options, outs()))
    return fail(std::move(error));
  return 0;
}
