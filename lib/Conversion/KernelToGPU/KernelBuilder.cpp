//===- KernelBuilder.cpp - Writing a kernel down as IR --------------------===//
//
// Functions, constants, arithmetic and control flow. Operations are created
// with folding, so that constant offsets vanish before they reach the IR.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tessera::kernels;

MemRefType tessera::kernels::globalMemRef(MLIRContext *context,
                                          ArrayRef<int64_t> shape,
                                          Type element) {
  return MemRefType::get(
      shape, element, MemRefLayoutAttrInterface{},
      gpu::AddressSpaceAttr::get(context, gpu::AddressSpace::Global));
}

Type tessera::kernels::elementType(MLIRContext *context, Element element) {
  if (element == Element::F32)
    return Float32Type::get(context);
  return BFloat16Type::get(context);
}

int64_t tessera::kernels::vectorWidth(int64_t cols, int64_t elementBytes,
                                      int64_t maxBytes) {
  int64_t width = maxBytes / elementBytes;
  while (width > 1 && cols % width != 0)
    width /= 2;
  return width;
}

KernelBuilder::KernelBuilder(OpBuilder &outer, gpu::GPUModuleOp module,
                             StringRef name, ArrayRef<Type> arguments,
                             int64_t threads)
    : ImplicitLocOpBuilder(UnknownLoc::get(outer.getContext()),
                           outer.getContext()),
      numThreads(threads), kernelName(name.str()) {
  assert(threads > 0 && threads <= 1024 && threads % kWarpSize == 0 &&
         "illegal block size");
  at("entry");
  setInsertionPointToEnd(module.getBody());
  func = gpu::GPUFuncOp::create(*this, name,
                                getFunctionType(arguments, TypeRange{}));
  func->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), getUnitAttr());
  func.setKnownBlockSize(
      ArrayRef<int32_t>{static_cast<int32_t>(threads), 1, 1});
  setInsertionPointToStart(&func.getBody().front());
}

gpu::GPUFuncOp KernelBuilder::finish() {
  at("exit");
  gpu::ReturnOp::create(*this);
  return func;
}

void KernelBuilder::at(StringRef part) {
  setLoc(NameLoc::get(getStringAttr(kernelName + ": " + part)));
}

//===----------------------------------------------------------------------===//
// Constants and ids
//===----------------------------------------------------------------------===//

