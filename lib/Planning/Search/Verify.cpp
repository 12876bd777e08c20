//===- Verify.cpp - which layouts are legal -------------------------------===//
//
// One rule per way in which a layout can be meaningless, impossible to run or
// outside what the cost model covers. Sources: Megatron-Core's argument checks
// (heads, stages, interleaving, experts), arXiv 1910.02054 (ZeRO), 2309.14509
// (Ulysses), the load-balanced halves of ring attention (Transformer Engine).
//
//===----------------------------------------------------------------------===//
#include "Legal.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace llvm;
using namespace tessera;

namespace {
/// Evaluates rules; texts are only built where someone reads them.
class Rules {
public:
  Rules(const PlanProblem &p, const Layout &l, std::string *why)
      : p(p), s(p.shape), l(l), why(why) {}

  bool all() {
    return sizes() && tensor() && context() && pipeline() && recompute() &&
           batch() && experts() && sharding() && graph();
  }

private:
  template <typename... Parts>
  bool no(Parts &&...parts) {
    if (why)
      ((*why += text(parts)), ...);
    return false;
  }
  static std::string text(StringRef s) { return s.str(); }
  static std::string text(const char *s) { return s; }
  static std::string text(const std::string &s) { return s; }
  static std::string text(int64_t v) { return std::to_string(v); }

  bool sizes() {
    if (l.dp < 1 || l.tp < 1 || l.cp < 1 || l.pp < 1 || l.vpp < 1 || l.ep < 1 ||
        l.etp < 1 || l.microBatch < 1)
      return no("every axis and the microbatch must be at least 1");
    int64_t product = int64_t(l.dp) * l.tp * l.cp * l.pp;
    if (product != p.gpus())
      return no("dp*tp*cp*pp = ", product, ", but the cluster has ", p.gpus(),
                " GPUs");
    return true;
  }

  bool tensor() {
    if (s.heads % l.tp)
      return no("tp=", l.tp, " does not divide the ", s.heads,
                " attention heads");
    if (!s.latent() && s.kvHeads % l.tp && l.tp % s.kvHeads)
      return no("tp=", l.tp, " neither divides the ", s.kvHeads,
                " key-value heads nor is a multiple of them");
    bool dense = !s.experts || s.denseLayers > 0;
    if (dense && s.ffn % l.tp)
      return no("tp=", l.tp, " does not divide the MLP's width of ", s.ffn);
    if (s.sharedFfn % l.tp)
      return no("tp=", l.tp, " does not divide the shared expert's width of ",
                s.sharedFfn);
    if (l.sequenceParallel && l.tp == 1)
      return no("sp needs tp above 1: it splits tokens over the "
                "tensor-parallel ranks");
    if (l.sequenceParallel && (s.sequence / l.cp) % l.tp)
      return no("sp: tp=", l.tp, " does not divide the ", s.sequence / l.cp,
                " tokens of a sequence on one rank");
    if (s.experts && l.tp > 1 && !l.sequenceParallel)
      return no("experts under tp=", l.tp,
                " need sp: each rank routes its own tokens");
    return true;
  }

  bool context() {
    if (l.cp == 1)
      return true;
    if (l.contextKind == ContextKind::Ulysses) {
      if (s.sequence % l.cp)
        return no("cp=", l.cp, " does not divide the sequence of ", s.sequence);
      if ((s.heads / l.tp) % l.cp)
        return no("cp-kind=ulysses: cp=", l.cp, " does not divide the ",
                  s.heads / l.tp, " attention heads of a rank");
      return true;
    }
    if (s.sequence % (2 * int64_t(l.cp)))
      return no(
          "cp=", l.cp,
          " needs a sequence that is a multiple of 2*cp = ", 2 * int64_t(l.cp),
          " (each rank gets an early and a late slice), got ", s.sequence);
    return true;
  }

