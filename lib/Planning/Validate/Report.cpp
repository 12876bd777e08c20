//===- Report.cpp - tables and JSON of a validation -----------------------===//
//
// "Weighed by source": every source counts the same, so a run of a source with
// n runs weighs 1/n.
//
//===----------------------------------------------------------------------===//
#include "Report.h"
#include "tessera/CostModel/Validation.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include <cmath>
#include <functional>
#include <map>

using namespace llvm;
using namespace tessera;

namespace {
struct Sample {
  double error;
  std::string source;
};
} // namespace

static ErrorSummary bySource(const std::vector<Sample> &samples) {
  std::map<std::string, double> counts;
  for (const Sample &s : samples)
    ++counts[s.source];
  std::vector<double> errors, weights;
  for (const Sample &s : samples) {
    errors.push_back(s.error);
    weights.push_back(1.0 / counts[s.source]);
  }
  return summarize(errors, weights);
}

static const Point &pointOf(const Outcome &o) { return *o.run->points.front(); }

static bool counts(const Outcome &o) { return o.complete && o.measured > 0; }

/// "tp", "pp", "cp", "ep", "zero-3", "data only": the axes that a run uses.
static std::vector<std::string> axesOf(const Outcome &o) {
  const Layout &l = o.run->layout;
  std::vector<std::string> axes;
  if (l.tp > 1)
    axes.push_back("tp");
  if (l.pp > 1)
    axes.push_back(l.vpp > 1 ? "pp interleaved" : "pp");
  if (l.cp > 1)
    axes.push_back("cp");
  if (l.ep > 1)
    axes.push_back("ep");
  if (l.zeroStage == 3)
    axes.push_back("zero-3");
  if (axes.empty())
    axes.push_back("data only");
  return axes;
}

using Key = std::function<std::vector<std::string>(const Outcome &)>;

static std::map<std::string, std::vector<Sample>> group(const Report &report,
                                                        const Key &key) {
  std::map<std::string, std::vector<Sample>> groups;
  for (const Outcome &o : report.outcomes)
    if (counts(o))
      for (const std::string &k : key(o))
        groups[k].push_back({o.timeError(), pointOf(o).source});
  return groups;
}

static std::map<std::string, std::vector<Sample>>
groupByMetric(const Report &report) {
  std::map<std::string, std::vector<Sample>> groups;
  for (const Outcome &o : report.outcomes) {
    if (!o.complete)
      continue;
    for (const Point *p : o.run->points) {
      if (p->metric == Metric::Memory)
        continue;
      Expected<double> measured = measuredStepTime(*p, *o.run);
      if (!measured) {
        consumeError(measured.takeError());
        continue;
      }
      groups[nameOf(p->metric).str()].push_back(
          {o.prediction.step.seconds / *measured - 1.0, p->source});
    }
  }
  return groups;
}

namespace {
struct Section {
  const char *title;
  const char *json;
  std::map<std::string, std::vector<Sample>> groups;
};
} // namespace

static std::vector<Section> sections(const Report &report) {
  auto one = [](auto f) {
    return [f](const Outcome &o) { return std::vector<std::string>{f(o)}; };
  };
  std::vector<Section> s;
  s.push_back({"source", "by_source", group(report, one([](const Outcome &o) {
                                              return pointOf(o).source;
                                            }))});
  s.push_back({"chip", "by_chip", group(report, one([](const Outcome &o) {
                                          return o.run->cluster.chip.name;
                                        }))});
  s.push_back({"software", "by_stack", group(report, one([](const Outcome &o) {
                                               return o.run->stack;
                                             }))});
  s.push_back({"axis", "by_axis", group(report, axesOf)});
  s.push_back({"metric", "by_metric", groupByMetric(report)});
  return s;
}

static std::vector<Sample> allTime(const Report &report) {
  std::vector<Sample> samples;
  for (const Outcome &o : report.outcomes)
    if (counts(o))
      samples.push_back({o.timeError(), pointOf(o).source});
  return samples;
}

