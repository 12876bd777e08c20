//===- Bounds.cpp - lower bounds of time and memory -----------------------===//
//
// Time: a stage works off all its microbatches one after another, so a step
// takes at least the busiest stage's work; the busiest has at least the mean,
// and at least as many layers as an even split gives the fullest. Before stage
// s starts, the first microbatch has passed the first s chunks forward; after
// its last backward pass the last microbatch passes them backward. Then the
// first stage reduces its gradients and runs the optimizer; jitter multiplies
// all.
//
//===----------------------------------------------------------------------===//
#include "Bounds.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>
#include <optional>

using namespace llvm;
using namespace tessera;

int64_t tessera::microBatches(const Layout &l, const Workload &w) {
  return std::max<int64_t>(1, w.globalBatch / (l.dp * l.microBatch));
}

ModelOutline tessera::outlineOf(const ModelFeatures &f) {
  ModelOutline o;
  o.calls.assign(f.calls.begin(), f.calls.end());
  for (const BlockFeatures &b : f.blocks)
    o.blocks.push_back({double(b.denseParameters), double(b.expertParameters)});
  o.boundaryBytes = f.boundaryBytes;
  o.layers = f.numLayers();
  return o;
}

SmallVector<bool, 5> tessera::pinnedBlocks(const ModelFeatures &f) {
  SmallVector<bool, 5> pinned(f.blocks.size(), false);
  for (const BlockCall &call : f.calls)
    if (call.pinned)
      pinned[call.block] = true;
  return pinned;
}

BlockSeconds tessera::relaxedSeconds(const BlockFeatures &block, bool pinned,
                                     const Layout &layout,
                                     const Workload &workload,
                                     const StepModel &given) {
  const StepModel *model = &given;
  Layout relaxed = layout;
  std::optional<StepModel> fused;
  if (layout.zeroStage >= 2) {
    relaxed.zeroStage = 0;
    // Sharded gradients are added up by their shards or not at all.
    if (!model->traits.fusedGradientAccumulation) {
      fused = *model;
      fused->traits.fusedGradientAccumulation = true;
      model = &*fused;
    }
  }
  if (pinned)
    relaxed.recompute = RecomputeKind::None;
  BlockTime t = blockTime(block, relaxed, workload, *model);
  double forward = t.forward.total(), backward = t.backward.total();
  return {forward, backward, t.recompute.total(), forward - t.forward.host,
          backward - t.backward.host};
}

BlockSecondsList tessera::relaxedBlockSeconds(const ModelFeatures &f,
                                              const Layout &layout,
                                              const Workload &workload,
                                              const StepModel &model) {
  SmallVector<bool, 5> pinned = pinnedBlocks(f);
  BlockSecondsList out;
  for (size_t i = 0; i < f.blocks.size(); ++i)
    out.push_back(
        relaxedSeconds(f.blocks[i], pinned[i], layout, workload, model));
  return out;
}

BlockSecondsList tessera::withSharding(const BlockSecondsList &times,
                                       const ModelOutline &f, const Layout &l,
                                       const PlanProblem &p) {
  BlockSecondsList out = times;
  const StepModel &model = p.model;
  const Workload &w = p.workload;
  auto seconds = [&](CollectiveKind kind, double bytes, const GroupShape &g) {
    return collectiveTime(kind, bytes, g, model.cluster, model.chip).seconds;
  };
  double contention = std::min(1.0, model.chip.contention);
  bool gathers = l.zeroStage >= 3;
  for (size_t i = 0; i < f.blocks.size(); ++i) {
    double gather = 0, reduce = 0;
    for (bool expert : {false, true}) {
      double elements = expert ? f.blocks[i].expert : f.blocks[i].dense;
      if (elements == 0)
        continue;
      GroupShape g = expert ? expertReplicaGroup(l, model.cluster)
                            : groupShape(l.shardRanks(), l.tp, model.cluster);
      double gradients = elements * w.gradientCommBytes * w.trainedFraction;
      if (gathers)
        gather +=
            seconds(CollectiveKind::AllGather, elements * w.weightBytes, g);
      reduce += seconds(CollectiveKind::ReduceScatter, gradients, g);
      int replicas = l.shardGroup > 0 ? l.dp / l.shardGroup : 1;
      if (!expert && replicas > 1)
        reduce +=
            seconds(CollectiveKind::AllReduce, gradients / l.shardRanks(),
                    groupShape(replicas, l.tp * l.shardRanks(), model.cluster));
    }
    // A pass takes its device time at least; no more can hide the
    // communication than the device is busy.
    BlockSeconds &t = out[i];
    auto add = [&](double &total, double device, double communication) {
      total = std::max(total,
                       device + exposedTime(communication, device,
                                            model.stack.dpOverlap, contention));
    };
    if (gathers)
      add(t.forward, t.deviceForward, gather);
    add(t.backward, t.deviceBackward, gather + reduce);
  }
  return out;
}

