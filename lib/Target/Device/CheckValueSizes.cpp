//===- CheckValueSizes.cpp - Values that no thread can hold ---------------===//
//
// Upstream's lowerings take a vector apart into its elements, however many the
// type says there are: a wrong digit in a dump would be an endless loop or a
// crash. Nothing that a thread computes with can be larger than its registers,
// so anything larger is refused before those passes see it.
//
//===----------------------------------------------------------------------===//

#include "tessera/Target/DevicePipeline.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

/// "Maximum number of 32-bit registers per thread: 255" (CUDA C++ Programming
/// Guide, technical specifications per compute capability).
static constexpr uint64_t kRegisterBytes = 255 * 4;

/// Bytes of a value, at most UINT64_MAX. Memory that a value points to does
/// not count, but what is read from a memref at once does.
static uint64_t bytesOf(Type type) {
  auto times = [](int64_t count, Type element) {
    // At least a byte each, so that vectors of i1 or of empty structs count.
    return llvm::SaturatingMultiply(static_cast<uint64_t>(count),
                                    std::max<uint64_t>(bytesOf(element), 1));
  };
  return llvm::TypeSwitch<Type, uint64_t>(type)
      .Case<IntegerType, FloatType>([](auto scalar) {
        return llvm::divideCeil(static_cast<uint64_t>(scalar.getWidth()), 8u);
      })
      .Case<ComplexType>([&](ComplexType complex) {
        return times(2, complex.getElementType());
      })
      .Case<VectorType>([&](VectorType vector) {
        uint64_t bytes =
            std::max<uint64_t>(bytesOf(vector.getElementType()), 1);
        for (int64_t extent : vector.getShape())
          bytes =
              llvm::SaturatingMultiply(bytes, static_cast<uint64_t>(extent));
        return bytes;
      })
      .Case<LLVM::LLVMArrayType>([&](LLVM::LLVMArrayType array) {
        return times(array.getNumElements(), array.getElementType());
      })
      .Case<LLVM::LLVMStructType>([](LLVM::LLVMStructType record) {
        uint64_t bytes = 0;
        for (Type member : record.getBody())
          bytes = llvm::SaturatingAdd(bytes, bytesOf(member));
        return bytes;
      })
      .Case<BaseMemRefType>([](BaseMemRefType memref) {
        Type element = memref.getElementType();
        return element.isIntOrIndexOrFloat() ? 8 : bytesOf(element);
      })
      .Default([](Type) { return 8; }); // index, pointers, tokens
}

namespace {
class CheckValueSizes
    : public PassWrapper<CheckValueSizes, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckValueSizes)
  StringRef getArgument() const override { return "tessera-check-value-sizes"; }
  StringRef getDescription() const override {
    return "refuse values that are larger than the registers of a thread";
  }

  void runOnOperation() override {
    WalkResult result = getOperation().walk([](Operation *op) {
      for (Type type : op->getResultTypes())
        if (failed(check(op, "makes a value", type)))
          return WalkResult::interrupt();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Type type : block.getArgumentTypes())
            if (failed(check(op, "has an argument", type)))
              return WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }

private:
  static LogicalResult check(Operation *op, StringRef verb, Type type) {
    uint64_t bytes = bytesOf(type);
    if (bytes <= kRegisterBytes)
      return success();
    InFlightDiagnostic error = op->emitOpError() << verb << " of type " << type
                                                 << ", which takes ";
    if (bytes == UINT64_MAX)
      error << "2^64 bytes or more";
    else
      error << bytes << " bytes";
    return error << "; the registers of a thread hold " << kRegisterBytes;
  }
};
} // namespace

std::unique_ptr<Pass> tessera::createCheckValueSizesPass() {
  return std::make_unique<CheckValueSizes>();
}