/// Those of `samples` whose source the constants were fitted to, or the others.
static std::vector<Sample> ofSources(const std::vector<Sample> &samples,
                                     const std::set<std::string> &fitted,
                                     bool held) {
  std::vector<Sample> out;
  for (const Sample &s : samples)
    if (fitted.count(s.source) != size_t(held))
      out.push_back(s);
  return out;
}

static std::vector<Sample> allMemory(const Report &report) {
  std::vector<Sample> samples;
  for (const Outcome &o : report.outcomes)
    if (o.complete && o.measuredMemory > 0)
      samples.push_back({o.memoryError(), pointOf(o).source});
  return samples;
}

/// Complete runs that are predicted to need more than their GPU has.
static size_t notFitting(const Report &report) {
  return llvm::count_if(report.outcomes, [](const Outcome &o) {
    return o.complete &&
           o.prediction.memory.needed() > o.run->cluster.chip.memoryBytes;
  });
}

/// Mean over sweeps, each source counting the same.
static std::pair<double, double> sweepMeans(const Report &report) {
  std::map<std::string, std::vector<const SweepSummary *>> sources;
  for (const SweepSummary &s : report.sweeps)
    sources[s.source].push_back(&s);
  double correlation = 0, regret = 0;
  for (auto &[source, sweeps] : sources) {
    double c = 0, r = 0;
    for (const SweepSummary *s : sweeps) {
      c += s->correlation;
      r += s->regret;
    }
    correlation += c / sweeps.size() / sources.size();
    regret += r / sweeps.size() / sources.size();
  }
  return {correlation, regret};
}

static std::string percent(double v) { return formatNumber(100 * v, 1); }
static std::string signedPercent(double v) {
  return (v >= 0 ? "+" : "") + formatNumber(100 * v, 1);
}

