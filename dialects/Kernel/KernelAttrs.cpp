//===- KernelAttrs.cpp - configurations of kernel families ----------------===//
#include "dialects/Kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::kernel;

#include "dialects/Kernel/KernelEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/Kernel/KernelAttrs.cpp.inc"

void KernelDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Kernel/KernelAttrs.cpp.inc"
      >();
}

/// All parameters of a config are counts of something: at least one.
static LogicalResult
checkPositive(function_ref<InFlightDiagnostic()> emitError,
              ArrayRef<std::pair<StringRef, int64_t>> parameters) {
  for (auto [name, value] : parameters)
    if (value < 1)
      return emitError() << name << " must be at least 1, got " << value;
  return success();
}

LogicalResult
MatmulConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                         int64_t blockM, int64_t blockN, int64_t blockK,
                         int64_t warpsM, int64_t warpsN, int64_t stages,
                         int64_t groupM) {
  return checkPositive(emitError, {{"block_m", blockM},
                                   {"block_n", blockN},
                                   {"block_k", blockK},
                                   {"warps_m", warpsM},
                                   {"warps_n", warpsN},
                                   {"stages", stages},
                                   {"group_m", groupM}});
}

LogicalResult
AttentionConfigAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                            int64_t blockQ, int64_t blockKV, int64_t warps,
                            int64_t stages) {
  return checkPositive(emitError, {{"block_q", blockQ},
                                   {"block_kv", blockKV},
                                   {"warps", warps},
                                   {"stages", stages}});
}
