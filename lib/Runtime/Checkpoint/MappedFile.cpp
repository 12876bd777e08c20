//===- MappedFile.cpp - a file mapped read-only ---------------------------===//
//
// mmap with plain error texts.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Checkpoint.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::rt {

Expected<std::shared_ptr<const MappedFile>>
MappedFile::open(const std::string &path) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failure("cannot open '", path, "': ", std::strerror(errno));
  struct stat info{};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
    ::close(fd);
    return failure("'", path, "' is not a regular file");
  }
  std::shared_ptr<MappedFile> file(new MappedFile());
  file->name = path;
  file->length = static_cast<uint64_t>(info.st_size);
  if (file->length != 0) {
    void *p = mmap(nullptr, file->length, PROT_READ, MAP_PRIVATE, fd, 0);
    if (p == MAP_FAILED) {
      int error = errno;
      ::close(fd);
      return failure("cannot map '", path, "': ", std::strerror(error));
    }
    file->bytes = static_cast<const char *>(p);
  }
  ::close(fd);
  return std::shared_ptr<const MappedFile>(std::move(file));
}

MappedFile::~MappedFile() {
  if (bytes)
    munmap(const_cast<char *>(bytes), length);
}

} // namespace tessera::rt
