//===- Detail.cpp - a layout looked at closely ----------------------------===//
//
// The timeline is the one that stepTime counts on, played with its events. A
// step of more passes than fit a page keeps the warm-up, the begin of the
// steady state, and the end; one of very many is played with fewer
// microbatches, and what follows the steady state is moved to where it lies in
// the whole.
//
//===----------------------------------------------------------------------===//
#include "Detail.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

/// Passes that are kept of a timeline at most, and those of one stage.
static constexpr int64_t kMostPasses = 4500;
static constexpr int64_t kMostPerStage = 280, kFewestPerStage = 90;
/// Passes that are played at most.
static constexpr int64_t kMostPlayed = 200000;

StringRef tessera::nameOf(SegmentKind kind) {
  static const StringRef names[] = {"forward",   "recompute", "backward",
                                    "weight",    "exposed",   "send",
                                    "gradients", "optimizer", "overhead"};
  return names[static_cast<int>(kind)];
}

StringRef tessera::nameOf(KernelClass kernel) {
  static const StringRef names[] = {
      "none",        "matmul",        "grouped-matmul", "attention",
      "elementwise", "row-reduction", "gather",         "collective"};
  return names[static_cast<int>(kernel)];
}

std::string KernelPoint::str() const {
  std::string text = nameOf(kernel).str();
  bool product =
      kernel == KernelClass::Matmul || kernel == KernelClass::GroupedMatmul;
  if (!product)
    return text;
  text += " ";
  if (shape.batch > 1)
    text += std::to_string(shape.batch) + " of ";
  return text + std::to_string(shape.m) + "x" + std::to_string(shape.n) + "x" +
         std::to_string(shape.k);
}

/// Passes worth showing: some rounds beyond the warm-up of the first stage.
static int64_t passLimit(const PipelineProblem &p) {
  int64_t perStage =
      std::clamp(3 * chunksInFlight(p, 0) + 40, kFewestPerStage, kMostPerStage);
  return std::min(kMostPasses, perStage * p.stages);
}

/// Leaves the first and the last passes, half of the limit each.
static void cutSteadyState(Timeline &t) {
  int64_t limit = passLimit(t.problem);
  std::vector<PipelineEvent> &all = t.passes;
  if (int64_t(all.size()) <= limit)
    return;
  std::vector<double> starts, ends;
  for (const PipelineEvent &e : all) {
    starts.push_back(e.start);
    ends.push_back(e.end);
  }
  llvm::sort(starts);
  llvm::sort(ends);
  double from = starts[limit / 2], to = ends[ends.size() - limit / 2];
  if (!(to > from))
    return;
  size_t before = all.size();
  llvm::erase_if(all, [&](const PipelineEvent &e) {
    return e.start >= from && e.end <= to;
  });
  t.cut = Timeline::Cut{from, to, int64_t(before - all.size())};
}

static void playTimeline(Timeline &t) {
  const PipelineProblem &p = t.problem;
  int64_t chunks = int64_t(p.stages) * p.virtualStages;
  PipelineProblem played = p;
  double shift = 0;
  if (2 * chunks * p.microBatches > kMostPlayed) {
    int64_t rounds =
        std::max<int64_t>(4, kMostPlayed / (2 * chunks * p.stages));
    int64_t fewer = p.microBatches % p.stages + rounds * p.stages;
    played.microBatches = std::min(p.microBatches, fewer);
  }
  PipelineResult shown = simulatePipeline(played, 0, &t.passes);
  int64_t left = p.microBatches - played.microBatches;
  t.lastPass.assign(p.stages, 0);
  for (const PipelineEvent &e : t.passes)
    t.lastPass[e.stage] = std::max(t.lastPass[e.stage], e.end);
  cutSteadyState(t);
  if (left > 0 && t.cut) {
    shift = simulatePipeline(p, played.microBatches).seconds - shown.seconds;
    for (PipelineEvent &e : t.passes)
      if (e.end > t.cut->to && e.start >= t.cut->from) {
        e.start += shift;
        e.end += shift;
        e.microBatch += left;
      }
    t.cut->to += shift;
    t.cut->passes += left * chunks * 2;
    for (double &end : t.lastPass)
      end += shift;
  }
  llvm::sort(t.passes, [](const PipelineEvent &a, const PipelineEvent &b) {
    return std::pair(a.stage, a.start) < std::pair(b.stage, b.start);
  });
}

static double exposedOf(const PassTime &pass) {
  double sum = 0;
  for (double e : pass.exposed)
    sum += e;
  return sum;
}

