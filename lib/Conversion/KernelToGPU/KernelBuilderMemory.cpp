//===- KernelBuilderMemory.cpp - Accesses, warps, tensor cores ------------===//
//
// Fragment layouts are those of the PTX ISA, "Matrix fragments for
// mma.m16n8k16 with floating point type" and "ldmatrix"; with group = lane / 4
// and t = lane % 4:
//   a[i]: row group + 8 * (i % 2), columns 2t, 2t + 1 (+ 8 for i >= 2)
//   b[i]: column group, rows 2t, 2t + 1 (+ 8 for i = 1)
//   c[i]: row group + 8 * (i / 2), column 2t + i % 2
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tessera::kernels;

static int64_t bytesOf(Type type) {
  int64_t bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (auto vector = dyn_cast<VectorType>(type))
    bits *= vector.getNumElements();
  return bits / 8;
}

//===----------------------------------------------------------------------===//
// Memrefs
//===----------------------------------------------------------------------===//

Value KernelBuilder::load(Value memref, ValueRange indices) {
  return memref::LoadOp::create(*this, memref, indices);
}
void KernelBuilder::store(Value value, Value memref, ValueRange indices) {
  memref::StoreOp::create(*this, value, memref, indices);
}

Value KernelBuilder::loadVector(Value memref, ValueRange indices,
                                int64_t width) {
  VectorType type =
      vec(width, cast<MemRefType>(memref.getType()).getElementType());
  auto op = vector::LoadOp::create(*this, type, memref, indices);
  op.setAlignment(bytesOf(type));
  return op;
}

void KernelBuilder::storeVector(Value vector, Value memref,
                                ValueRange indices) {
  auto op = vector::StoreOp::create(*this, vector, memref, indices);
  op.setAlignment(bytesOf(vector.getType()));
}

Value KernelBuilder::loadVectorOr(Value condition, Value memref,
                                  ValueRange indices, int64_t width,
                                  double padding) {
  VectorType type =
      vec(width, cast<MemRefType>(memref.getType()).getElementType());
  return ifElse(
      condition, TypeRange{type},
      [&]() -> SmallVector<Value> {
        return {loadVector(memref, indices, width)};
      },
      [&]() -> SmallVector<Value> { return {fp(padding, type)}; })[0];
}

Value KernelBuilder::shared(ArrayRef<int64_t> shape, Type element) {
  auto space =
      gpu::AddressSpaceAttr::get(getContext(), gpu::AddressSpace::Workgroup);
  auto type =
      MemRefType::get(shape, element, MemRefLayoutAttrInterface{}, space);
  Value buffer = func.addWorkgroupAttribution(type, getLoc());
  func.setWorkgroupAttributionAttr(func.getNumWorkgroupAttributions() - 1,
                                   LLVM::LLVMDialect::getAlignAttrName(),
                                   getI64IntegerAttr(kVectorBytes));
  return buffer;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

Value KernelBuilder::pointer(Value memref) {
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(
      cast<MemRefType>(memref.getType()).getMemorySpace());
  assert(space && "memref without a gpu address space");
  unsigned number = space.getValue() == gpu::AddressSpace::Workgroup ? 3 : 1;
  Value address = memref::ExtractAlignedPointerAsIndexOp::create(*this, memref);
  return LLVM::IntToPtrOp::create(
      *this, LLVM::LLVMPointerType::get(getContext(), number), toI64(address));
}

Value KernelBuilder::dynamicShared() {
  // An external array without a size becomes `.extern .shared`, the form that
  // CUDA documents. gpu.dynamic_shared_memory makes an internal variable,
  // which NVPTX turns into a static one of one byte.
  constexpr StringLiteral name = "tessera_dynamic_shared";
  auto module = func->getParentOfType<gpu::GPUModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(*this);
    setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(*this, LLVM::LLVMArrayType::get(getI8Type(), 0),
                           /*isConstant=*/false, LLVM::Linkage::External, name,
                           Attribute{}, /*alignment=*/128,
                           /*addrSpace=*/3);
  }
  return LLVM::AddressOfOp::create(
      *this, LLVM::LLVMPointerType::get(getContext(), 3), name);
}

Value KernelBuilder::advance(Value pointer, Value bytes) {
  if (isa<IndexType>(bytes.getType()))
    bytes = toI64(bytes);
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}
Value KernelBuilder::advance(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  if (!llvm::isInt<32>(bytes))
    return advance(pointer, i64(bytes));
  return LLVM::GEPOp::create(
      *this, pointer.getType(), getI8Type(), pointer,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(bytes)});
}

