//===- Output.cpp - results of a run --------------------------------------===//
//
// Gathering: each rank's part is copied to its place in the global tensor; a
// place that was already filled (replication) is compared instead.
//
//===----------------------------------------------------------------------===//
#include "Output.h"
#include "Npy.h"
#include "tessera/Runtime/Fatal.h"

#include <cerrno>
#include <cmath>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

namespace tessera::rt {

namespace {
/// Calls `place(local, global)` for each element of a slice.
template <typename F>
void forEachElement(const SliceRequest &slice, F place) {
  const size_t rank = slice.size.size();
  uint64_t count = 1;
  for (int64_t extent : slice.size)
    count *= static_cast<uint64_t>(extent);
  std::vector<int64_t> index(rank, 0);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t g = 0;
    for (size_t d = 0; d < rank; ++d)
      g = g * static_cast<uint64_t>(slice.globalShape[d]) +
          static_cast<uint64_t>(slice.offset[d] + index[d]);
    place(i, g);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < slice.size[d])
        break;
      index[d] = 0;
    }
  }
}

bool sameValue(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

Status gatherOne(const Manifest &manifest, World &world,
                 const ShardedTensor &tensor, const std::vector<float> &local,
                 std::vector<float> &global) {
  std::vector<float> parts(local.size() * static_cast<size_t>(world.size()));
  if (Status s = world.allGather(local.data(), local.size() * sizeof(float),
                                 parts.data()))
    return s;
  uint64_t count = 1;
  for (int64_t extent : tensor.globalShape)
    count *= static_cast<uint64_t>(extent);
  global.assign(count, 0);
  std::vector<int> writer(count, -1);
  int other = -1, rank = -1;
  for (int r = 0; r < world.size(); ++r) {
    const float *part = parts.data() + local.size() * static_cast<size_t>(r);
    forEachElement(manifest.slice(tensor, manifest.coordinates(r)),
                   [&](uint64_t i, uint64_t g) {
                     if (writer[g] < 0) {
                       writer[g] = r;
                       global[g] = part[i];
                     } else if (!sameValue(global[g], part[i]) && rank < 0) {
                       other = writer[g];
                       rank = r;
                     }
                   });
  }
  if (rank >= 0)
    return failure("output '", tensor.name, "' differs between rank ", other,
                   " and rank ", rank, ", which should hold the same part");
  return Status::success();
}

/// A file under a temporary name, removed unless it is committed.
class AtomicFile {
public:
  explicit AtomicFile(const std::string &path)
      : path(path), temporary(path + ".tmp." + std::to_string(getpid())) {
    // Renaming over a device or a pipe would destroy it: write into it.
    struct stat status;
    special = stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) &&
              !S_ISDIR(status.st_mode);
  }
  ~AtomicFile() {
    if (fd >= 0)
      close(fd);
    if (!committed && created)
      unlink(temporary.c_str());
  }
  Status open() {
    if (special) {
      fd = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      return fd < 0 ? error() : Status::success();
    }
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                0644);
    if (fd < 0)
      return error();
    created = true;
    // A process that ends in the middle leaves nothing behind either.
    addFatalHook(
        [name = temporary](const std::string &) { unlink(name.c_str()); });
    return Status::success();
  }
  Status write(const void *data, uint64_t bytes) {
    const char *p = static_cast<const char *>(data);
    while (bytes > 0) {
      ssize_t n = ::write(fd, p, bytes);
      if (n < 0 && errno == EINTR)
        continue;
      if (n <= 0)
        return error();
      p += n;
      bytes -= static_cast<uint64_t>(n);
    }
    return Status::success();
  }
  Status commit() {
    if (fsync(fd) != 0 && errno != EINVAL)
      return error();
    int closing = fd;
    fd = -1;
    if (close(closing) != 0 ||
        (!special && rename(temporary.c_str(), path.c_str()) != 0))
      return error();
    committed = true;
    return Status::success();
  }

private:
  Status error() const {
    return failure("cannot write '", path, "': ", std::strerror(errno));
  }
  std::string path, temporary;
  int fd = -1;
  bool created = false, committed = false, special = false;
};

std::string safetensorsHeader(const std::vector<GlobalOutput> &outputs) {
  nlohmann::ordered_json root;
  uint64_t at = 0;
  for (const GlobalOutput &o : outputs) {
    uint64_t end = at + o.values.size() * sizeof(float);
    root[o.tensor->name] = {{"dtype", "F32"},
                            {"shape", o.tensor->globalShape},
                            {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = root.dump();
  while (text.size() % 8 != 0)
    text += ' ';
  uint64_t length = text.size();
  return std::string(reinterpret_cast<const char *>(&length), 8) + text;
}
} // namespace

Status gatherOutputs(const Manifest &manifest, World &world,
                     const std::vector<std::vector<float>> &local,
                     std::vector<GlobalOutput> &outputs) {
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    GlobalOutput output{&manifest.outputs[i], {}};
    if (Status s =
            gatherOne(manifest, world, *output.tensor, local[i], output.values))
      return s;
    outputs.push_back(std::move(output));
  }
  return Status::success();
}

Status writeOutputs(const std::string &path,
                    const std::vector<GlobalOutput> &outputs) {
  const std::string npy = ".npy";
  bool single = path.size() > npy.size() &&
                path.compare(path.size() - npy.size(), npy.size(), npy) == 0;
  AtomicFile file(path);
  if (Status s = file.open())
    return s;
  if (!single) {
    std::string header = safetensorsHeader(outputs);
    if (Status s = file.write(header.data(), header.size()))
      return s;
  }
  for (const GlobalOutput &o : outputs) {
    if (single && o.tensor->name != "nll")
      continue;
    if (single) {
      std::string header = npyHeaderF32(o.tensor->globalShape);
      if (Status s = file.write(header.data(), header.size()))
        return s;
    }
    if (Status s = file.write(o.values.data(), o.values.size() * sizeof(float)))
      return s;
  }
  return file.commit();
}

} // namespace tessera::rt
