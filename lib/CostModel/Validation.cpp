//===- Validation.cpp - what measurements say of predictions --------------===//
#include "tessera/CostModel/Validation.h"
#include "lib/CostModel/DefaultText.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

using namespace llvm;
using namespace tessera;

/// Quantiles of fewer say less than they seem to.
static constexpr int64_t kLeastRuns = 8, kLeastSources = 3;

double tessera::networkGbps(const Cluster &cluster) {
  return cluster.numGPUs() > cluster.domainSize()
             ? cluster.nicBandwidthPerGPU() * 8e-9
             : 0;
}

static Error readErrors(JsonObject &object, StringRef name,
                        std::vector<double> &out) {
  const json::Array *list = object.raw().getArray(name);
  object.note(name);
  if (!list)
    return makeError(object.location() + ": expected an array '" + name + "'");
  for (const json::Value &value : *list) {
    std::optional<double> number = value.getAsNumber();
    if (!number || !(*number >= 0))
      return makeError(object.location() + ": '" + name +
                       "': expected numbers of at least 0");
    out.push_back(*number);
  }
  return Error::success();
}

static Error readRuns(JsonObject &object, MeasuredRuns &out) {
  RunKind &k = out.kind;
  for (auto [name, text] :
       {std::pair<StringRef, std::string *>{"source", &out.source},
        {"chip", &k.chip},
        {"stack", &k.stack}})
    if (Error e = object.read(name, *text))
      return e;
  for (auto [name, flag] : {std::pair<StringRef, bool *>{"experts", &k.experts},
                            {"context_parallel", &k.contextParallel}})
    if (Error e = object.read(name, *flag))
      return e;
  int64_t bits = 0;
  for (auto [name, number] : {std::pair<StringRef, int64_t *>{"bits", &bits},
                              {"sequence", &k.sequence},
                              {"gpus", &k.gpus},
                              {"runs", &out.runs}})
    if (Error e = object.read(name, *number))
      return e;
  k.bits = int(bits);
  if (Error e = object.read("network_gbps", k.networkGbps))
    return e;
  if (Error e = readErrors(object, "fitted", out.fitted))
    return e;
  if (Error e = readErrors(object, "held_out", out.heldOut))
    return e;
  if (k.chip.empty() || k.stack.empty() || out.source.empty() || bits < 1 ||
      k.sequence < 1 || k.gpus < 1 || out.runs < int64_t(out.fitted.size()) ||
      out.fitted.empty())
    return makeError(object.location() +
                     ": expected source, chip, stack, bits, sequence, gpus "
                     "and errors of at most as many runs");
  return object.checkAllRead();
}

