//===- BuildExperts.cpp - experts and latent attention in the graph -------===//
#include "lib/Import/GraphBuilder.h"

using namespace mlir;
using namespace tessera;

Value GraphBuilder::experts(Value x) {
  const ExpertsConfig &ref = *config.experts;
  int64_t tokens = batch * sequence;
  int64_t capacity = (tokens * ref.topK + ref.experts - 1) / ref.experts;
  auto choices = [&](Type type) {
    return RankedTensorType::get({batch, sequence, ref.topK}, type);
  };
  auto rows = [&](int64_t width) {
    return RankedTensorType::get({ref.experts, capacity, width}, element);
  };
  auto router = RouterOp::create(
      builder, loc(ref.router), choices(builder.getF32Type()),
      choices(builder.getI32Type()), x, read(ref.router),
      ref.routerBias ? read(*ref.routerBias) : Value(), ref.topK,
      *symbolizeRouterScoring(ref.scoring), ref.normalize, APFloat(ref.scale),
      ref.groups, ref.topGroups);
  Value permuted = PermuteOp::create(builder, here(), rows(config.hidden), x,
                                     router.getExperts());
  auto grouped = [&](Value in, const ParameterRef &weight) -> Value {
    return GroupedLinearOp::create(builder, loc(weight), rows(weight.shape[1]),
                                   in, read(weight));
  };
  Value gate = grouped(permuted, ref.gate);
  Value up = grouped(permuted, ref.up);
  Value h = SwigluOp::create(builder, loc(ref.up), up.getType(), gate, up,
                             activationKind());
  Value down = grouped(h, ref.down);
  Value y = CombineOp::create(builder, here(), x.getType(), down,
                              router.getWeights(), router.getExperts());
  if (!ref.sharedUp)
    return y;
  Value shared = gatedMlp(x, *ref.sharedGate, *ref.sharedUp, *ref.sharedDown);
  return AddOp::create(builder, here(), y.getType(), y, shared);
}

Value GraphBuilder::latentAttention(Value x) {
  const LatentConfig &ref = *config.latent;
  Value latentQuery = x;
  if (ref.qDown)
    latentQuery = norm(linear(x, *ref.qDown), *ref.qNorm, /*layerNorm=*/false);
  Value q = linear(latentQuery, ref.q);
  auto parts = SplitOp::create(
      builder, loc(ref.kvDown.weight),
      TypeRange{activation(ref.kvRank), activation(ref.ropeDim)},
      linear(x, ref.kvDown));
  Value kv = linear(norm(parts.getResult(0), ref.kvNorm, /*layerNorm=*/false),
                    ref.kvUp);
  Value a = LatentAttentionOp::create(
      builder, here(), activation(config.heads * ref.valueDim), q, kv,
      parts.getResult(1), rotaryTable, ref.nopeDim, ref.ropeDim, ref.valueDim,
      APFloat(config.attentionScale), /*causal=*/true);
  return linear(a, config.o);
}
