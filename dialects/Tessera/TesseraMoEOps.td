//===- TesseraMoEOps.td - experts and latent attention -----*- tablegen -*-===//
//
// Tokens on their way through experts are `[experts, capacity, width]`: the
// rows of one expert lie together, `capacity` is the number of rows that an
// expert gets under balanced routing. Splitting tokens splits `capacity`,
// splitting experts splits dimension 0, so that the exchange of tokens between
// expert-parallel ranks is an ordinary resharding (an all-to-all from dimension
// 1 to dimension 0) and expert tensor parallelism an ordinary partial sum.
// Uneven loads do not change these shapes; the planner's load skew does.
//
// Conventions of the costs: see TesseraGraphOps.td. T is the number of tokens,
// E of experts, K = top_k, R = E * capacity.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_MOE_OPS
#define TESSERA_MOE_OPS

include "dialects/Tessera/TesseraBase.td"

def Tessera_RouterScoring : I32EnumAttr<"RouterScoring", "how logits become scores", [
    I32EnumAttrCase<"Softmax", 0, "softmax">,
    I32EnumAttrCase<"Sigmoid", 1, "sigmoid">]> {
  let cppNamespace = "::tessera";
  let genSpecializedAttr = 0;
}
def Tessera_RouterScoringAttr : EnumAttr<TesseraDialect, Tessera_RouterScoring, "router_scoring">;

def Tessera_RouterOp : Tessera_GraphOp<"router"> {
  let summary = "chooses each token's experts and their weights";
  let description = [{
    `scores = scoring(x * transpose(weight))` in f32; the `top_k` experts of
    each token are those of the largest `scores + bias` (bias: DeepSeek-V3's
    correction, which steers the choice but not the weight), searched in the
    best `top_groups` of `groups` equal groups of experts. Their scores, divided
    by their sum if `normalize`, times `scale`, are the weights.
    Sources: Shazeer et al. 2017, arXiv 1701.06538; Jiang et al. 2024, arXiv
    2401.04088; DeepSeek-AI 2024, arXiv 2412.19437, section 2.1.2.

    Sharding: tokens may be split; the router itself is replicated.
    Cost: 2 T E width matrix operations; 4 T E for the scores, T E K for the
    choice, 2 T K for the weights. Backward: two products of that size and
    3 T E. Saved: x, weight and the weights and indices of the chosen.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$weight,
    Optional<Tessera_F32Tensor>:$bias, I64Attr:$top_k,
    DefaultValuedAttr<Tessera_RouterScoringAttr, "::tessera::RouterScoring::Softmax">:$scoring,
    DefaultValuedAttr<BoolAttr, "true">:$normalize,
    DefaultValuedAttr<F64Attr, "1.0">:$scale,
    DefaultValuedAttr<I64Attr, "1">:$groups,
    DefaultValuedAttr<I64Attr, "1">:$top_groups);
  let results = (outs Tessera_F32Tensor:$weights, Tessera_Tokens:$experts);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^ `:` type($bias))? `top_k` $top_k attr-dict `:`
    type($x) `,` type($weight) `->` type($weights) `,` type($experts)
  }];
  let hasVerifier = 1;
}

def Tessera_PermuteOp : Tessera_GraphOp<"permute"> {
  let summary = "gathers each expert's tokens";
  let description = [{
    Copies every token to each of its experts: `[experts, capacity, width]` with
    `capacity = ceil(T K / experts)`, rows of one expert in token order.

    Sharding: tokens split over batch or sequence split `capacity` the same way.
    Cost: reads T K rows and writes R. Backward reads and writes the same.
    Saved: the indices.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Tokens:$experts);
  let results = (outs Tessera_Activation:$rows);
  let assemblyFormat = "$x `,` $experts attr-dict `:` type($x) `,` type($experts) `->` type($rows)";
  let hasVerifier = 1;
}

def Tessera_GroupedLinearOp : Tessera_GraphOp<"grouped_linear"> {
  let summary = "one matrix product per expert";
  let description = [{
    `result[e] = x[e] * transpose(weight[e])`, weight `[experts, out, in]`,
    accumulated in f32. Source: Gale et al. 2022, arXiv 2211.15841.

    Sharding: experts, `out` and `in` of the weight may be split; `x` follows
    (experts: expert parallelism; out and in: expert tensor parallelism, `in`
    giving a partial sum).
    Cost: 2 R in out matrix operations; backward twice that. Saved: both operands.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$weight);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Tessera_CombineOp : Tessera_GraphOp<"combine"> {
  let summary = "weighted sum of each token's experts";
  let description = [{
    `result[t] = sum over k of weights[t][k] * (row of token t in expert
    experts[t][k])`.

    Sharding: rows go where their tokens are. A partial sum of `rows` is passed
    on: reducing after the combination moves K times less.
    Cost: 2 T K width; reads T K rows, writes T. Backward: 4 T K width, reading
    rows and the result's gradient, writing R rows. Saved: all operands.
  }];
  let arguments = (ins Tessera_Activation:$rows, Tessera_F32Tensor:$weights,
    Tessera_Tokens:$experts);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $rows `,` $weights `,` $experts attr-dict `:` type($rows) `,` type($weights) `,`
    type($experts) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tessera_SplitOp : Tessera_GraphOp<"split"> {
  let summary = "cuts the width into consecutive parts";
  let description = [{
    Results are `x[..., 0:w0]`, `x[..., w0:w0+w1]`, ... with the results' own
    widths. Needs an unsplit width.
    Cost: reads and writes each element once. Saved: nothing.
  }];
  let arguments = (ins Tessera_Activation:$x);
  let results = (outs Variadic<Tessera_Activation>:$parts);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($parts)";
  let hasVerifier = 1;
}

def Tessera_LatentAttentionOp : Tessera_GraphOp<"latent_attention"> {
  let summary = "multi-head latent attention after its up-projections";
  let description = [{
    `q` is `[batch, sequence, heads * (nope_dim + rope_dim)]`, each head's last
    `rope_dim` elements rotated by the table; `kv` is `[batch, sequence, heads *
    (nope_dim + value_dim)]`, each head's key part first; `k_rope`
    `[batch, sequence, rope_dim]` is rotated and shared by all heads. A head's
    key is its key part followed by the shared part. The result is `[batch,
    sequence, heads * value_dim]`; softmax as in `attention`.
    Source: DeepSeek-AI 2024, arXiv 2405.04434, section 2.1.

    Sharding: `q` and `kv` at whole heads, `k_rope` whole, sequence complete.
    Cost, d = nope_dim + rope_dim, P visible query-key pairs over all heads:
    2 P (d + value_dim) matrix operations, 5 P + N for the softmax, 3 T rope_dim
    (heads + 1) for the rotation. Backward: 2 P (3 d + 2 value_dim) and 6 P + 2 N.
    Saved: operands, result and the softmax' logarithmic sum of each row in f32.
  }];
  let arguments = (ins Tessera_Activation:$q, Tessera_Activation:$kv,
    Tessera_Activation:$k_rope, Tessera_F32Tensor:$table, I64Attr:$nope_dim,
    I64Attr:$rope_dim, I64Attr:$value_dim, F64Attr:$scale, UnitAttr:$causal);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $q `,` $kv `,` $k_rope `,` $table `nope_dim` $nope_dim `rope_dim` $rope_dim
    `value_dim` $value_dim `scale` $scale (`causal` $causal^)? attr-dict `:`
    type($q) `,` type($kv) `,` type($k_rope) `,` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_MOE_OPS
