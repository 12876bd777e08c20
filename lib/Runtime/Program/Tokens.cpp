//===- Tokens.cpp - token files -------------------------------------------===//
//
// A file is a matrix of ids, one row per sequence, or one stream that is cut
// into rows. In a stream the token after a row's last one is the next row's
// first, so it is that row's last label; separate rows have no such label.
//
//===----------------------------------------------------------------------===//
#include "Tokens.h"
#include "Npy.h"

#include <charconv>
#include <type_traits>

namespace tessera::rt {

namespace {
/// Ids as the file has them: rows of equal length, or one stream (rows == 1).
struct Ids {
  std::vector<int64_t> values;
  int64_t rows = 1;
};

/// Elements of an integer tensor or array.
Status widen(const std::string &where, DType type, const char *data,
             uint64_t count, std::vector<int64_t> &out) {
  auto copy = [&](auto sample) {
    for (uint64_t i = 0; i < count; ++i) {
      std::memcpy(&sample, data + i * sizeof sample, sizeof sample);
      if constexpr (std::is_same_v<decltype(sample), uint64_t>)
        if (sample > static_cast<uint64_t>(INT64_MAX))
          return failure(where, ": token ", i, " is ", sample,
                         ", outside any vocabulary");
      out.push_back(static_cast<int64_t>(sample));
    }
    return Status::success();
  };
  switch (type) {
  case DType::I64:
    return copy(int64_t());
  case DType::U64:
    return copy(uint64_t());
  case DType::I32:
    return copy(int32_t());
  case DType::U32:
    return copy(uint32_t());
  case DType::I16:
    return copy(int16_t());
  case DType::U16:
    return copy(uint16_t());
  case DType::U8:
    return copy(uint8_t());
  default:
    return failure(where, " has type ", nameOf(type),
                   ", expected integers (i32 or i64)");
  }
}

Status fromArray(const std::string &where, DType type,
                 const std::vector<int64_t> &shape, const char *data,
                 Ids &ids) {
  if (shape.empty() || shape.size() > 2)
    return failure(where, " has shape ", shapeToString(shape),
                   ", expected one or two dimensions");
  uint64_t count = 1;
  for (int64_t extent : shape)
    count *= static_cast<uint64_t>(extent);
  ids.rows = shape.size() == 2 ? shape[0] : 1;
  return widen(where, type, data, count, ids.values);
}

Status fromSafetensors(const std::string &path, Ids &ids) {
  auto tensors = readSafetensors(path);
  if (!tensors)
    return tensors.status();
  for (const TensorInfo &t : *tensors)
    if (t.name == "tokens") {
      std::string where = "'" + path + "': tensor 'tokens'";
      if (!t.dtype)
        return failure(where, " has type ", t.dtypeName,
                       ", expected I32 or I64");
      return fromArray(where, *t.dtype, t.shape, t.data, ids);
    }
  return failure("'", path, "' has no tensor 'tokens'");
}

Status fromText(const std::string &path, Ids &ids) {
  auto file = MappedFile::open(path);
  if (!file)
    return file.status();
  const char *at = (*file)->data(), *end = at + (*file)->size();
  int64_t line = 1, rows = 0, inRow = 0, width = -1;
  bool even = true;
  auto closeRow = [&] {
    if (inRow == 0)
      return;
    even &= width < 0 || width == inRow;
    width = inRow;
    inRow = 0;
    ++rows;
  };
  while (at < end) {
    if (*at == '\n') {
      closeRow();
      ++line;
      ++at;
    } else if (*at == ' ' || *at == '\t' || *at == '\r') {
      ++at;
    } else {
      int64_t id = 0;
      auto r = std::from_chars(at, end, id);
      bool whole = r.ptr == end || *r.ptr == ' ' || *r.ptr == '\t' ||
                   *r.ptr == '\r' || *r.ptr == '\n';
      if (r.ec != std::errc() || !whole) {
        const char *stop = at;
        while (stop < end && stop < at + 20 && !strchr(" \t\r\n", *stop))
          ++stop;
        return failure("'", path, "', line ", line, ": '",
                       std::string(at, stop), "' is no token id");
      }
      ids.values.push_back(id);
      ++inRow;
      at = r.ptr;
    }
  }
  closeRow();
  ids.rows = even && rows > 0 ? rows : 1;
  return Status::success();
}

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() >= suffix.size() &&
         text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}
} // namespace

Expected<TokenBatch> readTokens(const std::string &path, int64_t batch,
                                int64_t sequence, int64_t vocab) {
  Ids ids;
  bool array = endsWith(path, ".npy") || endsWith(path, ".safetensors");
  Status s;
  if (endsWith(path, ".npy")) {
    auto npy = readNpy(path);
    s = npy ? fromArray("'" + path + "'", npy->dtype, npy->shape, npy->data,
                        ids)
            : npy.status();
  } else if (endsWith(path, ".safetensors")) {
    s = fromSafetensors(path, ids);
  } else {
    s = fromText(path, ids);
  }
  if (s)
    return s;

  const int64_t have = static_cast<int64_t>(ids.values.size());
  const int64_t want = batch * sequence;
  // A text whose lines are not the batch's rows is a stream; an array says
  // itself what it is.
  int64_t width = ids.rows > 0 ? have / ids.rows : 0;
  bool rows = ids.rows == batch && (width == sequence || width == sequence + 1);
  if (!rows && array && ids.rows > 1)
    return failure("'", path, "' holds ", ids.rows, " rows of ", width,
                   " tokens, the program takes ", batch, " rows of ", sequence,
                   " (or ", sequence + 1, ")");
  if (batch == 1)
    rows = false; // the same thing
  if (!rows && have != want && have != want + 1)
    return failure("'", path, "' holds ", have, " tokens, the program takes ",
                   batch, " x ", sequence, " = ", want, " (or ", want + 1,
                   ", with the last label)");
  for (int64_t i = 0; i < have; ++i)
    if (ids.values[i] < 0 || ids.values[i] >= vocab)
      return failure("'", path, "': token ", i, " is ", ids.values[i],
                     ", outside the vocabulary of ", vocab);

  TokenBatch out;
  out.tokens.resize(static_cast<size_t>(want));
  out.labels.assign(static_cast<size_t>(want), noLabel);
  for (int64_t b = 0; b < batch; ++b)
    for (int64_t t = 0; t < sequence; ++t) {
      int64_t from = b * (rows ? width : sequence) + t;
      int64_t limit = rows ? (b + 1) * width : have;
      int64_t to = b * sequence + t;
      out.tokens[to] = static_cast<int32_t>(ids.values[from]);
      if (from + 1 < limit) {
        out.labels[to] = static_cast<int32_t>(ids.values[from + 1]);
        ++out.counted;
      }
    }
  return out;
}

} // namespace tessera::rt
