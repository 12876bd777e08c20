//===- TesseraGraphOps.td - forward ops of dense decoders --*- tablegen -*-===//
//
// Every op's description ends with its cost (see Cost.h) on local shapes.
// Conventions: a comparison, an add, a multiply, a division and one
// transcendental function (exp, log, erf, tanh, reciprocal square root) each
// count as one vector operation; multiply-adds of matrix products as two matrix
// operations. Bytes: each operand is read once and each result written once;
// backward also reads the results' gradients and writes the gradients of the
// operands (gradients have their value's type; a parameter's gradient is
// written, not accumulated). N is the number of elements of the result, T the
// number of tokens (batch * sequence).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_GRAPH_OPS
#define TESSERA_GRAPH_OPS

include "dialects/Tessera/TesseraBase.td"

def Tessera_EmbeddingOp : Tessera_GraphOp<"embedding", [], ["buildLocal"]> {
  let summary = "rows of a table, chosen by token id";
  let description = [{
    `result[b][s] = table[tokens[b][s] - offset]`. Without `offset` ids are
    those of the whole table. With it (one rank's slice of the vocabulary) ids
    outside `[offset, offset + rows)` give zero rows, so that the sum over the
    ranks is the full result.

    Sharding: a table split over rows (it may be padded) gives a partial sum;
    split over width it gives a result split in width.
    Cost: no arithmetic; reads one table row per token. Backward adds N elements
    into rows that are read and written again. Saved: tokens.
  }];
  let arguments = (ins Tessera_Tokens:$tokens, Tessera_Weight:$table,
    Optional<Index>:$offset);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $tokens `,` $table (`offset` $offset^)? attr-dict `:`
    type($tokens) `,` type($table) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tessera_AddPositionsOp : Tessera_GraphOp<"add_positions",
    [AllTypesMatch<["x", "result"]>], ["buildLocal"]> {
  let summary = "adds learned position embeddings";
  let description = [{
    `result[b][s] = x[b][s] + table[s + offset + first]`, `offset` (0 without
    it) being the position of this rank's first row, `first` a constant of the
    model (OPT-style tables).

    Sharding: needs a complete `x`; a split sequence gives the op an offset.
    Cost: N adds; reads `sequence` table rows. Backward: N adds into those rows'
    gradient; the gradient of `x` is that of the result. Saved: nothing.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$table,
    Optional<Index>:$offset, DefaultValuedAttr<I64Attr, "0">:$first);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $x `,` $table (`offset` $offset^)? attr-dict `:` type($x) `,` type($table)
  }];
  let hasVerifier = 1;
}

def Tessera_LinearOp : Tessera_GraphOp<"linear"> {
  let summary = "matrix product with a weight";
  let description = [{
    `result = x * transpose(weight)` for `weight_layout = out_in` (weight
    `[out, in]`), `x * weight` for `in_out` (weight `[in, out]`). `x` is
    `[batch, sequence, in]`; products are accumulated in f32. The result may be
    f32 where `x` is bf16 (logits). A bias is an `add_bias` of its own, which
    the `fuse` phase puts into the product's epilogue.

    Sharding: `out` split gives a result split in width (column parallel);
    `in` split, with `x` split the same way, gives a partial sum (row parallel).
    An axis that the weight uses cannot split `x`'s batch or sequence: there
    `x` is gathered, which is how sequence parallelism becomes an all-gather.
    Source of the names: Shoeybi et al. 2019, arXiv 1909.08053.

    Cost: 2 T out in matrix operations. Backward is two products of that size,
    each reading the result's gradient. Saved: both operands.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$weight,
    DefaultValuedAttr<Tessera_WeightLayoutAttr, "::tessera::WeightLayout::OutIn">:$weight_layout);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$x `,` $weight attr-dict `:` type($x) `,` type($weight) `->` type($result)";
  let hasVerifier = 1;
}

def Tessera_AddBiasOp : Tessera_GraphOp<"add_bias", [AllTypesMatch<["x", "result"]>]> {
  let summary = "adds a vector to every row";
  let description = [{
    `result[b][s][i] = x[b][s][i] + bias[i]`. Needs a complete `x`: after a
    row-parallel `linear` the reduction comes first, so the bias is added once.
    Cost: N adds. Backward: N adds, the gradient of the result summed into the
    bias's; the gradient of `x` is that of the result. Saved: nothing.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$bias);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$x `,` $bias attr-dict `:` type($x) `,` type($bias)";
  let hasVerifier = 1;
}

def Tessera_RMSNormOp : Tessera_GraphOp<"rms_norm", [AllTypesMatch<["x", "result"]>]> {
  let summary = "root-mean-square normalisation";
  let description = [{
    Over each group of `n` consecutive elements of the last dimension, `n`
    being the size of `weight` (the whole width, or a head for query and key
    norms): `result = x / sqrt(mean(x^2) + eps) * weight`, computed in f32.
    Source: Zhang and Sennrich 2019, arXiv 1910.07467.

    Sharding: needs a complete `x`, its width whole or split at whole groups.
    Cost, G groups: 4 N + 3 G (square, add, two multiplies; mean, eps, rsqrt).
    Backward 9 N + 4 G: with r = 1 / rms and g = dy * weight,
    dx = r g - x (r^3 / n) sum(g x), dweight = sum(dy x r). Saved: operands and
    r of each group in f32.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$weight, F64Attr:$eps);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$x `,` $weight `eps` $eps attr-dict `:` type($x) `,` type($weight)";
  let hasVerifier = 1;
}

def Tessera_LayerNormOp : Tessera_GraphOp<"layer_norm", [AllTypesMatch<["x", "result"]>]> {
  let summary = "layer normalisation";
  let description = [{
    `result = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias` over the last
    dimension, variance without correction, computed in f32.
    Source: Ba, Kiros, Hinton 2016, arXiv 1607.06450.

    Sharding: needs a complete `x` whose width is whole.
    Cost, T rows: 6 N + 4 T (add; subtract, square, add; two multiplies; two
    divisions, eps, rsqrt), N more with a bias. Backward 12 N + 2 T, N more with
    a bias: xhat = (x - mean) r, g = dy * weight,
    dx = r (g - mean(g) - xhat mean(g xhat)), dweight = sum(dy xhat),
    dbias = sum(dy). Saved: `x`, weight, mean and r of each row in f32.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_Weight:$weight,
    Optional<Tessera_Weight>:$bias, F64Attr:$eps);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $x `,` $weight (`bias` $bias^ `:` type($bias))? `eps` $eps attr-dict `:` type($x) `,` type($weight)
  }];
  let hasVerifier = 1;
}

def Tessera_RotaryOp : Tessera_GraphOp<"rotary", [AllTypesMatch<["x", "result"]>]> {
  let summary = "rotary position embedding on every head";
  let description = [{
    In each head of `head_dim` elements the first `dim` rotate (the table is
    `[positions, dim / 2, 2]`): element `i < dim / 2` is paired with
    `i + dim / 2` (the "rotate half" convention of GPT-NeoX and Llama), row `s`
    uses table row `s`. Source: Su et al. 2021, arXiv 2104.09864.

    Sharding: needs a complete `x` with a whole sequence, its width split at
    whole heads. Cost: 3 operations per rotating element, forward and (rotating
    back) backward; `sequence` table rows are read. Saved: the table.
  }];
  let arguments = (ins Tessera_Activation:$x, Tessera_F32Tensor:$table, I64Attr:$head_dim);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$x `,` $table `head_dim` $head_dim attr-dict `:` type($x) `,` type($table)";
  let hasVerifier = 1;
}

def Tessera_AttentionOp : Tessera_GraphOp<"attention"> {
  let summary = "scaled dot-product attention, grouped queries allowed";
  let description = [{
    `q` is `[batch, sequence, heads * head_dim]`, `k` and `v` are
    `[batch, sequence, kv_heads * head_dim]`, `heads` a multiple of `kv_heads`;
    query head `h` attends to key-value head `h / (heads / kv_heads)`.
    `softmax(scale * q k^T + mask) v`, softmax in f32. `causal` masks keys after
    the query; `window` w > 0 also those at distance w or more before it
    (Mistral's sliding window: key j is seen by query i when i - w < j <= i).
    No sequence-by-sequence tensor is ever stored (Dao et al. 2022, arXiv 2205.14135).

    Sharding: whole sequences, widths split at whole heads. Keys and values lie
    as the queries do; where there are fewer key-value heads than ranks, `q` is
    split over further, minor axes over which `k` and `v` are replicated, one
    key-value head being left to each rank.
    Cost: with P visible (query, key) pairs of one head, counted exactly under
    `causal` and `window`: 4 P head_dim matrix operations a head,
    5 P (scale, max, subtract, exp, add) and one division per result element.
    Backward (Dao 2023, arXiv 2307.08691, algorithm 2): five products, 10 P head_dim
    a head, 6 P + 2 per result element. Saved: q, k, v, the result and
    one f32 per query and head (log-sum-exp). `shape` is that of one product:
    batch * heads of [sequence, head_dim] by [head_dim, sequence].
  }];
  let arguments = (ins Tessera_Activation:$q, Tessera_Activation:$k, Tessera_Activation:$v,
    I64Attr:$head_dim, F64Attr:$scale, UnitAttr:$causal,
    DefaultValuedAttr<I64Attr, "0">:$window);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = [{
    $q `,` $k `,` $v `head_dim` $head_dim `scale` $scale (`causal` $causal^)? attr-dict
    `:` type($q) `,` type($k) `,` type($v) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Tessera_SwigluOp : Tessera_GraphOp<"swiglu", [AllTypesMatch<["gate", "up", "result"]>]> {
  let summary = "activation(gate) * up";
  let description = [{
    Gated linear unit; SwiGLU with the default `silu`.
    Source: Shazeer 2020, arXiv 2002.05202.

    Cost: (A + 1) N, A being the activation's (see `activation`). Backward
    (A + D + 3) N. Saved: both operands.
  }];
  let arguments = (ins Tessera_Activation:$gate, Tessera_Activation:$up,
    DefaultValuedAttr<Tessera_ActivationAttr, "::tessera::ActivationKind::Silu">:$activation);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$gate `,` $up attr-dict `:` type($result)";
}

def Tessera_ActivationOp : Tessera_GraphOp<"activation", [AllTypesMatch<["x", "result"]>]> {
  let summary = "element-wise activation function";
  let description = [{
    `gelu` is x * Phi(x) with the error function, `gelu_tanh` its tanh
    approximation (`gelu_new`, `gelu_pytorch_tanh`), `silu` x * sigmoid(x),
    `relu` max(x, 0). Source: Hendrycks and Gimpel 2016, arXiv 1606.08415.

    Cost A N with A = gelu 5 (multiply, erf, add, two multiplies), gelu_tanh 9,
    silu 4 (negate, exp, add, divide), relu 1. Backward (D + 1) N, D operations
    for the derivative: gelu 10, gelu_tanh 17, silu 8, relu 1. Saved: `x`.
  }];
  let arguments = (ins Tessera_ActivationAttr:$kind, Tessera_Activation:$x);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$kind $x attr-dict `:` type($x)";
}

def Tessera_AddOp : Tessera_GraphOp<"add", [Commutative, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "residual add";
  let description = [{
    Sharding: where one operand is partial and the other complete, the partial
    one is wanted as the complete one lies, which makes it an all-reduce, or a
    reduce-scatter under sequence parallelism. Two complete operands
    take the finer of their shardings.
    Cost: N adds. Backward costs nothing: both gradients are the result's.
  }];
  let arguments = (ins Tessera_Activation:$lhs, Tessera_Activation:$rhs);
  let results = (outs Tessera_Activation:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Tessera_CrossEntropyOp : Tessera_GraphOp<"cross_entropy", [], ["buildLocal"]> {
  let summary = "negative log-likelihood of each label";
  let description = [{
    `nll[b][s] = logsumexp(logits[b][s]) - logits[b][s][labels[b][s]]`, f32;
    0 where the label is -100. Columns from `vocab` on (padding) do not count.
    Probabilities are never stored. When the vocabulary is split this becomes
    `cross_entropy_stats`, an all-gather of three numbers a token, and
    `cross_entropy_combine`: the logits are never gathered.

    Cost, V counted columns: 4 T V + 3 T (max, subtract, exp, add; log, add,
    subtract). Backward 3 T V + T: dlogits = (exp(logit - lse) - onehot) dnll.
    Saved: operands and one f32 per token (log-sum-exp).
  }];
  let arguments = (ins Tessera_Activation:$logits, Tessera_Tokens:$labels, I64Attr:$vocab);
  let results = (outs Tessera_F32Tensor:$nll);
  let assemblyFormat = [{
    $logits `,` $labels `vocab` $vocab attr-dict `:` type($logits) `,` type($labels) `->` type($nll)
  }];
  let hasVerifier = 1;
}

def Tessera_TokenSumOp : Tessera_GraphOp<"token_sum"> {
  let summary = "sum of nll over counted tokens, and their number";
  let description = [{
    `result = [sum of nll where label != -100, number of such tokens]`, f32;
    a partial sum over the axes that split batch or sequence.
    Cost: 2 T adds. Backward: T. Saved: labels.
  }];
  let arguments = (ins Tessera_F32Tensor:$nll, Tessera_Tokens:$labels);
  let results = (outs Tessera_F32Tensor:$result);
  let assemblyFormat = "$nll `,` $labels attr-dict `:` type($nll) `,` type($labels) `->` type($result)";
  let hasVerifier = 1;
}

def Tessera_TokenMeanOp : Tessera_GraphOp<"token_mean"> {
  let summary = "sum / count of a token_sum";
  let description = [{
    `result = sum[0] / sum[1]`, 0 where no token counts. Needs a complete operand.
    Cost: one division, forward and backward. Saved: the operand.
  }];
  let arguments = (ins Tessera_F32Tensor:$sum);
  let results = (outs Tessera_F32Tensor:$result);
  let assemblyFormat = "$sum attr-dict `:` type($sum) `->` type($result)";
  let hasVerifier = 1;
}

#endif // TESSERA_GRAPH_OPS
