//===- Npy.cpp - numpy's .npy files ---------------------------------------===//
//
// The header's dict is searched for its three keys; numpy writes them in one
// form, and anything else is refused.
//
//===----------------------------------------------------------------------===//
#include "Npy.h"

#include <charconv>

namespace tessera::rt {

namespace {
struct DescrRow {
  const char *descr;
  DType type;
};
constexpr DescrRow descrs[] = {
    {"<i4", DType::I32}, {"<i8", DType::I64}, {"<u4", DType::U32},
    {"<u8", DType::U64}, {"<i2", DType::I16}, {"<u2", DType::U16},
    {"|i1", DType::I8},  {"|u1", DType::U8},  {"<f2", DType::F16},
    {"<f4", DType::F32}, {"<f8", DType::F64},
};

/// What follows "'key':" in the dict, without leading spaces.
std::string after(const std::string &dict, const std::string &key) {
  size_t at = dict.find("'" + key + "'");
  if (at == std::string::npos)
    return "";
  at = dict.find(':', at);
  if (at == std::string::npos)
    return "";
  at = dict.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : dict.substr(at);
}

bool parseShape(const std::string &text, std::vector<int64_t> &shape) {
  size_t close = text.find(')');
  if (text.empty() || text[0] != '(' || close == std::string::npos)
    return false;
  for (size_t at = 1; at < close;) {
    if (text[at] == ' ' || text[at] == ',') {
      ++at;
      continue;
    }
    int64_t extent = -1;
    auto r = std::from_chars(text.data() + at, text.data() + close, extent);
    if (r.ec != std::errc() || extent < 0)
      return false;
    shape.push_back(extent);
    at = static_cast<size_t>(r.ptr - text.data());
  }
  return true;
}
} // namespace

Expected<NpyArray> readNpy(const std::string &path) {
  auto opened = MappedFile::open(path);
  if (!opened)
    return opened.status();
  std::shared_ptr<const MappedFile> file = *opened;
  auto bad = [&](const std::string &what) {
    return failure("'", path, "': ", what);
  };
  const auto *bytes = reinterpret_cast<const unsigned char *>(file->data());
  if (file->size() < 10 || std::memcmp(bytes, "\x93NUMPY", 6) != 0)
    return bad("is no .npy file: it does not begin with \\x93NUMPY");
  int major = bytes[6];
  if (major < 1 || major > 3)
    return bad(".npy version " + std::to_string(major) +
               ", expected 1, 2 or 3");
  uint64_t lengthBytes = major == 1 ? 2 : 4, start = 8 + lengthBytes;
  if (file->size() < start)
    return bad("is truncated in its header");
  uint64_t length = 0;
  for (uint64_t i = lengthBytes; i-- > 0;)
    length = length << 8 | bytes[8 + i];
  if (length > file->size() - start)
    return bad("is truncated in its header");
  std::string dict(file->data() + start, length);
  std::string descr = after(dict, "descr"),
              order = after(dict, "fortran_order");
  NpyArray array;
  bool known = false;
  for (const DescrRow &row : descrs)
    if (descr.compare(0, 5, std::string("'") + row.descr + "'") == 0) {
      array.dtype = row.type;
      known = true;
    }
  if (!known)
    return bad("has type " + descr.substr(0, descr.find_first_of(",}")) +
               ", expected little-endian integers or floats like '<i4'");
  if (!parseShape(after(dict, "shape"), array.shape))
    return bad("has no legal 'shape' in its header");
  if (order.rfind("True", 0) == 0 && array.shape.size() > 1)
    return bad("is in Fortran order; save it with "
               "numpy.save(path, numpy.ascontiguousarray(a))");
  if (order.rfind("True", 0) != 0 && order.rfind("False", 0) != 0)
    return bad("has no legal 'fortran_order' in its header");
  uint64_t count = sizeOf(array.dtype);
  for (int64_t extent : array.shape)
    if (__builtin_mul_overflow(count, static_cast<uint64_t>(extent), &count))
      return bad("has a shape too large for memory");
  uint64_t have = file->size() - start - length;
  if (have != count)
    return bad("needs " + std::to_string(count) + " bytes of data for shape " +
               shapeToString(array.shape) + ", has " + std::to_string(have));
  array.data = file->data() + start + length;
  array.file = file;
  return array;
}

std::string npyHeaderF32(const std::vector<int64_t> &shape) {
  std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int64_t extent : shape)
    dict += std::to_string(extent) + (shape.size() == 1 ? "," : ", ");
  if (shape.size() > 1)
    dict.resize(dict.size() - 2);
  dict += "), }";
  // The data start at a multiple of 64.
  while ((10 + dict.size() + 1) % 64 != 0)
    dict += ' ';
  dict += '\n';
  std::string head = "\x93NUMPY";
  head += '\x01';
  head += '\0';
  head += static_cast<char>(dict.size() & 0xff);
  head += static_cast<char>(dict.size() >> 8);
  return head + dict;
}

} // namespace tessera::rt
