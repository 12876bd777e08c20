//===- PlanningCommands.cpp - models, scale, validate ---------------------===//
#include "tessera/Pipelines/Commands.h"

#include "tessera/Import/ModelConfig.h"
#include "tessera/Import/ShippedModels.h"
#include "tessera/Planning/ScalingLaws.h"
#include "tessera/Planning/Validate.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

static int fail(const Twine &message) {
  errs() << "error: " << message << "\n";
  return 1;
}

static void parse(cl::OptionCategory &category, int argc, char **argv,
                  StringRef overview) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, overview);
}

//===----------------------------------------------------------------------===//
// tessera models
//===----------------------------------------------------------------------===//

int tessera::modelsCommand(int argc, char **argv) {
  static cl::OptionCategory category("tessera models");
  static cl::opt<bool> asJson("json", cl::cat(category), cl::desc("As JSON"));
  parse(category, argc, argv, "lists the model configs that ship with Tessera\n");
  TextTable table;
  table.column("model", TextTable::Align::Left)
      .column("architecture", TextTable::Align::Left)
      .column("parameters")
      .column("active")
      .column("layers")
      .column("hidden")
      .column("heads")
      .column("vocabulary")
      .column("positions");
  json::Array list;
  for (const ShippedModel &model : getShippedModels()) {
    Expected<ModelConfig> config = readModelConfig(model.name);
    if (!config)
      return fail(toString(config.takeError()));
    int64_t total = config->numParameters();
    int64_t active = config->numActiveParameters();
    list.push_back(json::Object{{"name", model.name},
                                {"architecture", config->architecture},
                                {"parameters", total},
                                {"active_parameters", active},
                                {"layers", config->layers},
                                {"hidden", config->hidden},
                                {"heads", config->heads},
                                {"vocab", config->vocab},
                                {"positions", config->maxPositions}});
    table.row({model.name.str(), config->architecture,
               formatCount(static_cast<double>(total)),
               active == total ? std::string()
                               : formatCount(static_cast<double>(active)),
               std::to_string(config->layers), std::to_string(config->hidden),
               std::to_string(config->heads), std::to_string(config->vocab),
               std::to_string(config->maxPositions)});
  }
  if (asJson)
    outs() << formatv("{0:2}\n", json::Value(std::move(list)));
  else
    table.print(outs());
  return 0;
}

//===----------------------------------------------------------------------===//
// tessera scale
//===----------------------------------------------------------------------===//

namespace {
struct ScaleFlags {
  cl::OptionCategory category{"tessera scale"};
  cl::opt<std::string> flops{"flops", cl::cat(category), cl::value_desc("C"),
                             cl::desc("Compute budget in FLOPs (5.76e23)")};
  cl::opt<std::string> gpuHours{"gpu-hours", cl::cat(category),
                                cl::desc("Budget in GPU-hours, with --peak")};
  cl::opt<std::string> peak{
      "peak", cl::cat(category), cl::value_desc("FLOP/s"),
      cl::desc("Peak of one GPU (989e12), for --gpu-hours")};
  cl::opt<double> mfu{"mfu", cl::init(0.4), cl::cat(category),
                      cl::desc("Model FLOPs utilisation, for --gpu-hours")};
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
  cl::opt<std::string> plot{"plot", cl::cat(category), cl::value_desc("file"),
                            cl::desc("Write the curves as SVG")};
};
} // namespace

/// Reads a count like 7B or 1e12 into `out`; an empty text leaves it alone.
static Error readCount(StringRef flag, StringRef text,
                       std::optional<double> &out) {
  if (text.empty())
    return Error::success();
  Expected<double> value = parseCount(text);
  if (!value)
    return joinErrors(createStringError("--" + flag + ": "), value.takeError());
  out = *value;
  return Error::success();
}

int tessera::scaleCommand(int argc, char **argv) {
  static ScaleFlags flags;
  parse(flags.category, argc, argv,
        "model and token sizes for a compute budget, by published laws\n");
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
    if (Error error = readCount(name, text, *out))
      return fail(toString(std::move(error)));
  if (flops && hours)
    return fail("--flops and --gpu-hours both state the budget; give one");
  if (hours && !peak)
    return fail("--gpu-hours needs --peak, the FLOP/s of one GPU");
  if (flags.mfu <= 0 || flags.mfu > 1)
    return fail("--mfu must be above 0 and at most 1, got " +
                Twine(formatNumber(flags.mfu, 3)));
  if (hours)
    flops = *hours * 3600 * *peak * flags.mfu;
  if (!flops && options.budget.parameters && options.budget.tokens)
    flops = 6 * *options.budget.parameters * *options.budget.tokens;
  if (!flops)
    return fail("give a budget: --flops, --gpu-hours with --peak, or --params "
                "with --tokens");
  options.budget.flops = *flops;
  options.budget.inferenceTokens = inference.value_or(0);
  options.budget.tokensPerParameter = flags.ratio;
  options.json = flags.json;
  options.plot = flags.plot;
  if (Error error = scaling::runScale(options, outs()))
    return fail(toString(std::move(error)));
  return 0;
}

//===----------------------------------------------------------------------===//
// tessera validate
//===----------------------------------------------------------------------===//

namespace {
struct ValidateFlags {
  cl::OptionCategory category{"tessera validate"};
  cl::opt<std::string> points{cl::Positional, cl::Required, cl::cat(category),
                              cl::desc("POINTS.csv")};
  cl::opt<std::string> constants{"constants", cl::cat(category),
                                 cl::value_desc("file"),
                                 cl::desc("Constants to try (JSON)")};
  cl::opt<std::string> source{"source", cl::cat(category),
                              cl::desc("Only sources whose name has this")};
  cl::opt<bool> runs{"runs", cl::cat(category), cl::desc("Show every run")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
};
} // namespace

int tessera::validateCommand(int argc, char **argv) {
  static ValidateFlags flags;
  parse(flags.category, argc, argv,
        "compares predictions with published measurements\n");
  ValidateOptions options;
  options.points = flags.points;
  options.constants = flags.constants;
  options.source = flags.source;
  options.runs = flags.runs;
  options.json = flags.json;
  return runValidate(options, outs(), errs());
}