BlockFeatures tessera::innerFloor(BlockFeatures b) {
  llvm::erase_if(b.ops, [](const OpFeature &op) {
    return op.kernel == KernelClass::Gather;
  });
  for (OpFeature &op : b.ops)
    if (op.kernel == KernelClass::Matmul ||
        op.kernel == KernelClass::GroupedMatmul)
      op.backward.bytesRead = op.backward.bytesWritten = 0;
  llvm::erase_if(b.collectives, [](const CollectiveFeature &c) {
    return c.axis == ParallelAxis::EP || c.axis == ParallelAxis::ETP;
  });
  // No pass that adds gradients up.
  b.denseParameters = b.expertParameters = 0;
  return b;
}

MeshWork tessera::meshWork(const ModelOutline &f,
                           const BlockSecondsList &times) {
  MeshWork w;
  w.boundaryBytes = f.boundaryBytes;
  w.cheapestLayer = w.cheapestForward = w.leastDense = w.leastExpert = 1e30;
  for (const BlockCall &call : f.calls) {
    const BlockSeconds &t = times[call.block];
    const ModelOutline::Parameters &b = f.blocks[call.block];
    double both = t.forward + t.backward;
    w.total += call.count * both;
    if (call.pinned) {
      bool begins = w.layers == 0;
      (begins ? w.first : w.head) += call.count * both;
      if (begins)
        w.firstDense += call.count * b.dense;
      continue;
    }
    w.layers += call.count;
    w.cheapestLayer = std::min(w.cheapestLayer, both);
    w.cheapestForward = std::min(w.cheapestForward, t.forward);
    w.dearestLayer = std::max(w.dearestLayer, both);
    w.leastDense = std::min(w.leastDense, b.dense);
    w.leastExpert = std::min(w.leastExpert, b.expert);
  }
  return w;
}

namespace {
/// A pass's sending and receiving: what occupies both ends, and what only
/// delays the next stage.
struct Transfer {
  double occupied = 0, delay = 0;
};
} // namespace

static Transfer transferOf(int64_t boundaryBytes, const Layout &l,
                           const StepModel &model) {
  if (l.pp <= 1)
    return {};
  double transfer = collectiveTime(CollectiveKind::SendRecv, boundaryBytes,
                                   groupOf(ParallelAxis::PP, l, model.cluster),
                                   model.cluster, model.chip)
                        .seconds;
  double hidden = l.overlapPipeline ? std::min(1.0, model.stack.ppOverlap) : 0;
  return {transfer * (1.0 - hidden), transfer * hidden};
}

/// Least seconds between a stage's last backward pass and the step's end: the
/// gradients' reduction and the parameters' gathering, hidden as far as the
/// stack can with compute enough, and the optimizer.
static double tailSeconds(double dense, double expert, const Layout &l,
                          const PlanProblem &p) {
  const Workload &w = p.workload;
  const StepModel &m = p.model;
  double reduce = 0, gather = 0, state = 0;
  for (bool isExpert : {false, true}) {
    double elements = (isExpert ? expert : dense) * w.trainedFraction;
    if (elements == 0)
      continue;
    bool sharded = l.zeroStage >= 1;
    int shards = isExpert ? l.expertReplicas() : l.shardRanks();
    state += sharded ? elements / std::max(1, shards) : elements;
    GroupShape g = isExpert ? expertReplicaGroup(l, m.cluster)
                            : groupOf(ParallelAxis::DP, l, m.cluster);
    if (l.zeroStage < 2)
      reduce +=
          collectiveTime(sharded ? CollectiveKind::ReduceScatter
                                 : CollectiveKind::AllReduce,
                         elements * w.gradientCommBytes, g, m.cluster, m.chip)
              .seconds;
    if (sharded && l.zeroStage < 3)
      gather += collectiveTime(CollectiveKind::AllGather,
                               elements * w.weightBytes, g, m.cluster, m.chip)
                    .seconds;
  }
  auto exposed = [&](double seconds, bool overlap) {
    return exposedTime(seconds, 1e30, overlap ? m.stack.dpOverlap : 0,
                       std::min(1.0, m.chip.contention));
  };
  DeviceModel device{&m.cluster.chip, &m.chip, 1.0};
  return exposed(reduce, l.overlapGradients) +
         exposed(gather, l.overlapParameters) +
         memoryTime(state * (2 * (w.optimizerBytes + w.stepBytes) +
                             w.gradientBytes + w.weightBytes),
                    device);
}

