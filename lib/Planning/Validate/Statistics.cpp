//===- Statistics.cpp - weighted quantiles, ranks, sweeps -----------------===//
#include "Report.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace llvm;
using namespace tessera;

/// Smallest value with at least `q` of the weight at or below it.
static double weightedQuantile(std::vector<std::pair<double, double>> samples,
                               double q) {
  llvm::sort(samples);
  double total = 0, below = 0;
  for (auto &[value, weight] : samples)
    total += weight;
  for (auto &[value, weight] : samples) {
    below += weight;
    if (below >= q * total * (1 - 1e-12))
      return value;
  }
  return samples.empty() ? 0 : samples.back().first;
}

ErrorSummary tessera::summarize(const std::vector<double> &errors,
                                const std::vector<double> &weights) {
  ErrorSummary s;
  s.runs = errors.size();
  std::vector<std::pair<double, double>> absolute, signedErrors;
  for (size_t i = 0; i < errors.size(); ++i) {
    absolute.push_back({std::fabs(errors[i]), weights[i]});
    signedErrors.push_back({errors[i], weights[i]});
  }
  s.median = weightedQuantile(absolute, 0.5);
  s.p90 = weightedQuantile(absolute, 0.9);
  s.bias = weightedQuantile(signedErrors, 0.5);
  return s;
}

/// Ranks from 1, ties sharing their mean.
static std::vector<double> ranks(const std::vector<double> &v) {
  std::vector<size_t> order(v.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) { return v[a] < v[b]; });
  std::vector<double> r(v.size());
  for (size_t i = 0; i < order.size();) {
    size_t j = i;
    while (j + 1 < order.size() && v[order[j + 1]] == v[order[i]])
      ++j;
    for (size_t k = i; k <= j; ++k)
      r[order[k]] = 1 + (i + j) / 2.0;
    i = j + 1;
  }
  return r;
}

double tessera::spearman(const std::vector<double> &a,
                         const std::vector<double> &b) {
  size_t n = a.size();
  if (n < 2)
    return std::nan("");
  std::vector<double> x = ranks(a), y = ranks(b);
  double mean = (n + 1) / 2.0, xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < n; ++i) {
    xy += (x[i] - mean) * (y[i] - mean);
    xx += (x[i] - mean) * (x[i] - mean);
    yy += (y[i] - mean) * (y[i] - mean);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : std::nan("");
}

/// A sweep: one source, model, sequence, batch, format and number of GPUs, at
/// least five measured layouts, at least three of them different.
void tessera::findSweeps(Report &report) {
  std::map<std::string, std::vector<const Outcome *>> groups;
  for (const Outcome &o : report.outcomes) {
    if (!o.complete || o.measured <= 0)
      continue;
    const Point &p = *o.run->points.front();
    std::string key;
    for (const std::string &part :
         {p.source, p.model, std::to_string(p.layers), std::to_string(p.hidden),
          std::to_string(p.heads), std::to_string(p.sequence),
          std::to_string(p.globalBatch), p.precision, p.chip,
          std::to_string(p.gpus)})
      key += part + "|";
    groups[key].push_back(&o);
  }
  for (auto &[key, members] : groups) {
    std::vector<std::string> layouts;
    std::vector<double> measured, predicted;
    for (const Outcome *o : members) {
      layouts.push_back(o->run->layout.str());
      measured.push_back(o->measured);
      predicted.push_back(o->prediction.step.seconds);
    }
    llvm::sort(layouts);
    size_t distinct =
        std::unique(layouts.begin(), layouts.end()) - layouts.begin();
    if (members.size() < 5 || distinct < 3)
      continue;
    SweepSummary s;
    const Point &p = *members.front()->run->points.front();
    s.source = p.source;
    s.what = p.model + ", " + std::to_string(p.gpus) + " GPUs, batch " +
             std::to_string(p.globalBatch);
    s.layouts = members.size();
    s.correlation = spearman(measured, predicted);
    size_t chosen = std::min_element(predicted.begin(), predicted.end()) -
                    predicted.begin();
    s.regret =
        measured[chosen] / *std::min_element(measured.begin(), measured.end()) -
        1.0;
    report.sweeps.push_back(s);
  }
}