void tessera::printText(const Report &report, bool runs, raw_ostream &os) {
  using Align = TextTable::Align;
  if (runs) {
    TextTable t;
    t.column("run", Align::Left)
        .column("model", Align::Left)
        .column("layout", Align::Left)
        .column("measured")
        .column("predicted")
        .column("error %")
        .column("GiB")
        .column("predicted")
        .column("error %");
    for (const Outcome &o : report.outcomes) {
      if (!o.complete)
        continue;
      bool memory = o.measuredMemory > 0;
      // One unit for the two times of a row; rows lie orders apart.
      double seconds = o.prediction.step.seconds;
      std::vector<std::string> times =
          formatDurations({o.measured > 0 ? o.measured : seconds, seconds});
      t.row({pointOf(o).run, pointOf(o).model, o.run->layout.str(),
             o.measured > 0 ? times[0] : "", times[1],
             o.measured > 0 ? signedPercent(o.timeError()) : "",
             memory ? formatNumber(o.measuredMemory / kGiB, 1) : "",
             memory ? formatNumber(o.predictedMemory / kGiB, 1) : "",
             memory ? signedPercent(o.memoryError()) : ""});
    }
    t.print(os);
    os << '\n';
  }
  printWrapped(os, "step time over complete runs, absolute error in %; bias: "
                   "the median of (predicted - measured) / measured, above 0 "
                   "where predictions are too slow");
  os << "\n";
  for (const Section &section : sections(report)) {
    TextTable t;
    t.column(section.title, Align::Left)
        .column("runs")
        .column("median")
        .column("p90")
        .column("bias");
    for (auto &[name, samples] : section.groups) {
      ErrorSummary s = bySource(samples);
      t.row({name, std::to_string(s.runs), percent(s.median), percent(s.p90),
             signedPercent(s.bias)});
    }
    if (StringRef(section.title) == "source") {
      t.rule();
      auto add = [&](const char *what, const std::vector<Sample> &samples) {
        if (samples.empty())
          return;
        ErrorSummary s = bySource(samples);
        t.row({what, std::to_string(s.runs), percent(s.median), percent(s.p90),
               signedPercent(s.bias)});
      };
      std::vector<Sample> all = allTime(report);
      add("all, weighed by source", all);
      add("sources that the constants were fitted to",
          ofSources(all, report.fitted, false));
      add("sources held out", ofSources(all, report.fitted, true));
    }
    t.print(os);
    os << '\n';
  }
  std::vector<Sample> memory = allMemory(report);
  if (!memory.empty()) {
    os << "peak memory, absolute error in %\n\n";
    TextTable t;
    t.column("source", Align::Left)
        .column("runs")
        .column("median")
        .column("p90")
        .column("bias");
    std::map<std::string, std::vector<Sample>> groups;
    for (const Sample &s : memory)
      groups[s.source].push_back(s);
    for (auto &[name, samples] : groups) {
      ErrorSummary s = bySource(samples);
      t.row({name, std::to_string(s.runs), percent(s.median), percent(s.p90),
             signedPercent(s.bias)});
    }
    t.rule();
    ErrorSummary s = bySource(memory);
    t.row({"all, weighed by source", std::to_string(s.runs), percent(s.median),
           percent(s.p90), signedPercent(s.bias)});
    t.print(os);
    os << '\n';
  }
  os << notFitting(report)
     << " complete runs are predicted not to fit their GPU, though they "
        "ran\n\n";
  if (!report.sweeps.empty()) {
    std::map<std::string, std::vector<const SweepSummary *>> sources;
    for (const SweepSummary &s : report.sweeps)
      sources[s.source].push_back(&s);
    printWrapped(os, "sweeps of layouts: rank correlation, and how much slower "
                     "the predicted best is than the measured best");
    os << "\n";
    TextTable t;
    t.column("source", Align::Left)
        .column("sweeps")
        .column("layouts")
        .column("Spearman")
        .column("regret %");
    for (auto &[name, sweeps] : sources) {
      double c = 0, r = 0;
      size_t n = 0;
      for (const SweepSummary *s : sweeps) {
        c += s->correlation / sweeps.size();
        r += s->regret / sweeps.size();
        n += s->layouts;
      }
      t.row({name, std::to_string(sweeps.size()), std::to_string(n),
             formatNumber(c, 3), percent(r)});
    }
    t.rule();
    auto [c, r] = sweepMeans(report);
    t.row({"all, weighed by source", std::to_string(report.sweeps.size()), "",
           formatNumber(c, 3), percent(r)});
    t.print(os);
    os << '\n';
  }
  std::map<std::string, unsigned> remarks;
  for (const Outcome &o : report.outcomes)
    for (const std::string &remark : o.run->remarks)
      ++remarks[remark];
  if (!remarks.empty()) {
    os << "read with a remark:\n";
    for (auto &[remark, n] : remarks)
      os << "  " << n << " x " << remark << '\n';
    os << '\n';
  }
  if (!report.skipped.empty()) {
    std::map<std::string, unsigned> reasons;
    for (auto &[run, reason] : report.skipped)
      ++reasons[reason];
    os << report.skipped.size() << " runs were not predicted:\n";
    for (auto &[reason, n] : reasons) {
      unsigned indent = 2;
      for (const std::string &line :
           wrapText(std::to_string(n) + " x " + reason, textWidth() - 6)) {
        os.indent(indent) << line << '\n';
        indent = 6;
      }
    }
  }
}

static json::Object toJson(const ErrorSummary &s) {
  return json::Object{{"runs", int64_t(s.runs)},
                      {"median", s.median},
                      {"p90", s.p90},
                      {"bias", s.bias}};
}