static double withJitter(double seconds, const PlanProblem &p) {
  double nodes = std::max(1.0, double(p.gpus()) /
                                   std::max(1, p.model.cluster.gpusPerNode));
  return seconds * (1.0 + p.model.stack.jitter * std::log2(nodes));
}

/// Does the step take the passes in an order that depends on their times?
static bool mayBeZeroBubble(const PlanProblem &p) {
  bool has = p.framework &&
             (p.framework->schedules & only(ScheduleKind::ZeroBubble)) != 0;
  return has ||
         p.fixed.get(Choice::Schedule) == int64_t(ScheduleKind::ZeroBubble);
}

/// The timeline's share of meshBound.
static double timelineBound(const MeshWork &w, const Layout &l,
                            const PlanProblem &p) {
  double m = double(microBatches(l, p.workload));
  double occupied = transferOf(w.boundaryBytes, l, p.model).occupied;
  bool zeroBubble = mayBeZeroBubble(p);
  // Averaged over the stages, (pp-1)/2 chunks of at least a layer lie before.
  double before = zeroBubble ? w.cheapestForward + occupied
                             : w.cheapestLayer + 2 * occupied;
  // The first chunk may hold the embedding alone where two more chunks than
  // layers go round the stages (evenChunks); it lies before all stages but one.
  bool bare = l.pp > 1 && int64_t(m) % l.pp == 0 &&
              (w.layers + 2) % l.pp == 0 && w.layers + 2 >= 2 * l.pp;
  double mean = m * (w.total / l.pp + 2 * occupied) +
                (l.pp - 1) * (bare ? 0.5 - 1.0 / l.pp : 0.5) * before;
  // Layers are whole. Either a stage has one more than the fullest of an even
  // split, or as many stages as the even split says have that many; the last of
  // them lies behind the others, and if all have, the last has the head too.
  int fullest = (w.layers + l.pp - 1) / l.pp;
  int full = w.layers - l.pp * (fullest - 1);
  double more = m * ((fullest + 1) * w.cheapestLayer + 2 * occupied);
  double even = m * (fullest * w.cheapestLayer + 2 * occupied +
                     (full == l.pp ? w.head : 0)) +
                std::max(0, full - 1 - bare) * before;
  double bound = std::max(mean, std::min(more, even));
  // One chunk on each stage: a stage begins behind the whole work of those
  // before it, w(s) <= (T - w(0) - ... - w(s-1)) / m, so the work of all is at
  // most T (1 - (1 - 1/m)^pp).
  bool virtualStages = int64_t(m) % l.pp == 0 && 2 * l.pp <= w.layers + 2;
  if (l.pp > 1 && !virtualStages && !zeroBubble)
    bound = std::max(bound, (w.total + 2 * occupied * l.pp) /
                                (1.0 - std::pow(1.0 - 1.0 / m, l.pp)));
  return bound;
}

double tessera::meshBound(const MeshWork &w, const Layout &l,
                          const PlanProblem &p) {
  return withJitter(timelineBound(w, l, p), p);
}

double tessera::meshBoundToTheEnd(const MeshWork &w, const Layout &l,
                                  const PlanProblem &p) {
  double timeline = timelineBound(w, l, p);
  auto tail = [&](int layers) {
    return tailSeconds(w.firstDense + layers * w.leastDense,
                       layers * w.leastExpert, l, p);
  };
  if (l.pp == 1)
    return withJitter(timeline + tail(w.layers), p);
  // Either the first stage has `least` layers or more, or the others share what
  // it leaves them.
  double m = double(microBatches(l, p.workload)), bound = timeline;
  int even = w.layers / l.pp;
  for (int least : {even, std::max(1, even * 3 / 4)}) {
    int left = w.layers - (least - 1);
    int others = (left + l.pp - 2) / (l.pp - 1);
    double shared = std::max(
        others * w.cheapestLayer,
        (w.total - w.first - (least - 1) * w.dearestLayer) / (l.pp - 1));
    bound = std::max(bound, std::min(m * shared, timeline + tail(least)));
  }
  return withJitter(bound, p);
}