Value KernelBuilder::idx(int64_t value) {
  return arith::ConstantIndexOp::create(*this, value);
}
Value KernelBuilder::i32(int64_t value) {
  return arith::ConstantOp::create(*this, getI32IntegerAttr(value));
}
Value KernelBuilder::i64(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value KernelBuilder::boolean(bool value) {
  return arith::ConstantOp::create(*this, getBoolAttr(value));
}
Value KernelBuilder::fp(double value, Type like) {
  TypedAttr attr = getFloatAttr(getElementTypeOrSelf(like), value);
  if (auto vector = dyn_cast<VectorType>(like))
    attr = SplatElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(*this, attr);
}
Value KernelBuilder::zero(Type type) {
  return arith::ConstantOp::create(*this, getZeroAttr(type));
}

/// Ids are read once, at the function's entry, so that they dominate all uses.
Value KernelBuilder::once(Value &cache, llvm::function_ref<Value()> make) {
  if (!cache) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(&func.getBody().front());
    if (threadId)
      setInsertionPointAfterValue(threadId);
    cache = make();
  }
  return cache;
}
Value KernelBuilder::thread() {
  return once(threadId, [&]() -> Value {
    return gpu::ThreadIdOp::create(*this, gpu::Dimension::x);
  });
}
Value KernelBuilder::lane() {
  thread();
  return once(laneId, [&] { return rem(threadId, kWarpSize); });
}
Value KernelBuilder::warp() {
  thread();
  return once(warpId, [&] { return div(threadId, kWarpSize); });
}
Value KernelBuilder::block(gpu::Dimension d) {
  return gpu::BlockIdOp::create(*this, d);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

static bool isFloat(Value value) {
  return isa<FloatType>(getElementTypeOrSelf(value));
}
static Value constantLike(KernelBuilder &kb, Value like, int64_t value) {
  return arith::ConstantOp::create(kb,
                                   kb.getIntegerAttr(like.getType(), value));
}

Value KernelBuilder::add(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::AddFOp>(a, b)
                    : createOrFold<arith::AddIOp>(a, b);
}
Value KernelBuilder::add(Value a, int64_t b) {
  return b == 0 ? a : add(a, constantLike(*this, a, b));
}
Value KernelBuilder::sub(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::SubFOp>(a, b)
                    : createOrFold<arith::SubIOp>(a, b);
}
Value KernelBuilder::mul(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::MulFOp>(a, b)
                    : createOrFold<arith::MulIOp>(a, b);
}
Value KernelBuilder::mul(Value a, int64_t b) {
  return b == 1 ? a : mul(a, constantLike(*this, a, b));
}
Value KernelBuilder::div(Value a, Value b) {
  return isFloat(a) ? createOrFold<arith::DivFOp>(a, b)
                    : createOrFold<arith::DivUIOp>(a, b);
}
Value KernelBuilder::div(Value a, int64_t b) {
  return b == 1 ? a : div(a, constantLike(*this, a, b));
}
Value KernelBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}
Value KernelBuilder::rem(Value a, int64_t b) {
  Value divisor = constantLike(*this, a, b);
  return createOrFold<arith::RemUIOp>(a, divisor);
}
Value KernelBuilder::minU(Value a, Value b) {
  return createOrFold<arith::MinUIOp>(a, b);
}
Value KernelBuilder::bitAnd(Value a, Value b) {
  return createOrFold<arith::AndIOp>(a, b);
}
Value KernelBuilder::bitOr(Value a, Value b) {
  return createOrFold<arith::OrIOp>(a, b);
}
Value KernelBuilder::bitXor(Value a, Value b) {
  return createOrFold<arith::XOrIOp>(a, b);
}
Value KernelBuilder::shl(Value a, int64_t bits) {
  Value amount = constantLike(*this, a, bits);
  return createOrFold<arith::ShLIOp>(a, amount);
}
Value KernelBuilder::shrU(Value a, int64_t bits) {
  Value amount = constantLike(*this, a, bits);
  return createOrFold<arith::ShRUIOp>(a, amount);
}
Value KernelBuilder::fma(Value a, Value b, Value c) {
  return LLVM::FMAOp::create(*this, a.getType(), a, b, c);
}
Value KernelBuilder::maxNum(Value a, Value b) {
  // arith.maxnumf would become a call of libdevice.
  return LLVM::MaxNumOp::create(*this, a.getType(), a, b);
}
Value KernelBuilder::minNum(Value a, Value b) {
  return LLVM::MinNumOp::create(*this, a.getType(), a, b);
}
Value KernelBuilder::ltU(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::ult, a, b);
}
Value KernelBuilder::ltU(Value a, int64_t b) {
  return ltU(a, constantLike(*this, a, b));
}
Value KernelBuilder::eq(Value a, Value b) {
  return createOrFold<arith::CmpIOp>(arith::CmpIPredicate::eq, a, b);
}
Value KernelBuilder::cmpF(arith::CmpFPredicate predicate, Value a, Value b) {
  return createOrFold<arith::CmpFOp>(predicate, a, b);
}
Value KernelBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}
Value KernelBuilder::toI32(Value index) {
  return createOrFold<arith::IndexCastUIOp>(getI32Type(), index);
}
Value KernelBuilder::toI64(Value index) {
  return createOrFold<arith::IndexCastUIOp>(getI64Type(), index);
}
Value KernelBuilder::toIndex(Value integer) {
  return createOrFold<arith::IndexCastUIOp>(getIndexType(), integer);
}
Value KernelBuilder::bitcast(Type type, Value value) {
  if (type == value.getType())
    return value;
  if (isa<VectorType>(type) && isa<VectorType>(value.getType()))
    return vector::BitCastOp::create(*this, type, value);
  return LLVM::BitcastOp::create(*this, type, value);
}

