//===- Pipeline.cpp - playing a pipeline schedule -------------------------===//
//
// Orders: GPipe (arXiv 1811.06965), one-forward-one-backward and interleaved
// (arXiv 2104.04473, section 2.2, with Megatron-LM's warm-up counts), ZB-H1
// (arXiv 2401.10241): one-forward-one-backward whose weight gradients fill the
// gaps.
//
//===----------------------------------------------------------------------===//
#include "tessera/CostModel/Pipeline.h"
#include <algorithm>

using namespace tessera;

namespace {
struct Task {
  int chunk;
  int64_t microBatch;
  PassKind kind;
};
} // namespace

/// Megatron's order of virtual microbatches: groups of `stages` microbatches go
/// through chunk 0, then chunk 1, ...; backward visits chunks in reverse.
static std::vector<Task> virtualOrder(const PipelineProblem &p, int stage,
                                      PassKind kind) {
  std::vector<Task> order;
  int v = p.virtualStages;
  for (int64_t first = 0; first < p.microBatches; first += p.stages) {
    int64_t last = std::min<int64_t>(first + p.stages, p.microBatches);
    for (int i = 0; i < v; ++i) {
      int local = kind == PassKind::Forward ? i : v - 1 - i;
      for (int64_t mb = first; mb < last; ++mb)
        order.push_back({local * p.stages + stage, mb, kind});
    }
  }
  return order;
}

/// Forward passes before the first backward of a stage.
static int64_t warmup(const PipelineProblem &p, int stage) {
  int64_t total = p.microBatches * p.virtualStages;
  if (p.schedule == ScheduleKind::GPipe)
    return total;
  int64_t w = p.stages - stage - 1;
  if (p.virtualStages > 1)
    w = 2 * (p.stages - stage - 1) +
        static_cast<int64_t>(p.virtualStages - 1) * p.stages;
  return std::min(w, total);
}

static std::vector<Task> stageOrder(const PipelineProblem &p, int stage) {
  std::vector<Task> f = virtualOrder(p, stage, PassKind::Forward);
  std::vector<Task> b = virtualOrder(p, stage, PassKind::Backward);
  std::vector<Task> order;
  order.reserve(f.size() + b.size());
  size_t w = warmup(p, stage);
  order.insert(order.end(), f.begin(), f.begin() + w);
  for (size_t i = w; i < f.size(); ++i) {
    order.push_back(f[i]);
    order.push_back(b[i - w]);
  }
  order.insert(order.end(), b.begin() + (f.size() - w), b.end());
  return order;
}

static PipelineResult play(const PipelineProblem &p,
                           std::vector<PipelineEvent> *events) {
  int chunks = p.stages * p.virtualStages;
  bool split = p.schedule == ScheduleKind::ZeroBubble;
  std::vector<std::vector<Task>> orders(p.stages);
  for (int s = 0; s < p.stages; ++s)
    orders[s] = stageOrder(p, s);
  auto at = [&](int chunk, int64_t mb) {
    return static_cast<size_t>(chunk) * p.microBatches + mb;
  };
  std::vector<double> forwardEnd(chunks * p.microBatches, -1.0);
  std::vector<double> backwardEnd(chunks * p.microBatches, -1.0);
  std::vector<double> now(p.stages, 0.0), busy(p.stages, 0.0);
  std::vector<size_t> next(p.stages, 0);
  // Weight-gradient passes that a stage still owes, oldest first.
  std::vector<std::vector<Task>> owed(p.stages);
  std::vector<size_t> paid(p.stages, 0);
  auto record = [&](int s, const Task &t, PassKind kind, double start,
                    double duration) {
    now[s] = start + duration;
    busy[s] += duration;
    if (events)
      events->push_back({s, t.chunk, t.microBatch, kind, start, now[s]});
  };
  auto payOne = [&](int s) {
    const Task &t = owed[s][paid[s]++];
    record(s, t, PassKind::Weight, now[s], p.backwardWeight[t.chunk]);
  };
  bool progress = true;
  while (progress) {
    progress = false;
    for (int s = 0; s < p.stages; ++s) {
      while (next[s] < orders[s].size()) {
        const Task &t = orders[s][next[s]];
        double ready = 0.0;
        if (t.kind == PassKind::Forward) {
          if (t.chunk > 0) {
            double end = forwardEnd[at(t.chunk - 1, t.microBatch)];
            if (end < 0)
              break;
            ready = end + p.transfer;
          }
        } else if (t.chunk + 1 < chunks) {
          double end = backwardEnd[at(t.chunk + 1, t.microBatch)];
          if (end < 0)
            break;
          ready = end + p.transfer;
        } else {
          ready = forwardEnd[at(t.chunk, t.microBatch)];
        }
        // While the input is not there yet, weight gradients fill the gap.
        while (split && paid[s] < owed[s].size() && ready > now[s] &&
               now[s] + p.backwardWeight[owed[s][paid[s]].chunk] <=
                   ready + 1e-12)
          payOne(s);
        bool f = t.kind == PassKind::Forward;
        double duration = f ? p.forward[t.chunk] : p.backward[t.chunk];
        if (!f && split)
          duration -= p.backwardWeight[t.chunk];
        record(s, t, t.kind, std::max(now[s], ready), duration);
        (f ? forwardEnd : backwardEnd)[at(t.chunk, t.microBatch)] = now[s];
        if (!f && split) {
          owed[s].push_back(t);
          // Memory: stage s has p-s passes in flight, so s more may be owed
          // before it holds more than the first stage does.
          if (static_cast<int64_t>(owed[s].size() - paid[s]) > s)
            payOne(s);
        }
        ++next[s];
        progress = true;
      }
    }
  }
  PipelineResult r;
  for (int s = 0; s < p.stages; ++s) {
    while (paid[s] < owed[s].size())
      payOne(s);
    r.seconds = std::max(r.seconds, now[s]);
    r.busy = std::max(r.busy, busy[s]);
  }
  r.bubble = r.seconds > 0 ? 1.0 - r.busy / r.seconds : 0.0;
  return r;
}

PipelineResult tessera::simulatePipeline(const PipelineProblem &problem,
                                         int64_t limit,
                                         std::vector<PipelineEvent> *events) {
  if (problem.stages == 1 && problem.virtualStages == 1 && !events) {
    PipelineResult r;
    r.seconds = r.busy =
        problem.microBatches * (problem.forward[0] + problem.backward[0]);
    return r;
  }
  int64_t m = problem.microBatches, p = problem.stages;
  if (limit <= 0 || m <= limit || m <= 4 * p || events)
    return play(problem, events);
  // T(m) is affine once every stage is in steady state, which it is after a
  // few rounds of `stages` microbatches; keep m modulo the stages.
  PipelineProblem small = problem;
  int64_t rounds = std::max<int64_t>(3, limit / p);
  small.microBatches = m % p + rounds * p;
  PipelineResult a = play(small, nullptr);
  small.microBatches += p;
  PipelineResult b = play(small, nullptr);
  double steps = double(m - small.microBatches) / p;
  PipelineResult r;
  r.seconds = b.seconds + steps * (b.seconds - a.seconds);
  r.busy = b.busy + steps * (b.busy - a.busy);
  r.bubble = r.seconds > 0 ? 1.0 - r.busy / r.seconds : 0.0;
  return r;
}

int64_t tessera::chunksInFlight(const PipelineProblem &p, int stage) {
  int64_t total = p.microBatches * p.virtualStages;
  return std::min(total, warmup(p, stage) + 1);
}