double tessera::layoutBound(const BlockSecondsList &times,
                            const ModelOutline &f, const Layout &l,
                            const PlanProblem &p) {
  double m = double(microBatches(l, p.workload));
  auto [occupied, delay] = transferOf(f.boundaryBytes, l, p.model);
  int chunks = l.pp * l.vpp;
  SmallVector<double, 32> forward(chunks, occupied), backward(chunks, occupied);
  SmallVector<int, 8> even;
  ArrayRef<int> sizes = l.chunkLayers;
  if (sizes.empty()) {
    even = evenChunks(f.layers, chunks);
    sizes = even;
  }
  double dense = 0, expert = 0; // of the first stage
  auto add = [&](int chunk, int block, double count, double recomputed) {
    const BlockSeconds &t = times[block];
    forward[chunk] += count * t.forward;
    backward[chunk] += count * t.backward + recomputed * t.recompute;
    if (chunk % l.pp == 0) {
      dense += count * f.blocks[block].dense;
      expert += count * f.blocks[block].expert;
    }
  };
  int chunk = 0, room = sizes[0], again = l.recomputedOf(sizes[0]);
  bool seenLayer = false;
  for (const BlockCall &call : f.calls) {
    if (call.pinned) {
      add(seenLayer ? chunks - 1 : 0, call.block, call.count, 0);
      continue;
    }
    seenLayer = true;
    for (int left = call.count; left > 0;) {
      while (room == 0 && chunk + 1 < chunks) {
        room = sizes[++chunk];
        again = l.recomputedOf(room);
      }
      int now = room > 0 ? std::min(room, left) : left;
      int recomputed = std::min(again, now);
      add(chunk, call.block, now, recomputed);
      again -= recomputed;
      room -= now;
      left -= now;
    }
  }
  bool split = l.schedule == ScheduleKind::ZeroBubble;
  double best = 0, before = 0;
  for (int s = 0; s < l.pp; ++s) {
    double work = 0;
    for (int c = s; c < chunks; c += l.pp)
      work += forward[c] + backward[c];
    best = std::max(best, m * work + before);
    before += forward[s] + delay + (split ? 0.0 : backward[s] + delay);
  }
  // The first stage finishes last, so what follows is not hidden by others.
  return withJitter(best + tailSeconds(dense, expert, l, p), p);
}

double tessera::stateBound(const PlanProblem &p, const Layout &l) {
  const ModelShape &s = p.shape;
  const Workload &w = p.workload;
  double sparse = s.experts ? double(s.layers - s.denseLayers) : 0;
  double dense = double(s.layers) * s.attentionParameters() +
                 (double(s.layers) - sparse) * s.denseFfnParameters() +
                 sparse * 3.0 * s.hidden * s.sharedFfn;
  double expert = sparse * 3.0 * s.hidden * double(s.experts) * s.expertFfn;
  // The mean over the stages; the fullest has at least that.
  dense /= double(l.tp) * l.pp;
  expert /= double(l.ep) * l.etp * l.pp;
  double denseShards = l.shardRanks(), expertShards = l.expertReplicas();
  double held = 0, sharded = 0;
  (l.zeroStage >= 1 ? sharded : held) += w.optimizerBytes * w.trainedFraction;
  (l.zeroStage >= 2 ? sharded : held) += w.gradientBytes * w.trainedFraction;
  if (l.zeroStage >= 3)
    sharded += w.shardedWeightBytes;
  else
    held += w.weightBytes;
  double state = dense * (held + sharded / denseShards) +
                 expert * (held + sharded / expertShards);
  // A block's whole gradients and, where they are sharded, the parameters of
  // two; a stage has a layer, and few have dense ones only.
  double block = 0;
  if (l.zeroStage >= 2) {
    double attention = double(s.attentionParameters()) / l.tp;
    double plain = attention + double(s.denseFfnParameters()) / l.tp;
    double routed = attention + 3.0 * s.hidden * s.sharedFfn / l.tp +
                    3.0 * s.hidden * double(s.experts) * s.expertFfn /
                        (double(l.ep) * l.etp);
    double few = std::min<double>(s.denseLayers, l.pp) / l.pp;
    double elements = sparse == 0
                          ? plain
                          : few * std::min(plain, routed) + (1 - few) * routed;
    block = elements * w.wholeShare *
            (w.gradientCommBytes * w.trainedFraction +
             (l.zeroStage >= 3 ? 2 * w.weightBytes : 0));
  }
  // However much is recomputed, a layer on the device keeps its input for one
  // microbatch, and the last stage the logits.
  double tokens = double(l.microBatch) * double(s.sequence) / l.cp;
  double inputs = 2 * tokens / (l.sequenceParallel ? l.tp : 1) *
                  double(s.hidden) *
                  std::max(0.0, double(s.layers) / l.pp - w.offloadedLayers);
  double logits = p.model.traits.lossBytes() * tokens * double(s.vocab / l.tp);
  return (1.0 + w.allocatorReserve) * std::max(state + block + inputs, logits);
}

