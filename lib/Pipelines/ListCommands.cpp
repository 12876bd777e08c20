//===- ListCommands.cpp - models, clusters, phases ------------------------===//
#include "CommandLine.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Hardware/Chip.h"
#include "tessera/Import/ModelConfig.h"
#include "tessera/Import/ShippedModels.h"
#include "tessera/Pipelines/Phase.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

/// Where the numbers of a shipped config come from.
static std::string sourceOf(const ShippedModel &model) {
  Expected<json::Value> config = parseJson(model.json, model.name);
  if (!config) {
    consumeError(config.takeError());
    return "";
  }
  const json::Object *object = config->getAsObject();
  return object ? object->getString("_source").value_or("").str() : "";
}

int tessera::modelsCommand(int argc, char **argv) {
  static cl::OptionCategory category("tessera models");
  static cl::opt<bool> asJson("json", cl::cat(category), cl::desc("As JSON"));
  if (auto code =
          parseFlags(category, argc, argv,
                     "Lists the model configs that ship with Tessera.", ""))
    return *code;
  TextTable table;
  table.column("model", TextTable::Align::Left, /*mayShrink=*/false)
      .column("architecture", TextTable::Align::Left, /*mayShrink=*/false)
      .column("params")
      .column("active")
      .column("layers")
      .column("hidden")
      .column("heads")
      .column("vocab")
      .column("positions");
  json::Array list;
  for (const ShippedModel &model : getShippedModels()) {
    Expected<ModelConfig> config = readModelConfig(model.name);
    if (!config)
      return fail(config.takeError());
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
                                {"positions", config->maxPositions},
                                {"source", sourceOf(model)}});
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

int tessera::clustersCommand(int argc, char **argv) {
  static cl::OptionCategory category("tessera clusters");
  static cl::opt<bool> asJson("json", cl::cat(category),
                              cl::desc("Every number of every chip, as JSON"));
  if (auto code = parseFlags(category, argc, argv,
                             "Lists the chips that clusters are made of.", ""))
    return *code;
  if (asJson) {
    json::Array list;
    for (const Chip &chip : builtinChips())
      list.push_back(toJson(chip));
    outs() << formatv("{0:2}\n", json::Value(std::move(list)));
    return 0;
  }
  printChips(outs());
  outs() << "\na cluster is CHIP:NODESxGPUS, like h100-sxm:16x8, or a JSON or "
            "MLIR file (docs/clusters.md)\n";
  return 0;
}

int tessera::phasesCommand(int argc, char **argv) {
  static cl::OptionCategory category("tessera phases");
  static cl::opt<bool> asJson("json", cl::cat(category), cl::desc("As JSON"));
  if (auto code = parseFlags(category, argc, argv,
                             "Lists the phases of the compiler, as "
                             "--compile-to and --compile-from name them.",
                             ""))
    return *code;
  if (!asJson) {
    for (const PhaseInfo &info : allPhases())
      outs() << formatv("{0,-10} {1}\n", info.name, info.description);
    return 0;
  }
  json::Array phases;
  for (const PhaseInfo &info : allPhases())
    phases.push_back(
        json::Object{{"name", info.name}, {"description", info.description}});
  outs() << formatv("{0:2}\n", json::Value(std::move(phases)));
  return 0;
}
