//===- Validation.cpp - what measurements say of predictions --------------===//
#include "tessera/CostModel/Validation.h"
#include "lib/CostModel/DefaultText.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Units.h"
#include <cmath>

using namespace llvm;
using namespace tessera;

const StepError *StepValidation::find(StringRef chip, StringRef stack) const {
  auto stacks = measured.find(chip.str());
  if (stacks == measured.end())
    return nullptr;
  auto error = stacks->second.find(stack.str());
  return error == stacks->second.end() ? nullptr : &error->second;
}

static Error readError(const JsonObject &object, StepError &out) {
  for (auto [name, number] :
       {std::pair<StringRef, double *>{"median", &out.median},
        {"p90", &out.p90}})
    if (Error e = object.read(name, *number))
      return e;
  if (Error e = object.read("runs", out.runs))
    return e;
  if (!(out.runs > 0 && out.median >= 0 && out.p90 >= out.median))
    return makeError(object.location() +
                     ": expected runs and 0 <= median <= p90");
  return object.checkAllRead();
}

/// The objects in `object` by name.
template <typename Read>
static Error forEachChild(const JsonObject &object, Read read) {
  for (const auto &entry : object.raw()) {
    auto child = object.child(entry.first);
    if (!child)
      return child.takeError();
    if (Error e = read(StringRef(entry.first), **child))
      return e;
  }
  return object.checkAllRead();
}

Expected<StepValidation> tessera::readValidation(const json::Value &value,
                                                 StringRef where) {
  Expected<JsonObject> root = JsonObject::get(value, where);
  if (!root)
    return root.takeError();
  StepValidation validation;
  auto runs = root->child("runs"), held = root->child("held_out");
  if (!runs)
    return joinErrors(runs.takeError(), held.takeError());
  if (!held)
    return held.takeError();
  if (*runs)
    if (Error e = forEachChild(**runs, [&](StringRef chip, JsonObject &stacks) {
          return forEachChild(stacks, [&](StringRef stack, JsonObject &error) {
            return readError(error,
                             validation.measured[chip.str()][stack.str()]);
          });
        }))
      return std::move(e);
  if (*held) {
    validation.heldOut.emplace();
    if (Error e = readError(**held, *validation.heldOut))
      return std::move(e);
  }
  if (Error e = root->checkAllRead())
    return std::move(e);
  return validation;
}

const StepValidation &tessera::defaultValidation() {
  static const StepValidation validation = [] {
    const json::Object *root = defaultConstantsJson().getAsObject();
    const json::Value *field = root ? root->get("validation") : nullptr;
    if (!field)
      return StepValidation();
    // The file is part of the build; a test reads it, so it can be read.
    Expected<StepValidation> read =
        readValidation(*field, "cost_model_constants.json, 'validation'");
    if (!read)
      report_fatal_error(read.takeError());
    return std::move(*read);
  }();
  return validation;
}

/// "within 4 % half the time, 12 % nine times of ten", rounded up.
static std::string within(const StepError &error) {
  auto percent = [](double share) {
    return formatNumber(std::max(std::ceil(100 * share), 1.0), 0) + " %";
  };
  return "within " + percent(error.median) + " half the time, " +
         percent(error.p90) + " nine times of ten";
}

std::string tessera::expectedError(const StepValidation &validation,
                                   const Cluster &cluster, StringRef stack) {
  std::string text;
  if (!cluster.efficiencies.empty()) {
    text = "efficiencies of your own, with which no run was compared";
  } else if (const StepError *error =
                 validation.find(cluster.chip.name, stack)) {
    // So few say less than their quantiles seem to.
    constexpr int64_t kFew = 10;
    text = "runs on " + cluster.chip.name + " with " + stack.str();
    if (error->runs >= kFew)
      return text + ": " + within(*error);
    text = "the " + std::to_string(error->runs) + " " + text + ": " +
           within(*error);
  } else {
    text = "no run on " + cluster.chip.name + " with " + stack.str() +
           " was measured";
  }
  if (validation.heldOut)
    text += "; sources left out of a fit: " + within(*validation.heldOut);
  return text;
}
