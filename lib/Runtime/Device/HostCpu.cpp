//===- HostCpu.cpp - does this CPU have what code was compiled for --------===//
#include "tessera/Runtime/HostCpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace tessera::rt {

namespace {
enum Register { A, B, C, D };
/// Bits of XCR0 (Intel SDM volume 1, 13.3): SSE and AVX; the three parts of
/// AVX-512 as well; APX.
enum State : uint64_t { None = 0, Avx = 0x6, Avx512 = 0xe6, Apx = 1u << 19 };

struct Feature {
  const char *name;
  uint32_t leaf, subleaf;
  Register where;
  int bit;     ///< -1: a version
  int version; ///< least value of the low byte
  State state;
};

constexpr Feature table[] = {
#define TESSERA_CPU_FEATURE(name, leaf, subleaf, where, bit, state)            \
  {name, leaf, subleaf, where, bit, 0, state},
#define TESSERA_CPU_VERSION(name, leaf, subleaf, where, version, state)        \
  {name, leaf, subleaf, where, -1, version, state},
#include "tessera/Runtime/CpuFeatures.def"
};

bool has(const std::string &name, const CpuQuery &query, uint64_t saved) {
  for (const Feature &f : table) {
    if (name != f.name)
      continue;
    uint32_t value = query.cpuid(f.leaf, f.subleaf)[f.where];
    bool there =
        f.bit >= 0 ? (value >> f.bit) & 1 : int(value & 0xff) >= f.version;
    return there && (saved & f.state) == f.state;
  }
  return false;
}
} // namespace

CpuQuery hostCpuQuery() {
  CpuQuery query;
#if defined(__x86_64__)
  query.cpuid = [](uint32_t leaf, uint32_t subleaf) {
    std::array<uint32_t, 4> r{};
    if (!__get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]))
      r = {};
    return r;
  };
  query.xcr0 = []() -> uint64_t {
    std::array<uint32_t, 4> r{};
    // OSXSAVE: without it there is no such register.
    if (!__get_cpuid(1, &r[0], &r[1], &r[2], &r[3]) || !((r[2] >> 27) & 1))
      return 0;
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t(high) << 32) | low;
  };
#else
  query.cpuid = [](uint32_t, uint32_t) { return std::array<uint32_t, 4>{}; };
  query.xcr0 = []() -> uint64_t { return 0; };
#endif
  return query;
}

Status checkCpu(const std::string &cpu,
                const std::vector<std::string> &features,
                const CpuQuery &query) {
  uint64_t saved = query.xcr0();
  std::string lacking;
  for (const std::string &name : features)
    if (!has(name, query, saved))
      lacking += (lacking.empty() ? "" : ", ") + name;
  if (lacking.empty())
    return Status::success();
  return failure("the virtual-GPU code of this program was compiled for the "
                 "CPU '",
                 cpu, "', this one lacks ", lacking,
                 "; compile with --virtual-cpu for this CPU, or run with "
                 "--device=cuda");
}

} // namespace tessera::rt
