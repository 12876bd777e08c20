//===- TestFiles.h - files for the runtime's unit tests ---------*- C++ -*-===//
//
// A temporary folder and a plain writer of safetensors files, written from the
// format's description and apart from the reader under test.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_UNIT_RUNTIME_TESTFILES_H
#define TESSERA_TEST_UNIT_RUNTIME_TESTFILES_H

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace tessera::test {

/// A folder that goes away with the object.
class TempFolder {
public:
  TempFolder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "tessera-test-XXXXXX")
            .string();
    path = mkdtemp(pattern.data());
    owner = getpid();
  }
  ~TempFolder() {
    std::error_code ec;
    if (getpid() == owner)
      std::filesystem::remove_all(path, ec);
  }
  std::string file(const std::string &name) const { return path + "/" + name; }
  std::string write(const std::string &name, const std::string &bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
    return file(name);
  }
  std::string path;

private:
  pid_t owner = 0;
};

/// The bytes of a safetensors file: length, header, data.
inline std::string safetensors(const std::string &header,
                               const std::string &data) {
  std::string out;
  for (int i = 0; i < 8; ++i)
    out.push_back(static_cast<char>(uint64_t(header.size()) >> (8 * i)));
  return out + header + data;
}

template <typename T>
std::string bytesOf(const std::vector<T> &values) {
  return std::string(reinterpret_cast<const char *>(values.data()),
                     values.size() * sizeof(T));
}

} // namespace tessera::test

#endif // TESSERA_TEST_UNIT_RUNTIME_TESTFILES_H
