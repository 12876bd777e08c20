//===- Safetensors.cpp - one safetensors file -----------------------------===//
//
// The format (huggingface/safetensors, README "Format"): eight bytes little
// endian with the header's length, the header in JSON (name -> dtype, shape,
// data_offsets, and `__metadata__`), then the data without holes. Everything a
// file can get wrong is checked before a byte of data is handed out.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Checkpoint.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

namespace tessera::rt {

namespace {
using Json = nlohmann::json;

/// The reference implementation's limit on the header (MAX_HEADER_SIZE).
constexpr uint64_t maxHeaderBytes = 100'000'000;

struct Parser {
  const std::string &path;
  std::shared_ptr<const MappedFile> file;
  uint64_t dataBytes = 0;

  Status tensorFailure(const std::string &name, const std::string &what) const {
    return failure("'", path, "': tensor '", name, "': ", what);
  }

  Expected<TensorInfo> parseTensor(const std::string &name, const Json &entry,
                                   uint64_t &begin) const;
};

Expected<TensorInfo> Parser::parseTensor(const std::string &name,
                                         const Json &entry,
                                         uint64_t &begin) const {
  if (!entry.is_object())
    return tensorFailure(name, "expected an object with dtype, shape and "
                               "data_offsets");
  for (const char *key : {"dtype", "shape", "data_offsets"})
    if (!entry.contains(key))
      return tensorFailure(name, std::string("has no '") + key + "'");
  const Json &dtype = entry["dtype"], &shape = entry["shape"],
             &offsets = entry["data_offsets"];
  if (!dtype.is_string())
    return tensorFailure(name, "'dtype' is no string");
  if (!shape.is_array())
    return tensorFailure(name, "'shape' is no array");
  if (!offsets.is_array() || offsets.size() != 2 ||
      !offsets[0].is_number_unsigned() || !offsets[1].is_number_unsigned())
    return tensorFailure(name,
                         "'data_offsets' is no pair of non-negative integers");
  TensorInfo info;
  info.name = name;
  info.dtypeName = dtype.get<std::string>();
  info.dtype = parseSafetensorsDType(info.dtypeName);
  info.file = file;
  uint64_t count = 1;
  for (const Json &dim : shape) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX)
      return tensorFailure(name, "'shape' holds something that is no size");
    uint64_t extent = dim.get<uint64_t>();
    if (__builtin_mul_overflow(count, extent, &count) || count > INT64_MAX / 8)
      return tensorFailure(name, "'shape' describes more elements than memory "
                                 "can hold");
    info.shape.push_back(static_cast<int64_t>(extent));
  }
  begin = offsets[0].get<uint64_t>();
  uint64_t end = offsets[1].get<uint64_t>();
  if (begin > end)
    return tensorFailure(
        name, "data_offsets run backwards: " + std::to_string(begin) + " to " +
                  std::to_string(end));
  if (end > dataBytes)
    return tensorFailure(name, "data ends at byte " + std::to_string(end) +
                                   " but the file holds " +
                                   std::to_string(dataBytes) +
                                   " bytes of data; is it truncated?");
  info.bytes = end - begin;
  if (info.dtype && info.bytes != count * sizeOf(*info.dtype))
    return tensorFailure(name, info.describe() + " needs " +
                                   std::to_string(count * sizeOf(*info.dtype)) +
                                   " bytes, data_offsets give " +
                                   std::to_string(info.bytes));
  info.data = file->data() + (file->size() - dataBytes) + begin;
  return info;
}

Expected<std::vector<TensorInfo>> parseFile(const std::string &path) {
  auto opened = MappedFile::open(path);
  if (!opened)
    return opened.status();
  std::shared_ptr<const MappedFile> file = *opened;
  if (file->size() < 8)
    return failure("'", path, "' is no safetensors file: it has ", file->size(),
                   " bytes, the header's length alone takes 8");
  uint64_t headerBytes = 0;
  for (int i = 7; i >= 0; --i)
    headerBytes = headerBytes << 8 | static_cast<uint8_t>(file->data()[i]);
  if (headerBytes > maxHeaderBytes)
    return failure("'", path, "': header length ", headerBytes,
                   " is over the format's limit of ", maxHeaderBytes,
                   "; is this a safetensors file?");
  if (headerBytes > file->size() - 8)
    return failure("'", path, "': header needs ", headerBytes,
                   " bytes but the file ends after ", file->size() - 8,
                   "; is it truncated?");
  const char *header = file->data() + 8;
  if (headerBytes == 0 || header[0] != '{')
    return failure("'", path, "': header is not a JSON object");

  // nlohmann::json keeps the last of equal keys; the format forbids them.
  std::set<std::string> seen;
  std::string duplicate;
  auto onEvent = [&](int depth, Json::parse_event_t event, Json &value) {
    if (depth == 1 && event == Json::parse_event_t::key &&
        !seen.insert(value.get<std::string>()).second)
      duplicate = value.get<std::string>();
    return true;
  };
  Json root = Json::parse(header, header + headerBytes, onEvent,
                          /*allow_exceptions=*/false);
  if (root.is_discarded() || !root.is_object())
    return failure("'", path, "': header is not valid JSON");
  if (!duplicate.empty())
    return failure("'", path, "': tensor '", duplicate, "' occurs twice");

  Parser parser{path, file, file->size() - 8 - headerBytes};
  struct Placed {
    uint64_t begin;
    TensorInfo info;
  };
  std::vector<Placed> placed;
  for (const auto &[name, entry] : root.items()) {
    if (name == "__metadata__")
      continue;
    uint64_t begin = 0;
    auto info = parser.parseTensor(name, entry, begin);
    if (!info)
      return info.status();
    placed.push_back({begin, std::move(*info)});
  }
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) {
    return std::make_pair(a.begin, a.info.bytes) <
           std::make_pair(b.begin, b.info.bytes);
  });
  uint64_t at = 0;
  std::string previous;
  std::vector<TensorInfo> tensors;
  for (Placed &p : placed) {
    if (p.begin < at)
      return parser.tensorFailure(p.info.name, "its data overlaps tensor '" +
                                                   previous + "'");
    if (p.begin > at)
      return parser.tensorFailure(p.info.name,
                                  "bytes " + std::to_string(at) + " to " +
                                      std::to_string(p.begin) +
                                      " before it belong to no tensor");
    at = p.begin + p.info.bytes;
    tensors.push_back(std::move(p.info));
    previous = tensors.back().name;
  }
  if (at != parser.dataBytes)
    return failure("'", path, "': the header describes ", at,
                   " bytes of data, the file holds ", parser.dataBytes);
  return tensors;
}
} // namespace

std::string shapeToString(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? "," : "") + std::to_string(shape[i]);
  return text + "]";
}

std::string TensorInfo::describe() const {
  return dtypeName + shapeToString(shape);
}

Expected<std::vector<TensorInfo>> readSafetensors(const std::string &path) {
  try {
    return parseFile(path);
  } catch (const std::exception &e) {
    return failure("'", path, "': ", e.what());
  }
}

} // namespace tessera::rt