  bool pipeline() {
    int64_t chunks = int64_t(l.pp) * l.vpp;
    // The embedding may be a chunk of its own, and the head.
    if (chunks > s.layers + 2 || (l.vpp == 1 && l.pp > s.layers))
      return no("pp=", l.pp, " with vpp=", l.vpp, " makes ", chunks,
                " chunks of ", s.layers,
                " layers; all but the first and the last need one");
    if (l.pp == 1 && l.vpp > 1)
      return no("vpp=", l.vpp, " needs pp above 1");
    if (l.pp == 1 && l.schedule == ScheduleKind::ZeroBubble)
      return no("schedule=zero-bubble needs pp above 1");
    bool fits = l.schedule == ScheduleKind::ZeroBubble ||
                (l.schedule == ScheduleKind::Interleaved) == (l.vpp > 1);
    if (!fits)
      return no("schedule=", nameOf(l.schedule),
                " does not go with vpp=", l.vpp,
                ": interleaving is what vpp above 1 means");
    if (l.chunkLayers.empty())
      return true;
    if (int64_t(l.chunkLayers.size()) != chunks)
      return no("the partition lists ", int64_t(l.chunkLayers.size()),
                " chunks, pp*vpp is ", chunks);
    for (size_t c = 1; c + 1 < l.chunkLayers.size(); ++c)
      if (l.chunkLayers[c] < 1)
        return no("chunk ", int64_t(c), " of ", chunks, " has ",
                  l.chunkLayers[c],
                  " layers; all but the first, with the embedding, and the "
                  "last, with the head, need one");
    if (l.chunkLayers.front() < 0 || l.chunkLayers.back() < 0)
      return no("a chunk of less than no layers");
    int64_t sum =
        std::accumulate(l.chunkLayers.begin(), l.chunkLayers.end(), int64_t(0));
    if (sum != s.layers)
      return no("the partition has ", sum, " layers, the model ", s.layers);
    return true;
  }

  bool recompute() {
    if (l.recomputeLayers == 0)
      return true;
    if (l.recomputeLayers < 0)
      return no("recompute-layers must be at least 0, got ", l.recomputeLayers);
    if (l.recompute != RecomputeKind::Full)
      return no("recompute-layers=", l.recomputeLayers,
                " needs recompute=full, got recompute=", nameOf(l.recompute));
    int64_t chunks = int64_t(l.pp) * l.vpp;
    int64_t longest = (s.layers + chunks - 1) / chunks;
    for (int n : l.chunkLayers)
      longest = std::max<int64_t>(longest, n);
    if (l.recomputeLayers >= longest)
      return no("recompute-layers=", l.recomputeLayers, " covers the ", longest,
                " layers of a chunk; recompute=full alone says that");
    return true;
  }

  bool batch() {
    int64_t batch = p.workload.globalBatch, slice = l.dp * l.microBatch;
    if (batch % slice)
      return no("dp=", l.dp, " with mb=", l.microBatch,
                " does not divide the global batch of ", batch);
    if (l.vpp > 1 && (batch / slice) % l.pp)
      return no("schedule=", nameOf(l.schedule), " with vpp=", l.vpp,
                " needs the ", batch / slice,
                " microbatches to be a multiple of pp=", l.pp);
    return true;
  }

  bool experts() {
    if (!s.experts) {
      if (l.ep > 1 || l.etp > 1)
        return no(l.ep > 1 ? "ep=" : "etp=", l.ep > 1 ? l.ep : l.etp,
                  ", but the model has no experts");
      return true;
    }
    if (s.experts % l.ep)
      return no("ep=", l.ep, " does not divide the ", s.experts, " experts");
    if (s.expertFfn % l.etp)
      return no("etp=", l.etp, " does not divide the experts' width of ",
                s.expertFfn);
    int64_t ranks = int64_t(l.dp) * l.cp * l.tp, group = int64_t(l.ep) * l.etp;
    if (ranks % group)
      return no("ep*etp = ", group, " does not divide the dp*cp*tp = ", ranks,
                " ranks of a stage");
    return true;
  }

  bool sharding() {
    if (l.shardGroup == 0)
      return true;
    if (l.zeroStage < 3)
      return no("shard=", l.shardGroup,
                " needs zero=3: lower stages reduce over all of dp");
    if (l.dp % l.shardGroup)
      return no("shard=", l.shardGroup, " does not divide dp=", l.dp);
    return true;
  }

  /// What the partitioner says where it has the last word.
  bool graph() {
    std::string reason;
    return !p.source ||
           p.source->supports(l, s.sequence, why ? &reason : nullptr) ||
           no("the model cannot be split like that: ", reason);
  }

  const PlanProblem &p;
  const ModelShape &s;
  const Layout &l;
  std::string *why;
};
} // namespace

bool tessera::isLegal(const PlanProblem &problem, const Layout &layout,
                      std::string *why) {
  return Rules(problem, layout, why).all();
}

Error PlanProblem::verify(const Layout &layout) const {
  std::string why;
  if (isLegal(*this, layout, &why))
    return Error::success();
  return makeError(why);
}
