//===- Machine.cpp - chips and networks as sources name them --------------===//
//
// Cloud machines by their providers' pages: AWS EC2 P3-P6 and G6e, Google Cloud
// A2-A4, Azure ND A100 v4.
//
//===----------------------------------------------------------------------===//
#include "Words.h"
#include "tessera/Support/Error.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>

using namespace llvm;
using namespace tessera;

/// Lower case, '_' and '-' as blanks, without a count in front ("8x H100").
static std::string plain(StringRef text) {
  std::string s = text.trim().lower();
  for (char &c : s)
    if (c == '_' || c == '-')
      c = ' ';
  StringRef rest = s;
  for (int i = 0; i < 2; ++i) {
    StringRef digits = rest.take_while(isDigit);
    StringRef after = rest.drop_front(digits.size()).ltrim();
    bool times = after.consume_front("x") || after.consume_front("*") ||
                 after.consume_front("\xC3\x97");
    if (digits.empty() || !times)
      break;
    rest = after.ltrim();
  }
  return rest.str();
}

/// Whether `word` stands in `text` by itself: "h200" is neither in "gh200" nor
/// in "h2000".
static bool names(StringRef text, StringRef word) {
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    bool before = at > 0 && isAlnum(text[at - 1]);
    bool after =
        end < text.size() && isDigit(text[end]) && isDigit(word.back());
    if (!before && !after)
      return true;
  }
  return false;
}

/// Gigabytes that the text names ("80gb", "80 GiB", "40g", "8x40g"), or 0.
static int gigabytes(StringRef text) {
  for (size_t i = 0; i < text.size(); ++i) {
    bool counted = i > 1 && text[i - 1] == 'x' && isDigit(text[i - 2]);
    if (!isDigit(text[i]) || (i > 0 && isAlnum(text[i - 1]) && !counted))
      continue;
    StringRef digits = text.drop_front(i).take_while(isDigit);
    StringRef unit = text.drop_front(i + digits.size()).ltrim();
    int v = 0;
    if (unit.consume_front("g") && !digits.getAsInteger(10, v)) {
      unit.consume_front("i");
      unit.consume_front("b");
      // "80GBx8" is a size, "600GB/s" is none.
      if (unit.empty() || unit.starts_with("x") ||
          !(isAlnum(unit.front()) || unit.front() == '/'))
        return v;
    }
    i += digits.size();
  }
  return 0;
}

static Expected<Chip> v100Of(StringRef text, int memory) {
  Expected<Chip> c = findChip(memory == 16 ? "v100-16g-sxm" : "v100-32g-sxm");
  // DGX-2: sixteen behind NVSwitch, eight 100 Gb/s ports (NVIDIA DGX-2 data
  // sheet, 2018).
  if (c && (names(text, "dgx 2") || names(text, "dgx 2h"))) {
    c->gpusPerNode = c->nvlinkDomain = 16;
    c->nvSwitch = true;
    c->nicsPerNode = 8;
  }
  return c;
}

Expected<Chip> tessera::chipOf(StringRef name) {
  std::string lower = plain(name);
  StringRef text = lower;
  int memory = gigabytes(text);
  bool pcie = text.contains("pcie"), nvl = names(text, "nvl");
  auto no = [&](const Twine &what) -> Expected<Chip> {
    return makeError("unknown chip '" + name + "': " + what +
                     " is not in the table ('tessera clusters' lists all)");
  };
  auto fits = [&](std::initializer_list<int> sizes) {
    return memory == 0 || llvm::is_contained(sizes, memory);
  };
  std::string size = std::to_string(memory) + " GB";
  for (StringRef family : {"gb300", "gb200", "b300", "b200"})
    if (names(text, family))
      return findChip(family);
  if (names(text, "h200"))
    return nvl || pcie ? no("an H200 as a card") : findChip("h200");
  if (names(text, "h800"))
    return pcie ? no("an H800 as a card") : findChip("h800");
  if (names(text, "h100")) {
    if (text.contains("500w") || (memory == 96 && text.contains("hbm2e")))
      return findChip("h100-500w");
    if (nvl || memory == 94)
      return findChip("h100-nvl");
    if (!fits({80, 96}))
      return no("an H100 of " + size);
    return findChip(pcie ? "h100-pcie" : "h100-sxm");
  }
  if (names(text, "a800"))
    return pcie || !fits({80}) ? no("this A800") : findChip("a800");
  if (names(text, "a100")) {
    if (!fits({40, 80}))
      return no("an A100 of " + size);
    return findChip(std::string("a100-") + (memory == 40 ? "40g" : "80g") +
                    (pcie ? "-pcie" : "-sxm"));
  }
  if (names(text, "v100"))
    return pcie ? no("a V100 as a card") : v100Of(text, memory);
  if (names(text, "l40s"))
    return findChip("l40s");
  if (names(text, "4090") || names(text, "rtx4090"))
    return findChip("rtx-4090");
  static const std::pair<StringLiteral, StringLiteral> machines[] = {
      {"p3.", "v100-16g-sxm"},
      {"p3dn", "v100-32g-sxm"},
      {"p4d.", "a100-40g-sxm"},
      {"p4de", "a100-80g-sxm"},
      {"p5.", "h100-sxm"},
      {"p5e", "h200-sxm"},
      {"p6 b200", "b200-sxm"},
      {"g6e", "l40s"},
      {"a2 highgpu", "a100-40g-sxm"},
      {"a2 megagpu", "a100-40g-sxm"},
      {"a2 ultragpu", "a100-80g-sxm"},
      {"a3 highgpu", "h100-sxm"},
      {"a3 megagpu", "h100-sxm"},
      {"a3 ultragpu", "h200-sxm"},
      {"a4 highgpu", "b200-sxm"},
      {"nd96asr", "a100-40g-sxm"},
      {"nd96amsr", "a100-80g-sxm"}};
  for (auto &[machine, chip] : machines)
    if (text.starts_with(machine) || text.contains((" " + machine).str()))
      return findChip(chip);
  return findChip(name.split('(').first.trim());
}

