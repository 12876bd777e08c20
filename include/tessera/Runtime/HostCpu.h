//===- HostCpu.h - does this CPU have what code was compiled for ----------===//
#ifndef TESSERA_RUNTIME_HOSTCPU_H
#define TESSERA_RUNTIME_HOSTCPU_H

#include "tessera/Runtime/Status.h"

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tessera::rt {

/// What a CPU says of itself; a test hands in another.
struct CpuQuery {
  /// Registers A, B, C, D of CPUID; zeros for a leaf that does not exist.
  std::function<std::array<uint32_t, 4>(uint32_t leaf, uint32_t subleaf)> cpuid;
  /// Extended control register 0: what the operating system saves.
  std::function<uint64_t()> xcr0;
};

/// The CPU at hand. Nothing is known of CPUs other than x86-64.
CpuQuery hostCpuQuery();

/// Fails, naming them, if the CPU lacks some of `features` (names of
/// CpuFeatures.def; a name that is not there counts as lacking). `cpu` is what
/// the code was compiled for.
Status checkCpu(const std::string &cpu,
                const std::vector<std::string> &features,
                const CpuQuery &query);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_HOSTCPU_H
