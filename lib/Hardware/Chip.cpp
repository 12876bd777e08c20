//===- Chip.cpp - looking chips up and reading them from JSON -------------===//
#include "tessera/Hardware/Chip.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>

using namespace llvm;
using namespace tessera;

double tessera::bytesOf(DataType type) {
  switch (type) {
  case DataType::FP32:
  case DataType::TF32:
    return 4;
  case DataType::FP16:
  case DataType::BF16:
    return 2;
  case DataType::FP8:
  case DataType::INT8:
    return 1;
  case DataType::FP4:
    return 0.5;
  }
  llvm_unreachable("data type");
}

StringRef tessera::nameOf(DataType type) {
  switch (type) {
  case DataType::FP32:
    return "fp32";
  case DataType::TF32:
    return "tf32";
  case DataType::FP16:
    return "fp16";
  case DataType::BF16:
    return "bf16";
  case DataType::FP8:
    return "fp8";
  case DataType::FP4:
    return "fp4";
  case DataType::INT8:
    return "int8";
  }
  llvm_unreachable("data type");
}

static constexpr std::pair<StringLiteral, Architecture> architectures[] = {
    {"volta", Architecture::Volta},
    {"ampere", Architecture::Ampere},
    {"ada", Architecture::Ada},
    {"hopper", Architecture::Hopper},
    {"blackwell", Architecture::Blackwell}};

StringRef tessera::nameOf(Architecture architecture) {
  for (auto &[name, value] : architectures)
    if (value == architecture)
      return name;
  llvm_unreachable("architecture");
}

double Chip::peak(DataType type) const {
  auto first = [](std::initializer_list<double> rates) {
    for (double r : rates)
      if (r > 0)
        return r;
    return 0.0;
  };
  switch (type) {
  case DataType::FP32:
    return fp32;
  case DataType::TF32:
    return first({tf32, fp32});
  case DataType::FP16:
    return first({fp16, bf16, fp32});
  case DataType::BF16:
    return first({bf16, fp16, fp32});
  case DataType::FP8:
    return first({fp8, bf16, fp16, fp32});
  case DataType::FP4:
    return first({fp4, fp8, bf16, fp16, fp32});
  case DataType::INT8:
    return first({int8, fp8, bf16, fp16, fp32});
  }
  llvm_unreachable("data type");
}

static std::string normal(StringRef name) {
  std::string s = name.trim().lower();
  std::replace(s.begin(), s.end(), '_', '-');
  std::replace(s.begin(), s.end(), ' ', '-');
  return s;
}

Expected<Chip> tessera::findChip(StringRef name) {
  std::string wanted = normal(name);
  std::vector<StringRef> names;
  for (const Chip &c : builtinChips()) {
    if (c.name == wanted)
      return c;
    names.push_back(c.name);
    for (const std::string &a : c.aliases) {
      if (a == wanted)
        return c;
      names.push_back(a);
    }
  }
  std::string hint = didYouMean(wanted, names);
  return makeError("unknown chip '" + name + "'" +
                   (hint.empty() ? "; NVIDIA's V100 to GB300 are known, others "
                                   "by a cluster file (docs/clusters.md)"
                                 : hint + " ('tessera clusters' lists all)"));
}

void tessera::printChips(raw_ostream &os) {
  using Align = TextTable::Align;
  TextTable t;
  t.column("chip", Align::Left, /*mayShrink=*/false)
      .column("BF16\nTFLOP/s")
      .column("FP8")
      .column("FP4")
      .column("GiB")
      .column("GB/s")
      .column("NVLink\nGB/s")
      .column("domain")
      .column("NICs")
      .column("Gb/s")
      .column("W")
      .column("also", Align::Left);
  auto rate = [](double v, double unit) {
    return v > 0 ? formatNumber(v / unit, 0) : std::string();
  };
  for (const Chip &c : builtinChips()) {
    std::string aliases;
    for (const std::string &a : c.aliases)
      aliases += (aliases.empty() ? "" : ", ") + a;
    t.row({c.name, rate(c.peak(DataType::BF16), 1e12), rate(c.fp8, 1e12),
           rate(c.fp4, 1e12), formatNumber(c.memoryBytes / kGiB, 0),
           rate(c.memoryBandwidth, 1e9), rate(c.nvlinkBandwidth, 1e9),
           c.nvlinkBandwidth > 0 ? std::to_string(c.nvlinkDomain) : "",
           std::to_string(c.nicsPerNode), rate(c.nicBandwidth * 8, 1e9),
           rate(c.powerWatts, 1), aliases});
  }
  t.print(os);
}

namespace {
/// The numbers of a chip, as its JSON names them.
struct RateField {
  const char *name;
  double Chip::*value;
  double unit;
  bool needed;
};
struct CountField {
  const char *name;
  int Chip::*value;
};
} // namespace

