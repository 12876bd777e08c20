//===- Report.cpp - what a run prints -------------------------------------===//
//
// Plain text for people, one JSON object for programs.
//
//===----------------------------------------------------------------------===//
#include "Report.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace tessera::rt {

namespace {
using Json = nlohmann::ordered_json;
using Key = std::tuple<std::string, int, DType, uint64_t>;

std::string callText(const Manifest &manifest, const Key &key) {
  const auto &[op, communicator, dtype, count] = key;
  std::string where = communicator < 0
                          ? std::string("an unnumbered communicator")
                          : "communicator " + std::to_string(communicator) +
                                " " + manifest.communicatorText(communicator);
  return op + " of " + std::to_string(count) + " " + nameOf(dtype) + " on " +
         where;
}

std::string digits(double value, const char *format) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// JSON has no NaN and no infinity.
Json numberOrText(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

uint64_t totalBytes(const std::vector<CollectiveCount> &counts) {
  uint64_t bytes = 0;
  for (const CollectiveCount &c : counts)
    bytes += c.calls * c.bytesPerCall;
  return bytes;
}

Json jsonReport(const Manifest &manifest, const ProgramOptions &options,
                const RunResult &result) {
  Json root;
  root["model"] = manifest.model;
  root["dtype"] = manifest.dtype;
  root["mesh"] = Json::object();
  for (const MeshAxis &axis : manifest.mesh)
    root["mesh"][axis.name] = axis.size;
  root["ranks"] = manifest.ranks();
  root["device"] = result.device;
  root["loss"] = numberOrText(result.loss);
  root["tokens"] = result.tokens;
  root["tokens_counted"] = result.counted;
  root["milliseconds"] = result.milliseconds;
  root["collectives"] = Json::array();
  for (const CollectiveCount &c : result.collectives)
    root["collectives"].push_back(
        {{"op", c.op},
         {"communicator", c.communicator},
         {"axes", manifest.communicatorText(c.communicator)},
         {"dtype", nameOf(c.dtype)},
         {"count", c.count},
         {"calls", c.calls},
         {"bytes_per_call", c.bytesPerCall}});
  root["collective_bytes"] = totalBytes(result.collectives);
  if (!options.output.empty())
    root["output"] = options.output;
  return root;
}
} // namespace

Status compareCollectives(const Manifest &manifest,
                          const std::vector<CollectiveCount> &counted) {
  std::map<Key, std::pair<uint64_t, uint64_t>> calls; // expected, counted
  for (const ExpectedCollective &e : manifest.collectives)
    calls[{e.op, e.communicator, e.dtype, e.count}].first += e.calls;
  for (const CollectiveCount &c : counted)
    calls[{c.op, c.communicator, c.dtype, c.count}].second += c.calls;
  for (const auto &[key, pair] : calls)
    if (pair.first != pair.second)
      return failure("the run's collectives differ from the compiled "
                     "program's: expected ",
                     pair.first, " calls of ", callText(manifest, key),
                     ", counted ", pair.second);
  return Status::success();
}

std::string reportText(const Manifest &manifest, const ProgramOptions &options,
                       const RunResult &result) {
  if (options.json)
    return jsonReport(manifest, options, result).dump(2) + "\n";
  std::ostringstream out;
  out << "loss " << digits(result.loss, "%.9g") << "\n"
      << "tokens " << result.tokens << " (" << result.counted << " counted) on "
      << manifest.ranks() << (manifest.ranks() == 1 ? " rank" : " ranks");
  if (!manifest.mesh.empty())
    out << " (" << manifest.meshText() << ")";
  out << ", " << result.device << "\n";
  if (options.check)
    out << "checked: no race, bad access or missing wait\n";
  if (options.time) {
    const auto &ms = result.milliseconds;
    out << "time " << digits(*std::min_element(ms.begin(), ms.end()), "%.3f")
        << " ms at least, " << digits(median(ms), "%.3f") << " ms in the middle"
        << " of " << ms.size() << (ms.size() == 1 ? " run" : " runs") << "\n";
  }
  if (options.reportCollectives) {
    for (const CollectiveCount &c : result.collectives)
      out << "collective " << c.op << " " << nameOf(c.dtype) << " x " << c.count
          << " on " << manifest.communicatorText(c.communicator) << ": "
          << c.calls << " calls, " << c.calls * c.bytesPerCall << " bytes\n";
    out << "collectives " << totalBytes(result.collectives)
        << " bytes, as compiled\n";
  }
  if (!options.output.empty())
    out << "wrote " << options.output << "\n";
  return out.str();
}

std::string describeText(const Manifest &manifest, bool json) {
  if (json) {
    Json root;
    root["model"] = manifest.model;
    root["dtype"] = manifest.dtype;
    root["weights"] = manifest.weights;
    root["mesh"] = Json::object();
    for (const MeshAxis &axis : manifest.mesh)
      root["mesh"][axis.name] = axis.size;
    root["ranks"] = manifest.ranks();
    root["batch"] = manifest.batch;
    root["sequence"] = manifest.sequence;
    root["vocab"] = manifest.vocab;
    root["parameter_bytes"] = manifest.parameterBytes;
    root["arena_bytes"] = manifest.arenaBytes;
    root["kernels"] = manifest.kernels;
    root["images"] = manifest.images;
    if (const auto &code = manifest.virtualCode)
      root["virtual"] = {{"cpu", code->cpu},
                         {"features", code->features},
                         {"instrumented", code->instrumented}};
    root["collectives"] = Json::array();
    for (const ExpectedCollective &c : manifest.collectives)
      root["collectives"].push_back(
          {{"op", c.op},
           {"communicator", c.communicator},
           {"axes", manifest.communicatorText(c.communicator)},
           {"dtype", nameOf(c.dtype)},
           {"count", c.count},
           {"calls", c.calls}});
    return root.dump(2) + "\n";
  }
  std::ostringstream out;
  out << "model " << manifest.model << ", " << manifest.dtype << "\n"
      << "input " << manifest.batch << " x " << manifest.sequence
      << " tokens, vocabulary " << manifest.vocab << "\n"
      << "ranks " << manifest.ranks() << " (" << manifest.meshText() << ")\n"
      << "memory per rank " << manifest.parameterBytes
      << " bytes of parameters, " << manifest.arenaBytes
      << " bytes of activations\n";
  if (!manifest.weights.empty())
    out << "weights " << manifest.weights << "\n";
  for (const ExpectedCollective &c : manifest.collectives)
    out << "collective "
        << callText(manifest, {c.op, c.communicator, c.dtype, c.count}) << ": "
        << c.calls << " calls\n";
  for (const std::string &image : manifest.images)
    out << "image " << image << "\n";
  if (const auto &code = manifest.virtualCode)
    out << "virtual GPU on CPU " << code->cpu
        << (code->instrumented ? ", instrumented\n" : "\n");
  for (const std::string &kernel : manifest.kernels)
    out << "kernel " << kernel << "\n";
  return out.str();
}

} // namespace tessera::rt
