//===- TesseraLocalOps.td - ops of one rank's program ------*- tablegen -*-===//
//
// Collectives on tensors and ops that exist after partitioning only. Axes are
// named; a group's ranks are ordered by their coordinates along `axes`, the
// first listed slowest.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LOCAL_OPS
#define TESSERA_LOCAL_OPS

include "dialects/Tessera/TesseraBase.td"

/// Cost: the operand read once, the result written once; the communication
/// itself (and the adds of a reduction) belongs to the cost model of the links.
/// Backward is the transposed collective (Korthikanti et al. 2022,
/// arXiv 2205.05198): nothing for an all-reduce (the gradient of the complete
/// value is the gradient of each summand), a reduce-scatter for an all-gather
/// and for a slice an all-gather, and the other way round.
class Tessera_CollectiveOp<string mnemonic> : Tessera_LocalOp<mnemonic> {
  let results = (outs StaticShapeTensorOf<[AnyType]>:$result);
  let hasVerifier = 1;
}

def Tessera_AxisIndexOp : Tessera_Op<"axis_index", [Pure]> {
  let summary = "this rank's index in the group along the axes";
  let arguments = (ins StrArrayAttr:$axes);
  let results = (outs Index:$result);
  let assemblyFormat = "$axes attr-dict";
  let hasVerifier = 1;
}

def Tessera_ShardOffsetOp : Tessera_Op<"shard_offset", [Pure]> {
  let summary = "first index of this rank's part of a split dimension";
  let description = "`axis_index(axes) * size`, `size` being the local size.";
  let arguments = (ins StrArrayAttr:$axes, I64Attr:$size);
  let results = (outs Index:$result);
  let assemblyFormat = "$axes `size` $size attr-dict";
  let hasVerifier = 1;
}

def Tessera_AllReduceOp : Tessera_CollectiveOp<"all_reduce"> {
  let summary = "sum (or maximum) over a group, known to all its ranks";
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, StrArrayAttr:$axes,
    DefaultValuedAttr<BoolAttr, "false">:$maximum);
  let assemblyFormat = "$x `over` $axes attr-dict `:` type($x) `->` type($result)";
}

def Tessera_AllGatherOp : Tessera_CollectiveOp<"all_gather"> {
  let summary = "the group's parts concatenated along a dimension";
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, StrArrayAttr:$axes, I64Attr:$dim,
    I64Attr:$group_size);
  let assemblyFormat = "$x `over` $axes `dim` $dim `ranks` $group_size attr-dict `:` type($x) `->` type($result)";
}

def Tessera_ReduceScatterOp : Tessera_CollectiveOp<"reduce_scatter"> {
  let summary = "sum over a group, each rank keeping its part of a dimension";
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, StrArrayAttr:$axes, I64Attr:$dim,
    I64Attr:$group_size);
  let assemblyFormat = "$x `over` $axes `dim` $dim `ranks` $group_size attr-dict `:` type($x) `->` type($result)";
}

def Tessera_AllToAllOp : Tessera_CollectiveOp<"all_to_all"> {
  let summary = "splits one dimension over the group, gathers another";
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, StrArrayAttr:$axes,
    I64Attr:$split_dim, I64Attr:$concat_dim, I64Attr:$group_size);
  let assemblyFormat = [{
    $x `over` $axes `split` $split_dim `concat` $concat_dim `ranks` $group_size attr-dict
    `:` type($x) `->` type($result)
  }];
}

def Tessera_SliceOp : Tessera_CollectiveOp<"slice"> {
  let summary = "this rank's part of a dimension; no communication";
  let arguments = (ins StaticShapeTensorOf<[AnyType]>:$x, StrArrayAttr:$axes, I64Attr:$dim,
    I64Attr:$group_size);
  let assemblyFormat = "$x `over` $axes `dim` $dim `ranks` $group_size attr-dict `:` type($x) `->` type($result)";
}

def Tessera_CrossEntropyStatsOp : Tessera_LocalOp<"cross_entropy_stats"> {
  let summary = "one rank's share of a cross-entropy over a split vocabulary";
  let description = [{
    For each token, over this rank's columns `[offset, offset + columns)` that
    are below `vocab`: `stats[b][s] = [max, sum of exp(logit - max), logit of
    the label or 0 where it lies elsewhere]`, f32. Maximum -inf and sum 0 where
    the rank has no column.

    Cost: 4 per logit, all local columns counted (how many are padding depends
    on the rank). Backward 3 per logit and 1 per token, for the pair of
    this op and `cross_entropy_combine`. Saved: logits and labels.
  }];
  let arguments = (ins Tessera_Activation:$logits, Tessera_Tokens:$labels, Index:$offset,
    I64Attr:$vocab);
  let results = (outs Tessera_F32Tensor:$stats);
  let assemblyFormat = [{
    $logits `,` $labels `offset` $offset `vocab` $vocab attr-dict `:`
    type($logits) `,` type($labels) `->` type($stats)
  }];
  let hasVerifier = 1;
}

def Tessera_CrossEntropyCombineOp : Tessera_LocalOp<"cross_entropy_combine"> {
  let summary = "nll from the gathered statistics of all ranks";
  let description = [{
    `stats` is `[batch, sequence, 3 * ranks]`, rank-major. `nll = log(sum of
    s_r * exp(m_r - m)) + m - sum of t_r` with `m` the largest maximum; 0 where
    the label is -100.
    Cost: 6 per rank and token (maximum, subtract, exp, multiply, two adds) and
    3 per token. Backward is counted in `cross_entropy_stats`. Saved: one f32
    per token (log-sum-exp).
  }];
  let arguments = (ins Tessera_F32Tensor:$stats, Tessera_Tokens:$labels);
  let results = (outs Tessera_F32Tensor:$nll);
  let assemblyFormat = "$stats `,` $labels attr-dict `:` type($stats) `,` type($labels) `->` type($nll)";
  let hasVerifier = 1;
}

#endif // TESSERA_LOCAL_OPS