Value KernelBuilder::loadPtr(Type type, Value pointer, int64_t alignment) {
  return LLVM::LoadOp::create(*this, type, pointer,
                              alignment ? alignment : bytesOf(type));
}
void KernelBuilder::storePtr(Value value, Value pointer, int64_t alignment) {
  LLVM::StoreOp::create(*this, value, pointer,
                        alignment ? alignment : bytesOf(value.getType()));
}

//===----------------------------------------------------------------------===//
// Warps and blocks
//===----------------------------------------------------------------------===//

void KernelBuilder::barrier() { gpu::BarrierOp::create(*this); }

void KernelBuilder::warpSync() { NVVM::SyncWarpOp::create(*this, i32(-1)); }

Value KernelBuilder::shuffleXor(Value value, int64_t mask) {
  return gpu::ShuffleOp::create(*this, value, i32(mask), i32(kWarpSize),
                                gpu::ShuffleMode::XOR)
      .getShuffleResult();
}
Value KernelBuilder::shuffleIdx(Value value, Value lane) {
  return gpu::ShuffleOp::create(*this, value, lane, i32(kWarpSize),
                                gpu::ShuffleMode::IDX)
      .getShuffleResult();
}

Value KernelBuilder::warpReduce(Value value, Combine combine, int64_t width) {
  for (int64_t mask = width / 2; mask > 0; mask /= 2)
    value = combine(value, shuffleXor(value, mask));
  return value;
}

Value KernelBuilder::blockReduce(Value value, Combine combine, Value scratch) {
  value = warpReduce(value, combine);
  int64_t warps = numThreads / kWarpSize;
  if (warps == 1)
    return value;
  ifThen(eq(lane(), idx(0)), [&] { store(value, scratch, {warp()}); });
  barrier();
  // Every thread adds up the few partial results in the same order.
  Value total = load(scratch, {idx(0)});
  for (int64_t i = 1; i < warps; ++i)
    total = combine(total, load(scratch, {idx(i)}));
  barrier();
  return total;
}

Value KernelBuilder::blockSum(Value value, Value scratch) {
  return blockReduce(
      value, [&](Value a, Value b) { return add(a, b); }, scratch);
}
Value KernelBuilder::blockMax(Value value, Value scratch) {
  return blockReduce(
      value, [&](Value a, Value b) { return maxNum(a, b); }, scratch);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies and tensor cores
//===----------------------------------------------------------------------===//

void KernelBuilder::cpAsync(Value sharedPointer, Value globalPointer,
                            int64_t bytes, Value readBytes) {
  // Only 16-byte copies can bypass L1 (cp.async.cg).
  auto cache = bytes == 16 ? NVVM::LoadCacheModifierKind::CG
                           : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(*this, sharedPointer, globalPointer,
                          static_cast<uint32_t>(bytes), cache, readBytes);
}
void KernelBuilder::cpAsyncCommit() {
  NVVM::CpAsyncCommitGroupOp::create(*this);
}
void KernelBuilder::cpAsyncWait(int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(*this, static_cast<uint32_t>(pending));
}

SmallVector<Value> KernelBuilder::ldmatrix(Value sharedPointer, int64_t count,
                                           bool transpose) {
  Type i32 = getI32Type();
  Type result = i32;
  if (count > 1)
    result = LLVM::LLVMStructType::getLiteral(getContext(),
                                              SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      *this, result, sharedPointer, static_cast<uint32_t>(count),
      transpose ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(getContext(), 8, 8),
      NVVM::LdStMatrixEltType::B16);
  if (count == 1)
    return {loaded};
  SmallVector<Value> parts;
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(*this, loaded, i));
  return parts;
}

SmallVector<Value> KernelBuilder::mmaBF16(ValueRange a, ValueRange b,
                                          ValueRange c) {
  Type result = LLVM::LLVMStructType::getLiteral(
      getContext(), SmallVector<Type>(4, getF32Type()));
  Value d = NVVM::MmaOp::create(
      *this, result, a, b, c, ArrayRef<int64_t>{16, 8, 16},
      /*b1Op=*/std::nullopt, /*intOverflow=*/std::nullopt,
      std::array<NVVM::MMATypes, 2>{NVVM::MMATypes::bf16, NVVM::MMATypes::bf16},
      std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                     NVVM::MMALayout::col});
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 4; ++i)
    parts.push_back(LLVM::ExtractValueOp::create(*this, d, i));
  return parts;
}

Value KernelBuilder::packBF16(Value low, Value high) {
  Value pair = convert(fromElements({low, high}), Element::BF16);
  return LLVM::BitcastOp::create(*this, getI32Type(), pair);
}