json::Value tessera::toJson(const Report &report) {
  json::Object root;
  std::vector<Sample> all = allTime(report);
  root["step_time"] = ::toJson(bySource(all));
  for (bool held : {false, true})
    if (std::vector<Sample> part = ofSources(all, report.fitted, held);
        !part.empty())
      root[held ? "step_time_held_out" : "step_time_fitted"] =
          ::toJson(bySource(part));
  if (std::vector<Sample> memory = allMemory(report); !memory.empty())
    root["memory"] = ::toJson(bySource(memory));
  root["predicted_not_to_fit"] = int64_t(notFitting(report));
  for (const Section &section : sections(report)) {
    json::Object groups;
    for (auto &[name, samples] : section.groups)
      groups[name] = ::toJson(bySource(samples));
    root[section.json] = std::move(groups);
  }
  json::Array sweeps;
  for (const SweepSummary &s : report.sweeps)
    sweeps.push_back(json::Object{
        {"source", s.source},
        {"what", s.what},
        {"layouts", int64_t(s.layouts)},
        {"spearman", std::isnan(s.correlation) ? json::Value(nullptr)
                                               : json::Value(s.correlation)},
        {"regret", s.regret}});
  root["sweeps"] = std::move(sweeps);
  if (!report.sweeps.empty()) {
    auto [c, r] = sweepMeans(report);
    root["sweep_mean"] = json::Object{
        {"spearman", std::isnan(c) ? json::Value(nullptr) : json::Value(c)},
        {"regret", r}};
  }
  json::Array runs;
  for (const Outcome &o : report.outcomes) {
    const StepTime &t = o.prediction.step;
    json::Object exposed;
    for (int i = 0; i < kNumParallelAxes; ++i)
      exposed[nameOf(static_cast<ParallelAxis>(i))] = t.exposed[i];
    json::Object run{{"run", pointOf(o).run},
                     {"source", pointOf(o).source},
                     {"model", pointOf(o).model},
                     {"chip", o.run->cluster.chip.name},
                     {"stack", o.run->stack},
                     {"layout", o.run->layout.str()},
                     {"experts", o.run->shape.experts > 0},
                     {"context_parallel", o.run->layout.cp > 1},
                     {"adapters", o.run->precision.frozen},
                     {"bits", int64_t(8 * bytesOf(o.run->precision.linear))},
                     {"sequence", o.run->workload.sequence},
                     {"gpus", o.run->cluster.numGPUs()},
                     {"network_gbps", networkGbps(o.run->cluster)},
                     {"complete", o.complete},
                     {"metric", nameOf(o.metric)},
                     {"predicted", t.seconds},
                     {"breakdown", json::Object{{"compute", t.compute},
                                                {"recompute", t.recompute},
                                                {"exposed", std::move(exposed)},
                                                {"bubble", t.bubble},
                                                {"host", t.host},
                                                {"optimizer", t.optimizer},
                                                {"overhead", t.overhead}}}};
    // Bytes on the fullest rank by kind, beside what its GPU has.
    const MemoryUse &m = o.prediction.memory;
    run["memory"] = json::Object{
        {"weights", m.weights},     {"gradients", m.gradients},
        {"optimizer", m.optimizer}, {"activations", m.activations},
        {"transient", m.transient}, {"communication", m.communication},
        {"context", m.context},     {"reserve", m.reserve},
        {"cached", m.cached},       {"total", m.total()},
        {"needed", m.needed()},     {"limit", o.run->cluster.chip.memoryBytes}};
    run["recompute_inferred"] = o.run->recomputeInferred;
    if (int layers = o.run->workload.offloadedLayers)
      run["offloaded_layers"] = layers;
    if (o.measured > 0)
      run["measured"] = o.measured;
    if (o.measuredMemory > 0) {
      run["measured_memory"] = o.measuredMemory;
      run["predicted_memory"] = o.predictedMemory;
    }
    runs.push_back(std::move(run));
  }
  root["runs"] = std::move(runs);
  json::Array skipped;
  for (auto &[run, reason] : report.skipped)
    skipped.push_back(json::Object{{"run", run}, {"reason", reason}});
  root["skipped"] = std::move(skipped);
  return root;
}
