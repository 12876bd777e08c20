//===- Sharding.cpp - meshes and shardings as values ----------------------===//
#include "tessera/Interfaces/Sharding.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace tessera;
using llvm::ArrayRef;
using llvm::StringRef;

int64_t Mesh::numRanks() const {
  int64_t n = 1;
  for (const MeshAxis &axis : axes)
    n *= axis.size;
  return n;
}

std::optional<Axis> Mesh::lookup(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(axes))
    if (axis.name == name)
      return static_cast<Axis>(i);
  return std::nullopt;
}

int64_t Mesh::sizeOf(ArrayRef<Axis> list) const {
  int64_t n = 1;
  for (Axis axis : list)
    n *= axes[axis].size;
  return n;
}

int64_t Mesh::coordinate(int64_t rank, Axis axis) const {
  for (size_t i = axes.size(); i-- > axis + 1;)
    rank /= axes[i].size;
  return rank % axes[axis].size;
}

TensorSharding TensorSharding::replicated(unsigned rank) {
  TensorSharding sharding;
  sharding.dims.resize(rank);
  return sharding;
}

bool TensorSharding::isReplicated() const {
  return partial.empty() &&
         llvm::all_of(dims, [](const AxisList &dim) { return dim.empty(); });
}

bool TensorSharding::operator==(const TensorSharding &o) const {
  return dims == o.dims && partial == o.partial &&
         (partial.empty() || kind == o.kind);
}

std::string TensorSharding::str(const Mesh &mesh) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto list = [&](const AxisList &axes) {
    os << '{';
    llvm::interleaveComma(axes, os, [&](Axis a) { os << mesh.axes[a].name; });
    os << '}';
  };
  os << '[';
  llvm::interleaveComma(dims, os, list);
  os << ']';
  if (isPartial()) {
    os << " partial " << (kind == ReductionKind::Sum ? "sum " : "max ");
    list(partial);
  }
  return text;
}

std::optional<llvm::SmallVector<int64_t, 4>>
tessera::localShape(ArrayRef<int64_t> global, const TensorSharding &sharding,
                    const Mesh &mesh, uint32_t paddedDims, std::string *why) {
  llvm::SmallVector<int64_t, 4> local(global);
  if (global.size() != sharding.dims.size()) {
    if (why)
      *why = llvm::formatv("sharding has {0} dimensions, the tensor has {1}",
                           sharding.dims.size(), global.size())
                 .str();
    return std::nullopt;
  }
  for (auto [i, axes] : llvm::enumerate(sharding.dims)) {
    int64_t parts = mesh.sizeOf(axes);
    if (parts == 1)
      continue;
    if (local[i] % parts != 0 && !((paddedDims >> i) & 1)) {
      if (why)
        *why = llvm::formatv("dimension {0} of size {1} cannot be split into "
                             "{2} equal parts",
                             i, local[i], parts)
                   .str();
      return std::nullopt;
    }
    local[i] = (local[i] + parts - 1) / parts;
  }
  return local;
}
