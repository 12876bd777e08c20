//===- TesseraRelativeOps.td - relative attention ----------*- tablegen -*-===//
//
// Attention whose scores depend on the distance between query and key
// (Transformer-XL, Dai et al. 2019, arXiv 1901.02860, section 3.3), as Gopher
// and Chinchilla use it. Conventions of the costs: see TesseraGraphOps.td.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RELATIVE_OPS
#define TESSERA_RELATIVE_OPS

include "dialects/Tessera/TesseraBase.td"

def Tessera_SinusoidTableOp : Tessera_GraphOp<"sinusoid_table"> {
  let summary = "sinusoid encodings of distances, a constant of the program";
  let description = [{
    `result[0][t]` encodes the distance `t`: with `f_i = 10000^(-2 i / width)`
    for `i < width / 2`, element `i` is `sin(t f_i)` and element
    `width / 2 + i` is `cos(t f_i)`. Shape `[1, distances, width]`.
    Source: Vaswani et al. 2017, arXiv 1706.03762, section 3.5; halves instead of
    alternating elements as in the code of Dai et al. 2019, arXiv 1901.02860.

    Sharding: whole on every rank. Cost: none, it is filled when the program
    starts. Saved: nothing.
  }];
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tessera_RelativeAttentionOp : Tessera_GraphOp<"relative_attention"> {
  let summary = "causal attention with scores by distance";
  let description = [{
    `q`, `k` and `v` are `[batch, sequence, heads * head_dim]`, `r` holds the
    projected encoding of each distance, `[1, distances, heads * head_dim]` with
    at least `sequence` distances. For each head, query `i` and key `j <= i`

    `score = scale * ((q_i + content_bias) k_j + (q_i + position_bias) r_(i-j))`

    and `result = softmax(score) v`, softmax in f32. The biases are the vectors u
    and v of the paper. Always causal: distances are not negative.
    Source: Dai et al. 2019, arXiv 1901.02860, section 3.3.

    Sharding: whole sequences, widths split at whole heads; keys, values,
    encodings and biases lie as the queries do.
    Cost: with P visible (query, key) pairs over all heads, counted exactly, and
    N elements of the result: three products, 6 P head_dim matrix operations;
    6 P (scale, add, max, subtract, exp, add) and 3 N (two biases, one
    division). Backward: both scores again, and the gradients of probabilities,
    values, keys, encodings and (twice) queries, eight products, 16 P head_dim;
    7 P and 7 N (two biases, the row's sum, the sum of both gradients of q,
    the biases' gradients). Saved: operands, result and one f32 per query and
    head (log-sum-exp). `shape` as in `attention`.
  }];
  let arguments = (ins Tessera_Activation:$q, Tessera_Activation:$k, Tessera_Activation:$v,
    Tessera_Activation:$r, Tessera_Weight:$content_bias, Tessera_Weight:$position_bias,
    I64Attr:$head_dim, F64Attr:$scale);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v `,` $r `biases` $content_bias `,` $position_bias `head_dim` $head_dim
    `scale` $scale attr-dict `:` type($q) `,` type($k) `,` type($v) `,` type($r) `,`
    type($content_bias) `,` type($position_bias) `->` type($result)
  }];
  let hasVerifier = 1;
}

#endif // TESSERA_RELATIVE_OPS