Value KernelBuilder::toF32(Value value) {
  Type f32 = getF32Type();
  if (getElementTypeOrSelf(value) == f32)
    return value;
  Type to = f32;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    to = VectorType::get(vector.getShape(), f32);
  return arith::ExtFOp::create(*this, to, value);
}

Value KernelBuilder::convert(Value f32Value, Element to) {
  if (to == Element::F32)
    return f32Value;
  Type type = getBF16Type();
  if (auto vector = dyn_cast<VectorType>(f32Value.getType()))
    type = VectorType::get(vector.getShape(), type);
  return arith::TruncFOp::create(*this, type, f32Value);
}

Value KernelBuilder::intrinsic(StringRef name, ValueRange operands, bool fast) {
  Type type = operands.front().getType();
  std::string mangled = ("llvm." + name + ".").str();
  if (auto vector = dyn_cast<VectorType>(type))
    mangled += "v" + std::to_string(vector.getNumElements());
  Type element = getElementTypeOrSelf(type);
  mangled += (isa<FloatType>(element) ? "f" : "i") +
             std::to_string(element.getIntOrFloatBitWidth());
  auto flags = fast ? LLVM::FastmathFlags::afn | LLVM::FastmathFlags::contract
                    : LLVM::FastmathFlags::none;
  auto call = LLVM::CallIntrinsicOp::create(
      *this, type, getStringAttr(mangled), operands,
      LLVM::FastmathFlagsAttr::get(getContext(), flags));
  return call->getResult(0);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

VectorType KernelBuilder::vec(int64_t n, Type element) {
  return VectorType::get({n}, element);
}
Value KernelBuilder::extract(Value vector, int64_t i) {
  return createOrFold<vector::ExtractOp>(vector, i);
}
Value KernelBuilder::insert(Value scalar, Value vector, int64_t i) {
  return createOrFold<vector::InsertOp>(scalar, vector, i);
}
Value KernelBuilder::splat(Value scalar, int64_t n) {
  return vector::BroadcastOp::create(*this, vec(n, scalar.getType()), scalar);
}
Value KernelBuilder::fromElements(ValueRange scalars) {
  return vector::FromElementsOp::create(
      *this, vec(scalars.size(), scalars.front().getType()), scalars);
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::loop(
    Value from, Value to, Value step, ValueRange initial,
    llvm::function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto op = scf::ForOp::create(*this, from, to, step, initial);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.getBody());
  SmallVector<Value> next = body(op.getInductionVar(), op.getRegionIterArgs());
  // Without carried values scf.for has made its own terminator.
  if (!initial.empty())
    scf::YieldOp::create(*this, next);
  return SmallVector<Value>(op.getResults());
}

void KernelBuilder::loop(Value from, Value to, Value step,
                         llvm::function_ref<void(Value)> body) {
  loop(from, to, step, {}, [&](Value iv, ValueRange) -> SmallVector<Value> {
    body(iv);
    return {};
  });
}

static std::optional<bool> constantCondition(Value condition) {
  APInt value;
  if (matchPattern(condition, m_ConstantInt(&value)))
    return !value.isZero();
  return std::nullopt;
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> then) {
  if (std::optional<bool> known = constantCondition(condition)) {
    if (*known)
      then();
    return;
  }
  auto op = scf::IfOp::create(*this, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(op.thenBlock());
  then();
}

SmallVector<Value>
KernelBuilder::ifElse(Value condition, TypeRange results,
                      llvm::function_ref<SmallVector<Value>()> then,
                      llvm::function_ref<SmallVector<Value>()> otherwise) {
  if (std::optional<bool> known = constantCondition(condition))
    return *known ? then() : otherwise();
  auto op = scf::IfOp::create(*this, results, condition, /*withElse=*/true);
  OpBuilder::InsertionGuard guard(*this);
  auto fill = [&](Block *block, llvm::function_ref<SmallVector<Value>()> body) {
    setInsertionPointToStart(block);
    SmallVector<Value> values = body();
    if (block->empty() || !block->back().hasTrait<OpTrait::IsTerminator>())
      scf::YieldOp::create(*this, values);
  };
  fill(op.thenBlock(), then);
  fill(op.elseBlock(), otherwise);
  return SmallVector<Value>(op.getResults());
}
