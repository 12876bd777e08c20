//===- ScaleCommand.cpp - `tessera scale` ---------------------------------===//
#include "CommandLine.h"
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
  cl::opt<std::string> flops{"flops", cl::cat(category), cl::value_desc("C"),
                             cl::desc("Compute budget in FLOPs (5.76e23)")};
  cl::opt<std::string> gpuHours{"gpu-hours", cl::cat(category),
                                cl::desc("Budget in GPU-hours, with --chip or "
                                         "--peak")};
  cl::opt<std::string> chip{
      "chip", cl::cat(category), cl::value_desc("name"),
      cl::desc("Chip whose 16-bit peak --gpu-hours is of (h100-sxm; 'tessera "
               "clusters' lists them)")};
  cl::opt<std::string> peak{
      "peak", cl::cat(category), cl::value_desc("FLOP/s"),
      cl::desc("Peak of one GPU (989e12), instead of --chip")};
  cl::opt<double> mfu{"mfu", cl::init(0.4), cl::cat(category),
                      cl::desc("Model FLOPs utilisation, for --gpu-hours "
                               "(default: 0.4)")};
  cl::opt<std::string> parameters{"params", cl::cat(category),
                                  cl::desc("Fix the model size (7B)")};
  cl::opt<std::string> tokens{"tokens", cl::cat(category),
                              cl::desc("Fix the training tokens (1.4T)")};
  cl::opt<std::string> inference{
      "inference-tokens", cl::cat(category),
      cl::desc("Tokens to be served: adds the lifetime optimum")};
  cl::opt<double> ratio{"tokens-per-param", cl::init(20), cl::cat(category),
                        cl::desc("For the rule of that name")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
  cl::opt<bool> details{"details", cl::cat(category),
                        cl::desc("With --json: also the plot as SVG")};
  cl::opt<std::string> plot{"plot", cl::cat(category), cl::value_desc("file"),
                            cl::desc("Write the curves as SVG")};
};
} // namespace

int tessera::scaleCommand(int argc, char **argv) {
  static ScaleFlags flags;
  if (!parseFlags(
          flags.category, argc, argv,
          "model and token sizes for a compute budget, by published laws\n"))
    return kUsageError;
  scaling::ScaleOptions options;
  std::optional<double> flops, hours, peak, inference;
  for (auto [name, text, out] :
       {std::tuple<StringRef, StringRef, std::optional<double> *>{
            "flops", flags.flops.getValue(), &flops},
        {"gpu-hours", flags.gpuHours.getValue(), &hours},
        {"peak", flags.peak.getValue(), &peak},
        {"params", flags.parameters.getValue(), &options.budget.parameters},
        {"tokens", flags.tokens.getValue(), &options.budget.tokens},
        {"inference-tokens", flags.inference.getValue(), &inference}})
    if (Error error = readCountFlag(name, text, *out))
      return fail(std::move(error));
  if (flops && hours)
    return fail("--flops and --gpu-hours both state the budget; give one");
  if (!flags.chip.empty()) {
    if (peak)
      return fail("--chip and --peak both state the peak; give one");
    Expected<Chip> chip = findChip(flags.chip);
    if (!chip)
      return fail(chip.takeError());
    peak = chip->peak(DataType::BF16);
  }
  if (hours && !peak)
    return fail("--gpu-hours needs the GPU: --chip h100-sxm, or --peak, its "
                "FLOP/s");
  if (peak && !hours)
    return fail("--chip and --peak go with --gpu-hours, which is not given");
  if (!(flags.mfu > 0 && flags.mfu <= 1))
    return fail("--mfu must be above 0 and at most 1, got " +
                Twine(formatNumber(flags.mfu, 3)));
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
