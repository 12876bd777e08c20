//===- TesseraBuildLocal.cpp - ops whose local form is more than a clone --===//
//
// A slice of a vocabulary or of a sequence needs the index where it begins;
// a cross-entropy over a split vocabulary becomes statistics of the local
// columns, an all-gather of three numbers a token and their combination
// (Shoeybi et al. 2019, arXiv 1909.08053, section 3).
//
//===----------------------------------------------------------------------===//
#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

using Values = SmallVector<Value>;

static ArrayAttr axisNames(OpBuilder &builder, const AxisList &axes,
                           const Mesh &mesh) {
  SmallVector<StringRef> names;
  for (Axis axis : axes)
    names.push_back(mesh.axes[axis].name);
  return builder.getStrArrayAttr(names);
}

/// First index of this rank's part of a dimension of local size `size`; null
/// where no axis splits it.
static Value shardOffset(OpBuilder &builder, Location loc, const AxisList &axes,
                         const Mesh &mesh, int64_t size) {
  if (axes.empty())
    return {};
  return ShardOffsetOp::create(builder, loc, axisNames(builder, axes, mesh),
                               size);
}

Values EmbeddingOp::buildLocal(OpBuilder &builder, ValueRange operands,
                               TypeRange localResultTypes, const Mesh &mesh,
                               const ShardingRule &rule) {
  Value table = operands[1];
  int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(0);
  Value offset =
      shardOffset(builder, getLoc(), rule.operands[1].dims[0], mesh, rows);
  return {EmbeddingOp::create(builder, getLoc(), localResultTypes[0],
                              operands[0], table, offset)};
}

Values AddPositionsOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                  TypeRange localResultTypes, const Mesh &mesh,
                                  const ShardingRule &rule) {
  Value x = operands[0];
  int64_t sequence = cast<RankedTensorType>(x.getType()).getDimSize(1);
  Value offset =
      shardOffset(builder, getLoc(), rule.operands[0].dims[1], mesh, sequence);
  return {AddPositionsOp::create(builder, getLoc(), localResultTypes[0], x,
                                 operands[1], offset, getFirst())};
}

Values CrossEntropyOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                  TypeRange localResultTypes, const Mesh &mesh,
                                  const ShardingRule &rule) {
  Location loc = getLoc();
  Value logits = operands[0], labels = operands[1];
  const AxisList &axes = rule.operands[0].dims[2];
  if (axes.empty())
    return {CrossEntropyOp::create(builder, loc, localResultTypes[0], logits,
                                   labels, getVocab())};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(logits.getType()).getShape();
  int64_t ranks = mesh.sizeOf(axes);
  auto type = [&](int64_t width) {
    return RankedTensorType::get({shape[0], shape[1], width},
                                 builder.getF32Type());
  };
  Value offset = shardOffset(builder, loc, axes, mesh, shape[2]);
  Value stats = CrossEntropyStatsOp::create(builder, loc, type(3), logits,
                                            labels, offset, getVocab());
  Value all = AllGatherOp::create(builder, loc, type(3 * ranks), stats,
                                  axisNames(builder, axes, mesh), 2, ranks);
  return {CrossEntropyCombineOp::create(builder, loc, localResultTypes[0], all,
                                        labels)};
}
