//===- SharedMemory.cpp - segments and waiting between processes ----------===//
//
// shm_open, fcntl record locks and the futex system call.
//
//===----------------------------------------------------------------------===//
#include "SharedMemory.h"

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace tessera::rt {

namespace {
struct flock lockOf(short type, uint64_t byte, uint64_t count) {
  struct flock lock{};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = static_cast<off_t>(byte);
  lock.l_len = static_cast<off_t>(count);
  return lock;
}
} // namespace

Status SharedSegment::open(const std::string &name) {
  fd = shm_open(name.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    return failure("cannot open shared memory '", name,
                   "': ", std::strerror(errno));
  path = name;
  return Status::success();
}

Status SharedSegment::map(uint64_t wanted) {
  struct stat info{};
  if (fstat(fd, &info) != 0)
    return failure("cannot inspect shared memory: ", std::strerror(errno));
  if (static_cast<uint64_t>(info.st_size) < wanted &&
      ftruncate(fd, static_cast<off_t>(wanted)) != 0)
    return failure("cannot size shared memory: ", std::strerror(errno));
  if (int error = posix_fallocate(fd, 0, static_cast<off_t>(wanted)))
    return failure("cannot get ", wanted,
                   " bytes of shared memory: ", std::strerror(error),
                   " (is /dev/shm large enough?)");
  void *p = mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED)
    return failure("cannot map shared memory: ", std::strerror(errno));
  bytes = static_cast<char *>(p);
  length = wanted;
  return Status::success();
}

Status SharedSegment::reset() {
  if (ftruncate(fd, 0) != 0)
    return failure("cannot empty shared memory: ", std::strerror(errno));
  return Status::success();
}

void SharedSegment::close() {
  if (bytes)
    munmap(bytes, length);
  if (fd >= 0)
    ::close(fd);
  bytes = nullptr;
  fd = -1;
}

void SharedSegment::unlink() { shm_unlink(path.c_str()); }

bool SharedSegment::unlinked() const {
  struct stat info{};
  return fstat(fd, &info) != 0 || info.st_nlink == 0;
}

Status SharedSegment::lockExclusive(uint64_t byte) {
  struct flock lock = lockOf(F_WRLCK, byte, 1);
  while (fcntl(fd, F_SETLKW, &lock) != 0)
    if (errno != EINTR)
      return failure("cannot lock shared memory: ", std::strerror(errno));
  return Status::success();
}

Status SharedSegment::unlock(uint64_t byte) {
  struct flock lock = lockOf(F_UNLCK, byte, 1);
  if (fcntl(fd, F_SETLK, &lock) != 0)
    return failure("cannot unlock shared memory: ", std::strerror(errno));
  return Status::success();
}

bool SharedSegment::tryLock(uint64_t byte, bool shared) {
  struct flock lock = lockOf(shared ? F_RDLCK : F_WRLCK, byte, 1);
  return fcntl(fd, F_SETLK, &lock) == 0;
}

int SharedSegment::holder(uint64_t byte, uint64_t count) const {
  struct flock lock = lockOf(F_WRLCK, byte, count);
  if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
    return 0;
  // A holder outside our process namespace has no number here.
  return lock.l_pid > 0 ? lock.l_pid : -1;
}

std::string segmentPrefix() {
  return "tessera." + std::to_string(getuid()) + ".";
}

void removeSegments(const std::string &prefix, bool onlyDead) {
  DIR *folder = opendir("/dev/shm");
  if (!folder)
    return;
  std::vector<std::string> names;
  while (dirent *entry = readdir(folder))
    if (std::string(entry->d_name).rfind(prefix, 0) == 0)
      names.push_back(entry->d_name);
  closedir(folder);
  for (const std::string &name : names) {
    std::string path = "/" + name;
    if (onlyDead) {
      int fd = shm_open(path.c_str(), O_RDWR | O_CLOEXEC, 0);
      if (fd < 0)
        continue;
      struct flock lock = lockOf(F_WRLCK, 0, 0);
      struct stat info{};
      bool alive = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK ||
                   fstat(fd, &info) != 0 || time(nullptr) - info.st_mtime < 60;
      ::close(fd);
      if (alive)
        continue;
    }
    shm_unlink(path.c_str());
  }
}

void notifyShared(std::atomic<uint32_t> &word) {
  word.fetch_add(1, std::memory_order_seq_cst);
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

Status waitShared(std::atomic<uint32_t> &word,
                  const std::function<bool()> &done,
                  const std::function<Status()> &check) {
  using Clock = std::chrono::steady_clock;
  static_assert(sizeof(std::atomic<uint32_t>) == 4, "futex word");
  for (int spin = 0; spin < 64; ++spin) {
    if (done())
      return Status::success();
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  Clock::time_point next = Clock::now() + std::chrono::milliseconds(50);
  for (;;) {
    uint32_t seen = word.load(std::memory_order_seq_cst);
    if (done())
      return Status::success();
    timespec limit{0, 20'000'000};
    syscall(SYS_futex, &word, FUTEX_WAIT, seen, &limit, nullptr, 0);
    if (Clock::now() >= next) {
      if (done())
        return Status::success();
      if (Status s = check())
        return s;
      next = Clock::now() + std::chrono::milliseconds(50);
    }
  }
}

} // namespace tessera::rt
