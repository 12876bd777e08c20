//===- Helpers.cpp - Shared by the steps of the virtual lowering ----------===//

#include "Lowering.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {
/// "file:line:column" of a location, or "" if it has none.
std::string sourceOf(Location loc) {
  std::string text;
  loc->walk([&](Location inner) {
    auto file = dyn_cast<FileLineColLoc>(inner);
    if (!file)
      return WalkResult::advance();
    text = file.getFilename().str() + ":" + std::to_string(file.getLine()) +
           ":" + std::to_string(file.getColumn());
    return WalkResult::interrupt();
  });
  return text;
}
} // namespace

uint32_t LocationTable::idFor(Operation *op) {
  // The device pipeline wraps the name of the written operation around each
  // location; names below it say which part of the kernel it belongs to.
  std::string text;
  op->getLoc()->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner))
      text += (text.empty() ? "" : ", ") + named.getName().str();
    return WalkResult::advance();
  });
  if (text.empty())
    text = op->getName().getStringRef().str();
  std::string source = sourceOf(op->getLoc());
  if (!source.empty())
    text += " at " + source;
  auto [it, inserted] =
      ids.try_emplace(text, static_cast<uint32_t>(list.size()));
  if (inserted)
    list.push_back(text);
  return it->second;
}

LLVM::LLVMFuncOp tessera::vgpu::runtimeFunction(ModuleOp module, StringRef name,
                                                Type result,
                                                ArrayRef<Type> arguments) {
  if (auto func = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return func;
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::LLVMFuncOp::create(
      b, module.getLoc(), name, LLVM::LLVMFunctionType::get(result, arguments));
}

Value tessera::vgpu::constantI32(OpBuilder &b, Location loc, uint32_t value) {
  return LLVM::ConstantOp::create(
      b, loc, b.getI32IntegerAttr(static_cast<int32_t>(value)));
}

Value tessera::vgpu::byteOffset(OpBuilder &b, Location loc, Value base,
                                int64_t bytes) {
  if (bytes == 0)
    return base;
  return LLVM::GEPOp::create(
      b, loc, base.getType(), b.getI8Type(), base,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

/// The contexts do not change while a block runs, so the loads are invariant
/// and survive calls.
Value tessera::vgpu::loadContext(OpBuilder &b, Location loc, Value self,
                                 size_t offset, Type type) {
  Value address = byteOffset(b, loc, self, static_cast<int64_t>(offset));
  return LLVM::LoadOp::create(b, loc, type, address, /*alignment=*/0,
                              /*isVolatile=*/false, /*isNonTemporal=*/false,
                              /*isInvariant=*/true);
}

Value tessera::vgpu::loadBlockContext(OpBuilder &b, Location loc, Value self,
                                      size_t offset, Type type) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  Value block = loadContext(b, loc, self,
                            offsetof(tessera_virtual_thread, block), pointer);
  return loadContext(b, loc, block, offset, type);
}

Value tessera::vgpu::threadArgument(Operation *inside) {
  auto func = inside->getParentOfType<LLVM::LLVMFuncOp>();
  return func.getBody().front().getArguments().back();
}

std::optional<uint64_t> tessera::vgpu::evaluateConstant(Value value) {
  auto type = dyn_cast<IntegerType>(value.getType());
  Operation *op = value.getDefiningOp();
  if (!type || type.getWidth() > 64 || !op)
    return std::nullopt;
  uint64_t mask = type.getWidth() == 64 ? ~uint64_t(0)
                                        : (uint64_t(1) << type.getWidth()) - 1;
  if (auto constant = dyn_cast<LLVM::ConstantOp>(op)) {
    if (auto integer = dyn_cast<IntegerAttr>(constant.getValue()))
      return integer.getValue().getZExtValue() & mask;
    return std::nullopt;
  }
  if (op->getNumOperands() == 0 || op->getNumOperands() > 2)
    return std::nullopt;
  std::optional<uint64_t> a = evaluateConstant(op->getOperand(0));
  if (!a)
    return std::nullopt;
  if (isa<LLVM::ZExtOp, LLVM::TruncOp>(op))
    return *a & mask;
  if (op->getNumOperands() != 2)
    return std::nullopt;
  std::optional<uint64_t> b = evaluateConstant(op->getOperand(1));
  if (!b)
    return std::nullopt;
  if (isa<LLVM::AddOp>(op))
    return (*a + *b) & mask;
  if (isa<LLVM::SubOp>(op))
    return (*a - *b) & mask;
  if (isa<LLVM::MulOp>(op))
    return (*a * *b) & mask;
  if (isa<LLVM::AndOp>(op))
    return *a & *b;
  if (isa<LLVM::OrOp>(op))
    return *a | *b;
  if (isa<LLVM::XOrOp>(op))
    return *a ^ *b;
  if (*b >= type.getWidth())
    return std::nullopt; // a poison shift
  if (isa<LLVM::ShlOp>(op))
    return (*a << *b) & mask;
  if (isa<LLVM::LShrOp>(op))
    return *a >> *b;
  return std::nullopt;
}
