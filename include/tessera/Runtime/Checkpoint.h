//===- Checkpoint.h - safetensors checkpoints -------------------*- C++ -*-===//
//
// Reads checkpoints in the safetensors format, one file or sharded with an
// index, through a memory map. Used by executables, where each rank reads only
// its slice of each tensor, and by the importer, which lists the tensors.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_CHECKPOINT_H
#define TESSERA_RUNTIME_CHECKPOINT_H

#include "tessera/Runtime/DType.h"
#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::rt {

/// A file mapped read-only; unmapped with the last reference.
class MappedFile {
public:
  static Expected<std::shared_ptr<const MappedFile>>
  open(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return name; }
  const char *data() const { return bytes; }
  uint64_t size() const { return length; }

private:
  MappedFile() = default;
  std::string name;
  const char *bytes = nullptr;
  uint64_t length = 0;
};

/// One tensor of a checkpoint.
struct TensorInfo {
  std::string name;
  /// The type as the file spells it ("BF16").
  std::string dtypeName;
  /// Nothing when the file uses a type that this reader does not know.
  std::optional<DType> dtype;
  std::vector<int64_t> shape;
  /// The elements, row-major, little-endian, perhaps not aligned.
  const char *data = nullptr;
  uint64_t bytes = 0;
  std::shared_ptr<const MappedFile> file;

  /// "BF16[4096,1024]"
  std::string describe() const;
};

/// The tensors of one safetensors file after all checks on its header: lengths,
/// JSON, types, shapes, offsets in range, no overlap, no hole, no truncation.
/// Failures name the file, and the tensor where there is one.
Expected<std::vector<TensorInfo>> readSafetensors(const std::string &path);

/// A checkpoint: a `.safetensors` file, an index (`*.safetensors.index.json`)
/// or a folder that holds one of them under the Hugging Face names.
class Checkpoint {
public:
  static Expected<Checkpoint> open(const std::string &path);

  /// The tensors by name.
  const std::map<std::string, TensorInfo> &tensors() const { return table; }
  const TensorInfo *find(const std::string &name) const;
  /// The path that was opened.
  const std::string &path() const { return root; }
  /// The name nearest to `name` by edit distance, to suggest it; empty when
  /// there is none close by.
  std::string nearest(const std::string &name) const;

private:
  std::string root;
  std::map<std::string, TensorInfo> table;
};

/// How a parameter is carved out of a fused checkpoint tensor: reshape the
/// stored tensor to `reshape`, take `index` along `dim`, flatten (row-major)
/// to the parameter's global shape.
struct TensorView {
  std::vector<int64_t> reshape;
  int64_t dim = 0;
  int64_t index = 0;
};

/// An n-dimensional rectangle of the global tensor. Elements past
/// `globalShape` (possible when `size` was padded) are filled with zeros.
struct SliceRequest {
  std::vector<int64_t> globalShape;
  std::vector<int64_t> offset;
  std::vector<int64_t> size;
  std::optional<TensorView> view;
};

/// Fails unless `tensor` can serve `request`: known float type (or the very
/// type `dst`), matching shape, legal view. The message names the file and
/// tensor and says expected and got.
Status checkSlice(const TensorInfo &tensor, const SliceRequest &request,
                  DType dst);

/// Reads the rectangle into `out` (row-major, product of `size` elements of
/// type `dst`), touching only the pages that hold it. Checks first.
Status readSlice(const TensorInfo &tensor, const SliceRequest &request,
                 DType dst, void *out);

/// "[2,3]"
std::string shapeToString(const std::vector<int64_t> &shape);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_CHECKPOINT_H