static constexpr RateField kRates[] = {
    {"fp32_tflops", &Chip::fp32, 1e12, true},
    {"tf32_tflops", &Chip::tf32, 1e12, false},
    {"fp16_tflops", &Chip::fp16, 1e12, false},
    {"bf16_tflops", &Chip::bf16, 1e12, true},
    {"fp8_tflops", &Chip::fp8, 1e12, false},
    {"fp4_tflops", &Chip::fp4, 1e12, false},
    {"int8_tops", &Chip::int8, 1e12, false},
    {"memory_gib", &Chip::memoryBytes, kGiB, true},
    {"memory_bandwidth_gbps", &Chip::memoryBandwidth, 1e9, true},
    {"l2_mib", &Chip::l2Bytes, kMiB, true},
    {"shared_kib_per_sm", &Chip::sharedBytesPerSM, kKiB, true},
    {"nvlink_gbps", &Chip::nvlinkBandwidth, 1e9, false},
    {"pcie_gbps", &Chip::pcieBandwidth, 1e9, true},
    {"power_watts", &Chip::powerWatts, 1, true},
    {"reference_power_watts", &Chip::referencePowerWatts, 1, false},
    {"nic_gbps", &Chip::nicBandwidth, 1e9, true},
};
static constexpr CountField kCounts[] = {
    {"sms", &Chip::numSMs},
    {"nvlink_domain", &Chip::nvlinkDomain},
    {"gpus_per_node", &Chip::gpusPerNode},
    {"nics_per_node", &Chip::nicsPerNode},
    {"compute_capability", &Chip::computeCapability}};

/// What no chip goes beyond in any of the units above.
static constexpr double kLeastRate = 1e-6, kMostRate = 1e9;

json::Object tessera::toJson(const Chip &chip) {
  json::Object o{{"name", chip.name},
                 {"architecture", nameOf(chip.architecture)},
                 {"nvswitch", chip.nvSwitch},
                 {"nvls", chip.nvls}};
  for (const RateField &f : kRates)
    if (chip.*f.value != 0)
      o[f.name] = chip.*f.value / f.unit;
  for (const CountField &f : kCounts)
    o[f.name] = chip.*f.value;
  return o;
}

Expected<Chip> tessera::readChip(const JsonObject &o) {
  Chip c;
  c.name = "custom";
  std::string base, architecture;
  if (Error e = o.read("base", base))
    return e;
  if (!base.empty()) {
    Expected<Chip> b = findChip(base);
    if (!b)
      return makeError(o.location() + ": " + toString(b.takeError()));
    c = *b;
    c.base = b->name;
    c.aliases.clear();
  }
  if (Error e = o.read("name", c.name))
    return e;
  c.name = printableName(c.name);
  if (c.name.empty())
    return makeError(o.location() + ": field 'name' should not be empty");
  if (Error e = o.read("architecture", architecture))
    return e;
  if (!architecture.empty()) {
    std::vector<StringRef> names;
    bool found = false;
    for (auto &[name, value] : architectures) {
      names.push_back(name);
      if (name == architecture) {
        if (c.architecture != value)
          c.base.clear();
        c.architecture = value;
        found = true;
      }
    }
    if (!found)
      return makeError(o.location() + ": unknown architecture '" +
                       architecture + "'" + didYouMean(architecture, names));
  }
  for (const RateField &f : kRates) {
    // Chips from before bf16 compute in fp16.
    bool needed = f.needed && !(f.value == &Chip::bf16 && c.fp16 > 0);
    if (!o.raw().get(f.name) && needed && base.empty())
      return makeError(o.location() + ": field '" + f.name +
                       "' is missing (or name a built-in chip as \"base\")");
    double v = c.*f.value / f.unit;
    if (Error e = o.read(f.name, v))
      return e;
    if (v < 0 || (needed && v == 0))
      return makeError(o.location() + ": field '" + f.name +
                       "' should be positive, got " + formatNumber(v, 3));
    if (v != 0 && (v < kLeastRate || v > kMostRate))
      return makeError(formatv("{0}: field '{1}' should lie between {2:e0} and "
                               "{3:e0}, got {4:e3}",
                               o.location(), f.name, kLeastRate, kMostRate, v)
                           .str());
    c.*f.value = v * f.unit;
  }
  for (const CountField &f : kCounts) {
    int64_t v = c.*f.value;
    if (v == 0 && !o.raw().get(f.name))
      return makeError(o.location() + ": field '" + f.name +
                       "' is missing (or name a built-in chip as \"base\")");
    if (Error e = o.read(f.name, v))
      return e;
    if (v < 1 || v > 1000000)
      return makeError(o.location() + ": field '" + f.name +
                       "' should lie between 1 and 1000000, got " + Twine(v));
    c.*f.value = static_cast<int>(v);
  }
  if (Error e = o.read("nvswitch", c.nvSwitch))
    return e;
  if (Error e = o.read("nvls", c.nvls))
    return e;
  if (c.referencePowerWatts == 0)
    c.referencePowerWatts = c.powerWatts;
  if (Error e = o.checkAllRead())
    return e;
  return c;
}