std::vector<Segment> tessera::segmentsOf(const Timeline &t) {
  std::vector<Segment> out;
  bool split = t.problem.schedule == ScheduleKind::ZeroBubble;
  for (const PipelineEvent &e : t.passes) {
    const BlockTime &chunk = t.parts.chunks[e.chunk];
    double at = e.start;
    auto spend = [&](SegmentKind kind, double seconds) {
      if (seconds > 0)
        out.push_back({e.stage, e.chunk, e.microBatch, kind, at, at + seconds});
      at += seconds;
    };
    if (e.kind == PassKind::Weight) {
      spend(SegmentKind::Weight, e.end - e.start);
      continue;
    }
    bool forward = e.kind == PassKind::Forward;
    const PassTime &pass = forward ? chunk.forward : chunk.backward;
    if (!forward)
      spend(SegmentKind::Recompute, chunk.recompute.total());
    spend(forward ? SegmentKind::Forward : SegmentKind::Backward,
          pass.compute + pass.host -
              (split && !forward ? pass.weightGradient : 0));
    spend(SegmentKind::Exposed, exposedOf(pass));
    spend(SegmentKind::Send, t.parts.occupied);
  }
  double done = 0;
  for (auto [stage, end] : llvm::enumerate(t.parts.ends)) {
    double at = t.lastPass[stage];
    if (end.communication > 0)
      out.push_back({int(stage), -1, -1, SegmentKind::Gradients, at,
                     at + end.communication});
    at += end.communication;
    if (end.optimizer > 0)
      out.push_back(
          {int(stage), -1, -1, SegmentKind::Optimizer, at, at + end.optimizer});
    done = std::max(done, at + end.optimizer);
  }
  for (int stage = 0; stage < t.problem.stages && done < t.seconds; ++stage)
    out.push_back({stage, -1, -1, SegmentKind::Overhead, done, t.seconds});
  return out;
}

static void addKernel(std::vector<KernelPoint> &points, KernelPoint point) {
  for (KernelPoint &p : points)
    if (p.block == point.block && p.kernel == point.kernel &&
        p.backward == point.backward && p.type == point.type &&
        p.flops == point.flops && p.bytes == point.bytes &&
        p.seconds == point.seconds) {
      p.calls += point.calls;
      return;
    }
  points.push_back(std::move(point));
}

static std::vector<KernelPoint> kernelsOf(const ModelFeatures &features,
                                          const StepModel &model) {
  DeviceModel device = model.device();
  std::vector<int64_t> calls(features.blocks.size());
  for (const BlockCall &call : features.calls)
    calls[call.block] += call.count;
  std::vector<KernelPoint> points;
  for (auto [block, count] : zip(features.blocks, calls))
    for (const OpFeature &op : block.ops)
      for (bool backward : {false, true}) {
        const PassCost &cost = backward ? op.backward : op.forward;
        KernelPoint p;
        p.block = block.name;
        p.kernel = op.kernel;
        p.backward = backward;
        p.type = op.kernel == KernelClass::Attention ? DataType::BF16 : op.type;
        p.shape = op.shape;
        p.flops = double(cost.matmulFlops) + double(cost.vectorFlops);
        p.bytes = double(cost.bytesRead) + double(cost.bytesWritten);
        p.seconds = opTime(
            op, backward ? Direction::Backward : Direction::Forward, device);
        p.calls = count;
        if (p.flops > 0 && p.bytes > 0 && p.seconds > 0 && count > 0)
          addKernel(points, std::move(p));
      }
  double all = 0;
  for (const KernelPoint &p : points)
    all += p.seconds * double(p.calls);
  for (KernelPoint &p : points)
    p.share = p.seconds * double(p.calls) / all;
  llvm::sort(points, [](const KernelPoint &a, const KernelPoint &b) {
    return std::tuple(-a.share, a.block, a.str(), a.backward) <
           std::tuple(-b.share, b.block, b.str(), b.backward);
  });
  return points;
}

LayoutDetail tessera::detailOf(const PlanProblem &p,
                               const FeatureProvider &provider,
                               const Layout &layout) {
  LayoutDetail d;
  ModelFeatures features = provider.features(layout);
  StepTime step =
      stepTime(features, layout, p.workload, p.model, &d.timeline.parts);
  d.timeline.problem = step.pipeline;
  d.timeline.seconds = step.seconds;
  playTimeline(d.timeline);
  memoryUse(features, layout, p.workload, p.model.cluster, &d.stages);
  d.kernels = kernelsOf(features, p.model);
  const Chip &chip = p.model.cluster.chip;
  d.memoryBandwidth = chip.memoryBandwidth;
  for (const KernelPoint &k : d.kernels) {
    bool product = k.kernel == KernelClass::Matmul ||
                   k.kernel == KernelClass::GroupedMatmul ||
                   k.kernel == KernelClass::Attention;
    auto same = [&](const auto &peak) { return peak.first == k.type; };
    if (product && none_of(d.peaks, same))
      d.peaks.push_back({k.type, chip.peak(k.type)});
  }
  return d;
}
