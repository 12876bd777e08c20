//===- HostCpuTest.cpp - CPUs that lack something -------------------------===//
//
// CPUs are made of bits by hand, after the Intel SDM (CPUID, XCR0).
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/HostCpu.h"

#include <gtest/gtest.h>
#include <map>

using namespace tessera::rt;

namespace {
/// A CPU with these registers and nothing else.
CpuQuery fake(std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>>
                  leaves,
              uint64_t xcr0) {
  CpuQuery query;
  query.cpuid = [leaves = std::move(leaves)](uint32_t leaf, uint32_t subleaf) {
    auto it = leaves.find({leaf, subleaf});
    return it == leaves.end() ? std::array<uint32_t, 4>{} : it->second;
  };
  query.xcr0 = [xcr0] { return xcr0; };
  return query;
}

std::string lacking(const std::vector<std::string> &features,
                    const CpuQuery &query) {
  return checkCpu("some-cpu", features, query).message();
}
} // namespace

TEST(HostCpuTest, Bits) {
  // AVX (1.ECX[28]), FMA (1.ECX[12]), AVX2 (7.EBX[5]), AVX512F (7.EBX[16]).
  auto leaves = [](uint32_t one, uint32_t seven) {
    return std::map<std::pair<uint32_t, uint32_t>, std::array<uint32_t, 4>>{
        {{1, 0}, {0, 0, one, 0}}, {{7, 0}, {0, seven, 0, 0}}};
  };
  auto all = leaves((1u << 28) | (1u << 12), (1u << 5) | (1u << 16));
  EXPECT_EQ(lacking({"avx", "fma", "avx2", "avx512f"}, fake(all, 0xe7)), "");
  EXPECT_EQ(lacking({}, fake({}, 0)), "");
  std::string text = lacking({"avx", "avx2", "bmi2"}, fake(all, 0xe7));
  EXPECT_NE(text.find("'some-cpu', this one lacks bmi2;"), std::string::npos)
      << text;
  // The operating system does not save the upper registers.
  text = lacking({"avx", "avx2", "avx512f"}, fake(all, 0x7));
  EXPECT_NE(text.find("lacks avx512f;"), std::string::npos) << text;
  text = lacking({"avx", "avx2"}, fake(all, 0x3));
  EXPECT_NE(text.find("lacks avx, avx2;"), std::string::npos) << text;
}

TEST(HostCpuTest, VersionsAndUnknownNames) {
  for (uint32_t version : {0u, 1u, 2u, 3u}) {
    CpuQuery query = fake({{{0x24, 0}, {0, 0xff00 + version, 0, 0}}}, 0xe7);
    EXPECT_EQ(lacking({"avx10.1"}, query).empty(), version >= 1);
    EXPECT_EQ(lacking({"avx10.2"}, query).empty(), version >= 2);
  }
  EXPECT_NE(lacking({"no-such-thing"}, hostCpuQuery()), "");
}

#if defined(__x86_64__)
/// The compiler's own library asks the same machine.
TEST(HostCpuTest, ThisMachine) {
  CpuQuery query = hostCpuQuery();
  EXPECT_EQ(lacking({"avx2"}, query).empty(),
            static_cast<bool>(__builtin_cpu_supports("avx2")));
  EXPECT_EQ(lacking({"sse4.2"}, query).empty(),
            static_cast<bool>(__builtin_cpu_supports("sse4.2")));
  EXPECT_EQ(lacking({"avx512bw"}, query).empty(),
            static_cast<bool>(__builtin_cpu_supports("avx512bw")));
  EXPECT_EQ(lacking({"bmi2"}, query).empty(),
            static_cast<bool>(__builtin_cpu_supports("bmi2")));
}
#endif