namespace {
/// A rate in a network's description.
struct Rate {
  double gbit = 0;
  int count = 0; ///< "8x 400 Gb/s": 8; 0 where no count stands before it
};
} // namespace

/// The factor of a unit in Gbit/s, and consumes it; 0 if it is none. "GB" are
/// bytes and "Gb" are bits; in small letters, bits.
static double consumeUnit(StringRef &text) {
  static const std::pair<StringLiteral, double> units[] = {
      {"Tbps", 1000}, {"Tb/s", 1000}, {"Tbit/s", 1000}, {"GBps", 8},
      {"GB/s", 8},    {"Gbps", 1},    {"Gb/s", 1},      {"Gbit/s", 1},
      {"gbps", 1},    {"gb/s", 1},    {"GbE", 1},       {"Gbe", 1},
      {"Gb", 1},      {"GigE", 1}};
  for (auto &[unit, factor] : units)
    if (text.consume_front(unit))
      return factor;
  return 0;
}

static std::vector<Rate> ratesIn(StringRef text) {
  std::vector<Rate> rates;
  int count = 0;
  for (size_t i = 0; i < text.size();) {
    if (!isDigit(text[i])) {
      ++i;
      continue;
    }
    char before = i > 0 ? text[i - 1] : ' ';
    bool times = count > 0 && (before == 'x' || before == 'X'); // "4x400Gb/s"
    bool inWord = isAlpha(before) && !times;                    // "BF3"
    std::string number;
    for (; i < text.size() &&
           (isDigit(text[i]) || text[i] == '.' || text[i] == ',');
         ++i)
      if (text[i] != ',')
        number += text[i];
    StringRef rest = text.drop_front(i).ltrim();
    double v = 0;
    if (inWord || StringRef(number).getAsDouble(v) || !(v > 0) || v > 1e6)
      continue;
    if (rest.starts_with_insensitive("x") || rest.starts_with("*") ||
        rest.starts_with("\xC3\x97")) {
      count = v <= 64 && !StringRef(number).contains('.') ? int(v) : 0;
    } else if (double factor = consumeUnit(rest)) {
      rates.push_back({v * factor, count});
      count = 0;
    } else if (times) {
      count = 0; // "PCIe 4 x16": lanes
    }
  }
  return rates;
}

/// The count that stands before `at`: "2x EDR", "8 x HDR"; 0: none.
static int countBefore(StringRef text, size_t at) {
  StringRef head = text.take_front(at).rtrim();
  if (!head.consume_back("x") && !head.consume_back("*"))
    return 0;
  head = head.rtrim();
  int count = 0;
  StringRef digits =
      head.take_back(head.size() - (head.find_last_not_of("0123456789") + 1));
  return digits.getAsInteger(10, count) ? 0 : std::min(count, 1000);
}

/// InfiniBand's generations (InfiniBand Trade Association roadmap), 4x links.
static Rate generation(StringRef lower) {
  static const std::pair<StringLiteral, double> known[] = {
      {"hdr100", 100}, {"ndr200", 200}, {"xdr", 800}, {"ndr", 400},
      {"hdr", 200},    {"edr", 100},    {"fdr", 56}};
  for (auto &[name, gbit] : known)
    if (names(lower, name))
      return {gbit, countBefore(lower, lower.find(name))};
  return {};
}

/// "NVLink 600 GB/s + 8x HDR, PCIe 4": what stands between ';', '+', ", " and
/// "and".
static SmallVector<StringRef, 4> partsOf(StringRef text) {
  SmallVector<StringRef, 4> parts;
  while (!text.empty()) {
    size_t end = text.size(), skip = 0;
    for (StringRef between : {";", "+", ", ", " and "})
      if (size_t at = text.find(between); at < end) {
        end = at;
        skip = between.size();
      }
    parts.push_back(text.take_front(end));
    text = text.drop_front(end + skip);
  }
  return parts;
}

