//===- Manifest.cpp - geometry of a manifest ------------------------------===//
//
// Coordinates, slices and texts.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Manifest.h"

namespace tessera::rt {

uint64_t ShardedTensor::elements() const {
  uint64_t n = 1;
  for (int64_t extent : shape)
    n *= static_cast<uint64_t>(extent);
  return n;
}

std::string Parameter::tensorName(int64_t i) const {
  std::string text = checkpoint, key = "{layer}";
  std::string number = std::to_string(firstLayer + i);
  for (size_t at; (at = text.find(key)) != std::string::npos;)
    text.replace(at, key.size(), number);
  return text;
}

int64_t Manifest::ranks() const {
  int64_t n = 1;
  for (const MeshAxis &axis : mesh)
    n *= axis.size;
  return n;
}

std::string Manifest::meshText() const {
  std::string text;
  for (const MeshAxis &axis : mesh)
    text += (text.empty() ? "" : ", ") + axis.name + "=" +
            std::to_string(axis.size);
  return text.empty() ? "one rank" : text;
}

std::vector<int64_t> Manifest::coordinates(int64_t rank) const {
  std::vector<int64_t> coords(mesh.size());
  for (size_t i = mesh.size(); i-- > 0;) {
    coords[i] = rank % mesh[i].size;
    rank /= mesh[i].size;
  }
  return coords;
}

SliceRequest Manifest::slice(const ShardedTensor &tensor,
                             const std::vector<int64_t> &coords) const {
  SliceRequest request;
  request.globalShape = tensor.globalShape;
  request.size = tensor.shape;
  for (size_t d = 0; d < tensor.shape.size(); ++d) {
    int64_t part = 0;
    for (int axis : tensor.sharding[d])
      part = part * mesh[axis].size + coords[axis];
    request.offset.push_back(part * tensor.shape[d]);
  }
  return request;
}

std::string Manifest::communicatorText(size_t index) const {
  std::string text = "[";
  for (int axis : communicators[index])
    text += (text.size() > 1 ? "," : "") + mesh[axis].name;
  return text + "]";
}

const ShardedTensor *Manifest::findOutput(const std::string &name) const {
  for (const ShardedTensor &output : outputs)
    if (output.name == name)
      return &output;
  return nullptr;
}

} // namespace tessera::rt