SmallVector<int, 8> tessera::balancedChunks(const BlockSecondsList &times,
                                            const ModelOutline &f, int chunks) {
  SmallVector<double, 128> layers;
  double first = 0, last = 0;
  for (const BlockCall &call : f.calls) {
    double t = times[call.block].total();
    if (!call.pinned)
      layers.append(call.count, t);
    else
      (layers.empty() ? first : last) += call.count * t;
  }
  int n = static_cast<int>(layers.size());
  // Fills chunks up to `limit` from the front; true if all layers find room.
  // `longest` is then what the fullest chunk takes; else no smaller limit than
  // `next` fills any chunk differently.
  SmallVector<int, 8> sizes(chunks, 0);
  double longest = 0, next = 0;
  auto fill = [&](double limit) {
    int layer = 0;
    longest = 0;
    next = 1e300;
    for (int c = 0; c < chunks; ++c) {
      double t = (c == 0 ? first : 0) + (c == chunks - 1 ? last : 0);
      sizes[c] = 0;
      // One layer at least, and one left for each chunk to come.
      while (layer < n - (chunks - 1 - c)) {
        double more = t + layers[layer];
        if (sizes[c] > 0 && more > limit) {
          next = std::min(next, more);
          break;
        }
        t = more;
        ++layer;
        ++sizes[c];
      }
      longest = std::max(longest, t);
      if (t > limit) {
        next = std::min(next, t);
        return false;
      }
    }
    return layer == n;
  };
  // Between the mean and what the even partition needs; each answer of `fill`
  // moves one end to a limit at which something changes.
  double total = first + last;
  for (double t : layers)
    total += t;
  double low = total / chunks, high = 0;
  SmallVector<int, 8> even = evenChunks(n, chunks);
  for (int c = 0, at = 0; c < chunks; ++c) {
    double t = (c == 0 ? first : 0) + (c == chunks - 1 ? last : 0);
    for (int i = 0; i < even[c]; ++i)
      t += layers[at++];
    high = std::max(high, t);
  }
  high *= 1.0 + 1e-9;
  while (low < high * (1 - 1e-9)) {
    if (fill(0.5 * (low + high)))
      high = longest;
    else
      low = std::max(next, 0.5 * (low + high));
  }
  fill(high * (1 + 1e-12));
  return sizes;
}

ModelFeatures tessera::condensed(const ModelFeatures &f) {
  ModelFeatures out;
  out.calls = f.calls;
  out.boundaryBytes = f.boundaryBytes;
  for (const BlockFeatures &b : f.blocks) {
    BlockFeatures merged;
    merged.denseParameters = b.denseParameters;
    merged.expertParameters = b.expertParameters;
    merged.inputBytes = b.inputBytes;
    merged.transientBytes = b.transientBytes;
    merged.ops.resize(2);
    merged.ops[1].selective = true;
    for (const OpFeature &op : b.ops) {
      merged.ops[op.selective].savedBytes += op.savedBytes;
      merged.ops[op.selective].selectiveBytes += op.selectiveBytes;
    }
    out.blocks.push_back(std::move(merged));
  }
  return out;
}
