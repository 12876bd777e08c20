//===- SelectTiles.cpp - how each kernel is made --------------------------===//
//
// The kernel families know what is legal and what is good on average (their
// reasons stand with them, in Conversion/KernelToGPU/<Family>Config.cpp). Here
// the question is put: what does the group compute, and what do the chips
// allow. Several chips count as one that has the least of everything, so that
// one program serves all of them.
//
//===----------------------------------------------------------------------===//
#include "tessera/Transforms/Tile/Passes.h"

#include "dialects/Kernel/KernelDialect.h"
#include "tessera/Conversion/KernelToGPU/Attention.h"
#include "tessera/Conversion/KernelToGPU/ConfigAttrs.h"
#include "tessera/Conversion/KernelToGPU/GroupToSpec.h"
#include "tessera/Conversion/KernelToGPU/Matmul.h"

#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;

namespace tessera {
#define GEN_PASS_DEF_SELECTTILES
#include "lib/Transforms/Tile/Passes.h.inc"
} // namespace tessera

/// The limits that all of `chips` ("sm_80") keep; nothing and `why` where one
/// is unknown.
static std::optional<ChipLimits> commonLimits(ArrayRef<std::string> chips,
                                              std::string &why) {
  std::optional<ChipLimits> common;
  for (StringRef chip : chips) {
    StringRef digits = chip;
    int capability = 0;
    std::optional<ChipLimits> limits;
    if (digits.consume_front("sm_") && !digits.getAsInteger(10, capability))
      limits = chipLimits(capability);
    if (!limits) {
      why = llvm::formatv("unknown chip '{0}', expected one like sm_80 or "
                          "sm_90, a compute capability (A100: sm_80, H100: "
                          "sm_90)",
                          chip)
                .str();
      return std::nullopt;
    }
    if (!common) {
      common = limits;
      continue;
    }
    auto atMost = [&](auto member) {
      (*common).*member = std::min((*common).*member, (*limits).*member);
    };
    atMost(&ChipLimits::computeCapability);
    atMost(&ChipLimits::sharedBytesPerBlock);
    atMost(&ChipLimits::sharedBytesPerSM);
    atMost(&ChipLimits::registersPerSM);
    atMost(&ChipLimits::registersPerThread);
    atMost(&ChipLimits::threadsPerBlock);
    atMost(&ChipLimits::threadsPerSM);
    atMost(&ChipLimits::blocksPerSM);
    common->sharedBytesReserved =
        std::max(common->sharedBytesReserved, limits->sharedBytesReserved);
  }
  return common;
}

namespace {
struct SelectTilesPass : tessera::impl::SelectTilesBase<SelectTilesPass> {
  using SelectTilesBase::SelectTilesBase;

  void runOnOperation() override {
    SmallVector<std::string> names(chips.begin(), chips.end());
    if (names.empty())
      names.push_back("sm_80");
    std::string why;
    std::optional<ChipLimits> limits = commonLimits(names, why);
    if (!limits) {
      getOperation().emitError(why);
      return signalPassFailure();
    }
    WalkResult walked = getOperation().walk([&](kernel::GroupOp group) {
      return failed(select(group, *limits)) ? WalkResult::interrupt()
                                            : WalkResult::advance();
    });
    if (walked.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult select(kernel::GroupOp group, const ChipLimits &limits) {
    FailureOr<GroupKernel> kernel = groupToSpec(group);
    if (failed(kernel))
      return failure();
    if (auto *spec = std::get_if<MatmulSpec>(&kernel->spec)) {
      auto given =
          dyn_cast_or_null<kernel::MatmulConfigAttr>(group.getConfigAttr());
      return choose(group, *spec, given, limits, checkMatmul,
                    defaultMatmulConfig);
    }
    if (auto *spec = std::get_if<AttentionSpec>(&kernel->spec)) {
      auto given =
          dyn_cast_or_null<kernel::AttentionConfigAttr>(group.getConfigAttr());
      using Check =
          LogicalResult (*)(const AttentionSpec &, const AttentionConfig &,
                            const ChipLimits &, std::string &);
      std::string why;
      if (failed(checkAttention(*spec, why)))
        return group.emitOpError("no kernel can compute it: ") << why;
      return choose(group, *spec, given, limits, Check(checkAttention),
                    defaultAttentionConfig);
    }
    return success();
  }

  /// Keeps the legal config `given`, or writes the one that `pick` picks.
  template <typename Spec, typename ConfigAttr, typename Check, typename Pick>
  LogicalResult choose(kernel::GroupOp group, const Spec &spec,
                       ConfigAttr given, const ChipLimits &limits, Check check,
                       Pick pick) {
    auto config = given ? toConfig(given) : pick(spec, limits);
    std::string why;
    if (failed(check(spec, config, limits, why)))
      return group.emitOpError(given ? "the configuration cannot be used: "
                                     : "no configuration can be used: ")
             << why;
    if (given) {
      ++numKept;
      return success();
    }
    ++numChosen;
    Attribute attribute = toAttribute(config, &getContext());
    group.setConfigAttr(attribute);
    std::string text;
    llvm::raw_string_ostream(text) << attribute;
    remark::passed(group.getLoc(),
                   remark::RemarkOpts::name("configuration").category("tile"))
        << remark::add("{0}: {1}", group.getLabel().str(), text);
    return success();
  }
};
} // namespace
