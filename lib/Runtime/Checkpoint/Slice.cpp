//===- Slice.cpp - one rank's rectangle of a checkpoint tensor ------------===//
//
// Walks the rectangle in runs along its last dimension. A view (one index along
// one dimension of a reshaped tensor) maps a row-major position g of the
// parameter to the stored position
//   (g / inner) * extent * inner + index * inner + g % inner,
// where `inner` is the product of the dimensions after `dim`.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Checkpoint.h"

#include <algorithm>
#include <numeric>

namespace tessera::rt {

namespace {
/// The product; -1 when it overflows or a size is negative.
int64_t product(const std::vector<int64_t> &shape) {
  int64_t p = 1;
  for (int64_t extent : shape)
    if (extent < 0 || __builtin_mul_overflow(p, extent, &p))
      return -1;
  return p;
}

Status tensorFailure(const TensorInfo &tensor, const std::string &what) {
  return failure("'", tensor.file ? tensor.file->path() : std::string("?"),
                 "': tensor '", tensor.name, "': ", what);
}

/// Where the elements of the parameter lie in the stored tensor.
struct Mapping {
  int64_t inner = 0; ///< 0: the parameter is the stored tensor
  int64_t extent = 1;
  int64_t index = 0;

  int64_t stored(int64_t g) const {
    if (inner == 0)
      return g;
    return (g / inner) * extent * inner + index * inner + g % inner;
  }
  /// How many elements from `g` on lie next to each other.
  int64_t contiguous(int64_t g) const {
    return inner == 0 ? INT64_MAX : inner - g % inner;
  }
};

Mapping mappingOf(const SliceRequest &request) {
  Mapping m;
  if (request.view) {
    const TensorView &v = *request.view;
    m.extent = v.reshape[v.dim];
    m.index = v.index;
    m.inner = 1;
    for (size_t i = v.dim + 1; i < v.reshape.size(); ++i)
      m.inner *= v.reshape[i];
  }
  return m;
}
} // namespace

Status checkSlice(const TensorInfo &tensor, const SliceRequest &request,
                  DType dst) {
  if (!tensor.dtype)
    return tensorFailure(tensor, "has type " + tensor.dtypeName +
                                     ", expected F32, F16, BF16 or F64");
  if (*tensor.dtype != dst && !(isFloat(*tensor.dtype) && isFloat(dst)))
    return tensorFailure(tensor, "has type " + tensor.dtypeName +
                                     ", which cannot become " + nameOf(dst) +
                                     "; expected F32, F16, BF16 or F64");
  int64_t wanted = product(request.globalShape);
  if (wanted < 0)
    return tensorFailure(tensor, "the program's shape " +
                                     shapeToString(request.globalShape) +
                                     " is illegal");
  if (request.view) {
    const TensorView &v = *request.view;
    if (v.dim < 0 || v.dim >= int64_t(v.reshape.size()) || v.index < 0 ||
        v.index >= v.reshape[v.dim])
      return tensorFailure(
          tensor, "the program's view takes index " + std::to_string(v.index) +
                      " along dimension " + std::to_string(v.dim) + " of " +
                      shapeToString(v.reshape));
    int64_t whole = product(v.reshape);
    if (whole != product(tensor.shape))
      return tensorFailure(tensor, "expected a tensor that reshapes to " +
                                       shapeToString(v.reshape) + ", got " +
                                       shapeToString(tensor.shape));
    if (whole / v.reshape[v.dim] != wanted)
      return tensorFailure(tensor, "a part of " + shapeToString(v.reshape) +
                                       " does not flatten to " +
                                       shapeToString(request.globalShape));
  } else if (tensor.shape != request.globalShape) {
    return tensorFailure(tensor, "expected shape " +
                                     shapeToString(request.globalShape) +
                                     ", got " + shapeToString(tensor.shape));
  }
  size_t rank = request.globalShape.size();
  if (request.offset.size() != rank || request.size.size() != rank ||
      product(request.size) < 0)
    return tensorFailure(tensor, "slice " + shapeToString(request.size) +
                                     " at " + shapeToString(request.offset) +
                                     " does not fit shape " +
                                     shapeToString(request.globalShape));
  for (int64_t o : request.offset)
    if (o < 0)
      return tensorFailure(tensor, "slice at negative offset " +
                                       shapeToString(request.offset));
  return Status::success();
}

Status readSlice(const TensorInfo &tensor, const SliceRequest &request,
                 DType dst, void *out) {
  if (Status s = checkSlice(tensor, request, dst))
    return s;
  const int64_t count = product(request.size);
  const size_t dstBytes = sizeOf(dst), srcBytes = sizeOf(*tensor.dtype);
  if (count == 0)
    return Status::success();
  char *to = static_cast<char *>(out);
  const Mapping mapping = mappingOf(request);
  const size_t rank = request.globalShape.size();

  auto copy = [&](int64_t g, int64_t at, int64_t n) {
    while (n > 0) {
      int64_t run = std::min(n, mapping.contiguous(g));
      const char *from = tensor.data + mapping.stored(g) * srcBytes;
      if (*tensor.dtype == dst)
        std::memcpy(to + at * dstBytes, from, run * dstBytes);
      else
        convert(*tensor.dtype, from, dst, to + at * dstBytes, run);
      g += run;
      at += run;
      n -= run;
    }
  };
  if (rank == 0) {
    copy(0, 0, 1);
    return Status::success();
  }

  const int64_t row = request.size[rank - 1];
  const int64_t begin = request.offset[rank - 1];
  const int64_t inside = std::max<int64_t>(
      0, std::min(row, request.globalShape[rank - 1] - begin));
  std::vector<int64_t> index(rank - 1, 0);
  for (int64_t at = 0; at < count; at += row) {
    bool padding = inside == 0;
    int64_t g = 0;
    for (size_t d = 0; d + 1 < rank; ++d) {
      int64_t position = request.offset[d] + index[d];
      padding |= position >= request.globalShape[d];
      g = g * request.globalShape[d] + position;
    }
    int64_t real = padding ? 0 : inside;
    if (real > 0)
      copy(g * request.globalShape[rank - 1] + begin, at, real);
    if (real < row)
      std::memset(to + (at + real) * dstBytes, 0, (row - real) * dstBytes);
    for (size_t d = rank - 1; d-- > 0;) {
      if (++index[d] < request.size[d])
        break;
      index[d] = 0;
    }
  }
  return Status::success();
}

} // namespace tessera::rt