/// Ports of a node that the text counts in words: "one port", "8 NVIDIA 400
/// Gbps host channel adapters"; 0: it does not. The count stands first of the
/// numbers before the noun and is no rate itself.
static int portsIn(StringRef lower) {
  for (StringRef noun : {"port", "nic", "hca", "adapter", "rail"}) {
    for (size_t at = lower.find(noun); at != StringRef::npos;
         at = lower.find(noun, at + 1)) {
      StringRef after = lower.drop_front(at + noun.size());
      after.consume_front("s");
      if ((at > 0 && isAlpha(lower[at - 1])) ||
          (!after.empty() && isAlpha(after.front())) ||
          after.ltrim().starts_with("per gpu"))
        continue;
      StringRef head = lower.take_front(at);
      head = head.drop_front(head.find_last_of(";,+(") + 1);
      while (!head.empty()) {
        auto [word, rest] = head.ltrim().split(' ');
        head = rest;
        static const std::pair<StringLiteral, int> spelt[] = {
            {"one", 1},  {"single", 1}, {"a", 1},    {"two", 2},
            {"dual", 2}, {"four", 4},   {"eight", 8}};
        for (auto &[name, n] : spelt)
          if (word == name)
            return n;
        int n = 0;
        word.consume_back("x");
        if (word.getAsInteger(10, n))
          continue;
        StringRef unit = head.ltrim();
        if (n > 0 && n <= 64 && !unit.starts_with("g") &&
            !unit.starts_with("t"))
          return n;
        break; // "400 Gb/s NIC": a rate, no count
      }
    }
  }
  return 0;
}

/// Reads the column's free text; what it does not say keeps the chip's usual
/// server.
static void applyInterconnect(StringRef text, Cluster &c) {
  Network &n = c.network;
  const double gbit = 1e9 / 8;
  std::string all = text.lower();
  auto says = [&](StringRef s) { return StringRef(all).contains(s); };
  if (says("no nvlink") || says("without nvlink") || says("pcie only") ||
      (says("pcie") && !says("nvlink") && !c.chip.nvSwitch))
    n.nvlinkDomain = 1;
  if (text.contains("inter_node_bandwidth")) {
    StringRef rest = text.split("inter_node_bandwidth").second.trim();
    double v = 0;
    if (!rest.split(' ').first.getAsDouble(v) && v > 0 && v <= 1e6)
      n.nicBandwidth = v * gbit / n.nicsPerNode;
    return;
  }
  double best = 0;
  int ports = portsIn(all);
  for (StringRef part : partsOf(text)) {
    std::string lower = part.lower();
    StringRef p = lower;
    size_t omni = p.find("omni-path");
    if (int links = omni == StringRef::npos ? 0 : countBefore(p, omni)) {
      n.nicsPerNode = links;
      n.nicBandwidth = 100 * gbit; // Omni-Path 100
      continue;
    }
    bool inside = p.contains("nvlink") || p.contains("nvswitch");
    bool outside = p.contains("ib") || p.contains("infiniband") ||
                   p.contains("rdma") || p.contains("roce") ||
                   p.contains("node-node") || p.contains("ethernet") ||
                   generation(p).gbit > 0;
    if (inside && !outside)
      continue;
    std::vector<Rate> rates = ratesIn(part);
    for (const Rate &r : rates) {
      int perNode = c.gpusPerNode;
      bool perGpu =
          p.contains("per gpu") || p.contains("/gpu") || p.contains("each gpu");
      bool whole = p.contains("node-node") || p.contains("per node") ||
                   p.contains("inter-node") || p.contains("internode") ||
                   p.contains("per server") || p.contains("per host") ||
                   p.contains("per vm") || p.contains("efa") ||
                   p.contains("ethernet") || p.contains("gbe") || r.gbit > 800;
      int nics = r.count  ? r.count
                 : ports  ? ports
                 : perGpu ? perNode
                 : whole  ? 1
                          : n.nicsPerNode;
      double total = nics * r.gbit;
      if (total <= best)
        continue;
      best = total;
      if (whole && !r.count && !ports && !perGpu) {
        // A node's sum over the NICs that it usually has.
        n.nicBandwidth = r.gbit * gbit / n.nicsPerNode;
      } else {
        n.nicsPerNode = std::clamp(nics, 1, 1000);
        n.nicBandwidth = r.gbit * gbit;
      }
    }
    if (rates.empty())
      if (Rate g = generation(p); g.gbit > best) {
        best = g.gbit;
        n.nicBandwidth = g.gbit * gbit;
        if (g.count > 0 || ports > 0)
          n.nicsPerNode = g.count > 0 ? g.count : ports;
      }
  }
}

Cluster tessera::clusterOf(const Point &p, const Chip &chip, int gpus) {
  int server = chip.gpusPerNode;
  // Racks of one NVLink domain are counted by their trays.
  if (p.gpusPerNode > 0 && chip.nvlinkDomain <= chip.gpusPerNode)
    server = int(std::min<int64_t>(p.gpusPerNode, 1000));
  int perNode = std::max(1, std::min(gpus, server));
  Cluster c = makeCluster(chip, (gpus + perNode - 1) / perNode, perNode);
  if (server < chip.gpusPerNode)
    c.network.nicsPerNode =
        std::max(1, chip.nicsPerNode * server / chip.gpusPerNode);
  applyInterconnect(p.interconnect, c);
  return c;
}
