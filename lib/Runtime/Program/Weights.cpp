//===- Weights.cpp - filling the parameter arena --------------------------===//
//
// One tensor at a time through a host buffer. Random weights come from a
// counter-based generator: SplitMix64 (Steele, Lea, Flood, "Fast splittable
// pseudorandom number generators", 2014) of seed, name and position, through
// Box and Muller's transform (1958).
//
//===----------------------------------------------------------------------===//
#include "Weights.h"
#include "tessera/Runtime/World.h"

#include <cmath>
#include <cstdio>
#include <functional>
#include <unistd.h>

namespace tessera::rt {

namespace {
SliceRequest sliceOf(const Manifest &manifest, const Parameter &p,
                     const std::vector<int64_t> &coords) {
  SliceRequest request = manifest.slice(p, coords);
  request.view = p.view;
  return request;
}

Expected<const TensorInfo *> findTensor(const Checkpoint &checkpoint,
                                        const std::string &name) {
  if (const TensorInfo *tensor = checkpoint.find(name))
    return tensor;
  std::string near = checkpoint.nearest(name);
  return failure("checkpoint '", checkpoint.path(), "' has no tensor '", name,
                 "'", near.empty() ? "" : "; the nearest is '", near,
                 near.empty() ? "" : "'");
}

/// A line on the terminal while much is loaded; silent elsewhere.
class Progress {
public:
  explicit Progress(uint64_t total)
      : total(total), shown(total > (256u << 20) && isatty(STDERR_FILENO)) {
    const World *world = currentWorld();
    shown &= !world || world->rank() == 0;
  }
  ~Progress() {
    if (shown)
      std::fprintf(stderr, "\r\033[K");
  }
  void add(uint64_t bytes) {
    done += bytes;
    if (shown)
      std::fprintf(stderr, "\rweights %3d %%",
                   static_cast<int>(100.0 * static_cast<double>(done) /
                                    static_cast<double>(total)));
  }

private:
  uint64_t total, done = 0;
  bool shown;
};

/// Calls `fill` for each tensor of this rank with a host buffer, and moves the
/// buffer to its place.
Status
forEachTensor(const Manifest &manifest, Device &device, char *params,
              const std::function<Status(const Parameter &, int64_t layer,
                                         std::vector<char> &buffer)> &fill) {
  std::vector<char> buffer;
  Progress progress(manifest.parameterBytes);
  for (const Parameter &p : manifest.parameters)
    for (int64_t i = 0; i < p.layerCount; ++i) {
      progress.add(p.bytes());
      buffer.resize(p.bytes());
      if (Status s = fill(p, i, buffer))
        return s;
      char *to = params + p.offset + static_cast<uint64_t>(i) * p.layerStride;
      if (!buffer.empty())
        if (Status s = device.copyToDevice(to, buffer.data(), buffer.size()))
          return failure("parameter '", p.name, "': ", s.message());
    }
  return Status::success();
}

uint64_t splitMix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t hashName(const std::string &name) { // FNV-1a
  uint64_t hash = 0xcbf29ce484222325u;
  for (unsigned char c : name)
    hash = (hash ^ c) * 0x100000001b3u;
  return hash;
}

/// A sample of the standard normal distribution.
double normalAt(uint64_t key, uint64_t position) {
  uint64_t a = splitMix(key + splitMix(2 * position));
  uint64_t b = splitMix(key + splitMix(2 * position + 1));
  double u = (static_cast<double>(a >> 11) + 0.5) * 0x1p-53; // in (0, 1)
  double v = static_cast<double>(b >> 11) * 0x1p-53;
  return std::sqrt(-2 * std::log(u)) * std::cos(6.283185307179586 * v);
}

void drawSlice(const Parameter &p, const SliceRequest &slice, uint64_t key,
               std::vector<double> &out) {
  const size_t rank = slice.size.size();
  std::vector<int64_t> index(rank, 0);
  for (double &value : out) {
    uint64_t position = 0;
    bool padding = false;
    for (size_t d = 0; d < rank; ++d) {
      int64_t at = slice.offset[d] + index[d];
      padding |= at >= slice.globalShape[d];
      position = position * static_cast<uint64_t>(slice.globalShape[d]) +
                 static_cast<uint64_t>(at);
    }
    if (padding)
      value = 0;
    else
      value = *p.initMean +
              (*p.initStd != 0 ? *p.initStd * normalAt(key, position) : 0.0);
    for (size_t d = rank; d-- > 0;) {
      if (++index[d] < slice.size[d])
        break;
      index[d] = 0;
    }
  }
}
} // namespace

Status checkWeights(const Manifest &manifest, const Checkpoint &checkpoint,
                    const std::vector<int64_t> &coords) {
  for (const Parameter &p : manifest.parameters)
    for (int64_t i = 0; i < p.layerCount; ++i) {
      auto tensor = findTensor(checkpoint, p.tensorName(i));
      if (!tensor)
        return tensor.status();
      if (Status s =
              checkSlice(**tensor, sliceOf(manifest, p, coords), p.dtype))
        return s;
    }
  return Status::success();
}

Status loadWeights(const Manifest &manifest, const Checkpoint &checkpoint,
                   const std::vector<int64_t> &coords, Device &device,
                   char *params) {
  return forEachTensor(
      manifest, device, params,
      [&](const Parameter &p, int64_t i, std::vector<char> &buffer) -> Status {
        auto tensor = findTensor(checkpoint, p.tensorName(i));
        if (!tensor)
          return tensor.status();
        return readSlice(**tensor, sliceOf(manifest, p, coords), p.dtype,
                         buffer.data());
      });
}

Status checkInitialisers(const Manifest &manifest) {
  for (const Parameter &p : manifest.parameters)
    if (!p.initMean || !p.initStd)
      return failure("parameter '", p.name,
                     "' has no initialiser (init_mean and init_std in the "
                     "manifest), so --init cannot draw it; give --weights");
  return Status::success();
}

Status drawWeights(const Manifest &manifest, uint64_t seed,
                   const std::vector<int64_t> &coords, Device &device,
                   char *params) {
  std::vector<double> values;
  return forEachTensor(
      manifest, device, params,
      [&](const Parameter &p, int64_t i, std::vector<char> &buffer) -> Status {
        std::string name = p.tensorName(i);
        if (p.view)
          name += "#" + std::to_string(p.view->index);
        values.resize(p.elements());
        drawSlice(p, manifest.slice(p, coords), splitMix(seed) ^ hashName(name),
                  values);
        convert(DType::F64, values.data(), p.dtype, buffer.data(),
                values.size());
        return Status::success();
      });
}

Status fillTables(const Manifest &manifest, Device &device, char *params) {
  std::vector<float> values;
  for (const RotaryTable &t : manifest.tables) {
    values.clear();
    for (int64_t position = 0; position < t.positions; ++position)
      for (double frequency : t.invFreq) {
        double angle = static_cast<double>(position) * frequency;
        values.push_back(
            static_cast<float>(std::cos(angle) * t.attentionFactor));
        values.push_back(
            static_cast<float>(std::sin(angle) * t.attentionFactor));
      }
    if (values.empty())
      continue;
    if (Status s =
            device.copyToDevice(params + t.offset, values.data(), t.bytes()))
      return failure("table '", t.name, "': ", s.message());
  }
  return Status::success();
}

} // namespace tessera::rt