Expected<StepValidation> tessera::readValidation(const json::Value &value,
                                                 StringRef where) {
  Expected<JsonObject> root = JsonObject::get(value, where);
  if (!root)
    return root.takeError();
  StepValidation validation;
  const json::Array *runs = root->raw().getArray("runs");
  if (!runs)
    return makeError(where + ": expected an array 'runs'");
  root->note("runs");
  for (size_t i = 0; i < runs->size(); ++i) {
    std::string at = (where + ": runs[" + Twine(i) + "]").str();
    Expected<JsonObject> object = JsonObject::get((*runs)[i], at);
    if (!object)
      return object.takeError();
    if (Error e = readRuns(*object, validation.emplace_back()))
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

namespace {

using Pool = std::vector<const MeasuredRuns *>;

/// One way in which runs may be like the one in question.
struct Likeness {
  std::function<bool(const RunKind &)> holds;
  std::string words;    ///< "with experts"
  bool special = false; ///< worth saying also where it is met
};

} // namespace

static bool within(double a, double b, double factor) {
  return a <= b * factor && b <= a * factor;
}

static Likeness sameMachine(const RunKind &k) {
  return {
      [&k](const RunKind &r) { return r.chip == k.chip && r.stack == k.stack; },
      "on " + k.chip + " with " + k.stack, true};
}

/// What the work is, whatever it runs on; the most telling first.
static std::vector<Likeness> sameWork(const RunKind &k) {
  constexpr double kSequence = 2;
  return {{[&k](const RunKind &r) { return r.experts == k.experts; },
           k.experts ? "with experts" : "of dense models", k.experts},
          {[&k](const RunKind &r) {
             return r.contextParallel == k.contextParallel;
           },
           k.contextParallel ? "with context parallelism"
                             : "without context parallelism",
           k.contextParallel},
          {[&k](const RunKind &r) { return r.bits == k.bits; },
           "in " + std::to_string(k.bits) + " bits", k.bits != 16},
          {[&k](const RunKind &r) {
             return within(double(r.sequence), double(k.sequence), kSequence);
           },
           "near " + std::to_string(k.sequence) + " tokens"}};
}

static std::vector<Likeness> sameSize(const RunKind &k) {
  constexpr double kGpus = 4, kNetwork = 1.5;
  std::vector<Likeness> out = {
      {[&k](const RunKind &r) {
         return within(double(r.gpus), double(k.gpus), kGpus);
       },
       "near " + std::to_string(k.gpus) + (k.gpus == 1 ? " GPU" : " GPUs")}};
  if (k.networkGbps > 0)
    out.push_back({[&k](const RunKind &r) {
                     return within(r.networkGbps, k.networkGbps, kNetwork);
                   },
                   "over a network of about " + formatNumber(k.networkGbps, 0) +
                       " Gb/s a GPU"});
  return out;
}

static Pool those(const Pool &pool, const Likeness &likeness) {
  Pool out;
  for (const MeasuredRuns *r : pool)
    if (likeness.holds(r->kind))
      out.push_back(r);
  return out;
}

static int64_t runsOf(const Pool &pool) {
  int64_t runs = 0;
  for (const MeasuredRuns *r : pool)
    runs += r->runs;
  return runs;
}

static int64_t sourcesOf(const Pool &pool) {
  std::set<StringRef> sources;
  for (const MeasuredRuns *r : pool)
    sources.insert(r->source);
  return int64_t(sources.size());
}

static bool enough(const Pool &pool) {
  return runsOf(pool) >= kLeastRuns && sourcesOf(pool) >= kLeastSources;
}

/// Quantiles of the errors, each source weighing the same.
static void summarize(const Pool &pool,
                      std::vector<double> MeasuredRuns::*errors,
                      ExpectedError &out) {
  std::map<StringRef, double> ofSource;
  for (const MeasuredRuns *r : pool)
    ofSource[r->source] += double(r->runs);
  std::vector<std::pair<double, double>> samples; // error, weight
  for (const MeasuredRuns *r : pool)
    for (double error : r->*errors)
      samples.push_back({error, double(r->runs) / double((r->*errors).size()) /
                                    ofSource[r->source]});
  llvm::sort(samples);
  double total = 0;
  for (auto &[error, weight] : samples)
    total += weight;
  auto quantile = [&](double share) {
    double sum = 0;
    for (auto &[error, weight] : samples)
      if ((sum += weight) >= share * total * (1 - 1e-12))
        return error;
    return 0.0;
  };
  out.runs = runsOf(pool);
  out.sources = sourcesOf(pool);
  out.median = quantile(0.5);
  out.p90 = quantile(0.9);
}

static std::string counted(int64_t n, StringRef what) {
  return (Twine(n) + " " + what + (n == 1 ? "" : "s")).str();
}

/// "only 3 runs of 1 source", "no run"
static std::string tooFew(const Pool &pool) {
  return pool.empty() ? "no run"
                      : "only " + counted(runsOf(pool), "run") + " of " +
                            counted(sourcesOf(pool), "source");
}

ExpectedError tessera::expectedError(const StepValidation &validation,
                                     const RunKind &kind) {
  ExpectedError out;
  Pool all, held;
  for (const MeasuredRuns &r : validation) {
    all.push_back(&r);
    if (!r.heldOut.empty())
      held.push_back(&r);
  }
  std::vector<Likeness> work = sameWork(kind), likenesses = {sameMachine(kind)};
  llvm::append_range(likenesses, work);
  llvm::append_range(likenesses, sameSize(kind));
  Pool like = all;
  std::string met;
  for (const Likeness &l : likenesses) {
    like = those(like, l);
    if (out.why.empty() && !enough(like))
      out.why = tooFew(like) + met + " " + l.words;
    if (l.special)
      met += " " + l.words;
  }
  out.likeRuns = runsOf(like);
  out.likeSources = sourcesOf(like);
  if (kind.ownEfficiencies)
    out.why = "efficiencies of your own, with which no run was compared";
  if (out.why.empty()) {
    summarize(like, &MeasuredRuns::fitted, out);
    return out;
  }
  out.heldOut = true;
  if (held.empty())
    return out;
  summarize(held, &MeasuredRuns::heldOut, out);
  Pool alike = held;
  for (const Likeness &l : work)
    if (Pool fewer = those(alike, l); enough(fewer))
      alike = std::move(fewer);
  ExpectedError narrow = out;
  summarize(alike, &MeasuredRuns::heldOut, narrow);
  if (narrow.p90 < out.p90)
    return out;
  narrow.median = std::max(narrow.median, out.median);
  return narrow;
}

std::string ExpectedError::text() const {
  std::string text = why;
  if (!heldOut)
    text =
        counted(runs, "run") + " of " + counted(sources, "source") + " like it";
  if (runs == 0)
    return text;
  // Rounded up.
  auto percent = [](double share) {
    return formatNumber(std::max(std::ceil(100 * share - 1e-9), 1.0), 0) + " %";
  };
  return text + (heldOut ? "; sources left out of a fit: " : ": ") + "within " +
         percent(median) + " half the time, " + percent(p90) +
         " nine times of ten";
}
