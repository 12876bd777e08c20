//===- HostCpuTest.cpp - CPUs by name -------------------------------------===//
#include "tessera/Runtime/HostCpu.h"
#include "tessera/Target/VirtualTarget.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Host.h"

#include <gtest/gtest.h>

using namespace tessera;

static HostCpu find(llvm::StringRef name, llvm::StringRef features = "") {
  std::string why;
  std::optional<HostCpu> cpu = findHostCpu(name, features, why);
  EXPECT_TRUE(cpu) << why;
  return cpu.value_or(HostCpu());
}

TEST(HostCpuTest, NativeIsThisMachine) {
  HostCpu cpu = find("native");
  EXPECT_NE(cpu.name, "native");
  EXPECT_EQ(
      rt::checkCpu(cpu.name, cpu.needed, rt::hostCpuQuery()).message(), "");
}

#if defined(__x86_64__)
/// Levels as the System V ABI, AMD64 supplement, lists them.
TEST(HostCpuTest, Levels) {
  auto needs = [](llvm::StringRef cpu, llvm::StringRef feature) {
    std::vector<std::string> all = find(cpu).needed;
    return std::find(all.begin(), all.end(), feature) != all.end();
  };
  for (auto [level, feature] : {std::pair("x86-64-v2", "popcnt"),
                                {"x86-64-v2", "ssse3"},
                                {"x86-64-v2", "sse4.2"},
                                {"x86-64-v3", "avx2"},
                                {"x86-64-v3", "fma"},
                                {"x86-64-v3", "movbe"},
                                {"x86-64-v3", "lzcnt"},
                                {"x86-64-v4", "avx512vl"},
                                {"x86-64-v4", "avx512bw"}}) {
    EXPECT_TRUE(needs(level, feature)) << level << " " << feature;
    EXPECT_FALSE(needs("x86-64", feature)) << feature;
  }
  EXPECT_FALSE(needs("x86-64-v2", "avx"));
  EXPECT_FALSE(needs("x86-64-v3", "avx512f"));
}

/// A name that LLVM spells otherwise would never be looked for.
TEST(HostCpuTest, FeaturesAreLLVMs) {
  find("native"); // sets the target up
  llvm::Triple triple(llvm::sys::getDefaultTargetTriple());
  std::string error;
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, error);
  ASSERT_TRUE(target) << error;
  std::unique_ptr<llvm::MCSubtargetInfo> info(
      target->createMCSubtargetInfo(triple, "", ""));
  llvm::StringSet<> names;
  for (const auto &feature : info->getAllProcessorFeatures())
    names.insert(feature.Key);
  for (llvm::StringRef name : checkedCpuFeatures())
    EXPECT_TRUE(names.contains(name)) << name.str();
}

TEST(HostCpuTest, UnknownNames) {
  std::string why;
  EXPECT_FALSE(findHostCpu("skylakeavx512", "", why));
  EXPECT_NE(why.find("did you mean 'skylake-avx512'?"), std::string::npos)
      << why;
  EXPECT_FALSE(findHostCpu("i386", "", why));
  EXPECT_FALSE(findHostCpu("", "", why));
}
#endif
