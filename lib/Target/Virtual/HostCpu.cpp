//===- HostCpu.cpp - which CPU the virtual GPU's code is for --------------===//
#include "tessera/Support/Suggest.h"
#include "tessera/Target/VirtualTarget.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <mutex>

using namespace llvm;

static std::unique_ptr<MCSubtargetInfo> subtarget(const Target &target,
                                                  const Triple &triple,
                                                  StringRef cpu,
                                                  StringRef features) {
  return std::unique_ptr<MCSubtargetInfo>(
      target.createMCSubtargetInfo(triple, cpu, features));
}

static StringSet<> enabledFeatures(const MCSubtargetInfo &info) {
  StringSet<> names;
  for (const SubtargetFeatureKV &feature : info.getEnabledProcessorFeatures())
    names.insert(feature.Key);
  return names;
}

/// The triple is of a 64-bit machine; LLVM also knows 32-bit CPUs by name and
/// ends the process when it is to compile 64-bit code for one.
static bool suits(const Target &target, const Triple &triple, StringRef cpu) {
  return !triple.isX86() ||
         enabledFeatures(*subtarget(target, triple, cpu, "")).contains("64bit");
}

std::optional<tessera::HostCpu>
tessera::findHostCpu(StringRef name, StringRef features, std::string &why) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
  Triple triple(sys::getDefaultTargetTriple());
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target) {
    why = "no host target: " + error;
    return std::nullopt;
  }
  HostCpu cpu;
  cpu.name = name.str();
  cpu.features = features.str();
  if (name == "native") {
    cpu.name = sys::getHostCPUName().str();
    for (const auto &feature : sys::getHostCPUFeatures())
      cpu.features += (cpu.features.empty() ? "" : ",") +
                      std::string(feature.second ? "+" : "-") +
                      feature.first().str();
  }
  // Asked before a machine is made with it, which would only print a warning.
  auto known = subtarget(*target, triple, "", "");
  if (name != "native" &&
      (!known->isCPUStringValid(name) || !suits(*target, triple, name))) {
    SmallVector<StringRef> names{"native"};
    for (const SubtargetSubTypeKV &entry : known->getAllProcessorDescriptions())
      if (suits(*target, triple, entry.Key))
        names.push_back(entry.Key);
    std::string hint = didYouMean(name, names);
    why = "unknown CPU '" + name.str() + "'" +
          (hint.empty() ? "; \"native\" is the compiling machine's" : hint);
    return std::nullopt;
  }
  StringSet<> enabled =
      enabledFeatures(*subtarget(*target, triple, cpu.name, cpu.features));
  for (StringRef feature : checkedCpuFeatures())
    if (enabled.contains(feature))
      cpu.needed.push_back(feature.str());
  return cpu;
}

ArrayRef<StringRef> tessera::checkedCpuFeatures() {
#define TESSERA_CPU_FEATURE(name, leaf, subleaf, where, bit, state) name,
#define TESSERA_CPU_VERSION(name, leaf, subleaf, where, version, state) name,
  static const StringRef names[] = {
#include "tessera/Runtime/CpuFeatures.def"
  };
  return names;
}
