//===- TesseraShardingUtils.cpp - pieces that partition rules share -------===//
#include "dialects/Tessera/TesseraShardingUtils.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tessera;

TensorSharding tessera::complete(TensorSharding x) {
  x.partial.clear();
  x.kind = ReductionKind::Sum;
  return x;
}

AxisList tessera::without(const AxisList &axes, const AxisList &taken) {
  AxisList left;
  for (Axis axis : axes)
    if (!llvm::is_contained(taken, axis))
      left.push_back(axis);
  return left;
}

std::string tessera::axisText(const AxisList &axes, const Mesh &mesh) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(axes, os, [&](Axis a) { os << mesh.axes[a].name; });
  os << '}';
  return text;
}

bool tessera::splitsHeads(int64_t heads, const AxisList &axes, const Mesh &mesh,
                          std::string &why) {
  int64_t ranks = mesh.sizeOf(axes);
  if (heads % ranks == 0)
    return true;
  std::string legal;
  for (int64_t n = 1; n <= heads; ++n)
    if (heads % n == 0)
      legal += (legal.empty() ? "" : ", ") + std::to_string(n);
  why = llvm::formatv("{0} heads cannot be split over {1} ranks along {2}; the "
                      "number of ranks must be one of {3}",
                      heads, ranks, axisText(axes, mesh), legal)
            .str();
  return false;
}
