//===- Cluster.cpp - cluster specs and files ------------------------------===//
#include "tessera/Hardware/Cluster.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Units.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

static constexpr int64_t kMostGPUs = 1000000;

int Cluster::domainSize() const {
  return std::max(1, std::min(network.nvlinkDomain, numGPUs()));
}

double Cluster::nicBandwidthPerGPU() const {
  return network.nicBandwidth * network.nicsPerNode / gpusPerNode;
}

std::string Cluster::str() const {
  return chip.name + ":" + std::to_string(nodes) + "x" +
         std::to_string(gpusPerNode);
}

Cluster tessera::makeCluster(const Chip &chip, int nodes, int gpusPerNode) {
  Cluster c;
  c.chip = chip;
  c.nodes = nodes;
  c.gpusPerNode = gpusPerNode;
  c.network.nvlinkDomain = chip.nvlinkBandwidth > 0 ? chip.nvlinkDomain : 1;
  // A board of 8 does not reach into the next server; a rack of 72 does.
  if (c.network.nvlinkDomain <= chip.gpusPerNode)
    c.network.nvlinkDomain = std::min(c.network.nvlinkDomain, gpusPerNode);
  c.network.nicsPerNode = chip.nicsPerNode;
  c.network.nicBandwidth = chip.nicBandwidth;
  return c;
}

static Expected<Cluster> readText(StringRef text, StringRef where) {
  Expected<json::Value> value = parseJson(text, where);
  if (!value)
    return value.takeError();
  Expected<JsonObject> object = JsonObject::get(*value, where);
  if (!object)
    return object.takeError();
  return readCluster(*object);
}

Expected<Cluster> tessera::parseCluster(StringRef spec) {
  if (spec.starts_with("{"))
    return readText(spec, "cluster");
  if (spec.ends_with(".json")) {
    Expected<std::string> text = readFile(spec);
    if (!text)
      return text.takeError();
    return readText(*text, spec);
  }
  auto [name, size] = spec.split(':');
  Expected<Chip> chip = findChip(name);
  if (!chip)
    return chip.takeError();
  auto bad = [&] {
    return makeError("'" + spec +
                     "' is no cluster: write CHIP:NODESxGPUS, like '" +
                     chip->name + ":16x" + Twine(chip->gpusPerNode) + "'");
  };
  if (size.empty())
    return bad();
  size_t x = size.find_first_of("xX");
  int nodes = 0, gpus = 0;
  if (x == StringRef::npos) {
    int total = 0;
    if (size.getAsInteger(10, total) || total < 1)
      return bad();
    gpus = std::min(total, chip->gpusPerNode);
    if (total % gpus)
      return makeError("'" + spec + "': " + Twine(total) +
                       " GPUs do not fill nodes of " + Twine(gpus) +
                       "; write CHIP:NODESxGPUS");
    nodes = total / gpus;
  } else if (size.take_front(x).getAsInteger(10, nodes) ||
             size.drop_front(x + 1).getAsInteger(10, gpus) || nodes < 1 ||
             gpus < 1) {
    return bad();
  }
  if (static_cast<int64_t>(nodes) * gpus > kMostGPUs)
    return makeError("'" + spec + "' has " +
                     Twine(static_cast<int64_t>(nodes) * gpus) +
                     " GPUs; at most " + Twine(kMostGPUs) + " are supported");
  return makeCluster(*chip, nodes, gpus);
}

Expected<Cluster> tessera::readCluster(const JsonObject &o) {
  const json::Value *chipValue = o.raw().get("chip");
  if (!chipValue)
    return makeError(o.location() + ": field 'chip' is missing");
  Chip chip;
  if (chipValue->getAsString()) {
    std::string name;
    if (Error e = o.read("chip", name))
      return e;
    Expected<Chip> found = findChip(name);
    if (!found)
      return makeError(o.location() + ": " + toString(found.takeError()));
    chip = *found;
  } else {
    if (!chipValue->getAsObject())
      return makeError(o.location() +
                       ": field 'chip' should be a name or an object");
    auto child = o.child("chip");
    if (!child)
      return child.takeError();
    Expected<Chip> read = readChip(**child);
    if (!read)
      return read.takeError();
    chip = *read;
  }
  auto count = [&](StringRef key, int &out) -> Error {
    int64_t v = out;
    if (Error e = o.read(key, v))
      return e;
    if (v < 1 || v > 1000000)
      return makeError(o.location() + ": field '" + key +
                       "' should lie between 1 and 1000000, got " + Twine(v));
    out = static_cast<int>(v);
    return Error::success();
  };
  int nodes = 1, gpus = chip.gpusPerNode;
  if (Error e = count("nodes", nodes))
    return e;
  if (Error e = count("gpus_per_node", gpus))
    return e;
  if (int64_t(nodes) * gpus > kMostGPUs)
    return makeError(o.location() + ": 'nodes' times 'gpus_per_node' is " +
                     Twine(int64_t(nodes) * gpus) + " GPUs; at most " +
                     Twine(kMostGPUs) + " are supported");
  Cluster c = makeCluster(chip, nodes, gpus);
  if (Error e = count("nvlink_domain", c.network.nvlinkDomain))
    return e;
  if (Error e = count("nics_per_node", c.network.nicsPerNode))
    return e;
  if (Error e = count("nodes_per_leaf", c.network.nodesPerLeaf))
    return e;
  struct Field {
    const char *name;
    double *value;
    double unit;
    double least, most;
  };
  const Field fields[] = {
      {"nic_gbps", &c.network.nicBandwidth, 1e9, 1e-3, 1e9},
      {"nvlink_latency_us", &c.network.nvlinkLatency, 1e-6, 0, 1e6},
      {"nic_latency_us", &c.network.nicLatency, 1e-6, 0, 1e6},
      {"spine_oversubscription", &c.network.spineOversubscription, 1, 1, 1e6}};
  for (const Field &f : fields) {
    double v = *f.value / f.unit;
    if (Error e = o.read(f.name, v))
      return e;
    if (v < f.least || v > f.most)
      return makeError(o.location() + ": field '" + f.name +
                       "' should lie between " + formatNumber(f.least, 3) +
                       " and " + formatNumber(f.most, 0) + ", got " +
                       formatNumber(v, 3));
    *f.value = v * f.unit;
  }
  if (Error e = o.read("rail_optimized", c.network.railOptimized))
    return e;
  auto efficiencies = o.child("efficiencies");
  if (!efficiencies)
    return efficiencies.takeError();
  if (*efficiencies)
    for (const auto &entry : (*efficiencies)->raw()) {
      StringRef name = entry.first;
      if (Error e = (*efficiencies)->read(name, c.efficiencies[name.str()]))
        return e;
    }
  if (Error e = o.checkAllRead())
    return e;
  return c;
}
