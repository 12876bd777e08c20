//===- SegmentEmitter.cpp - A segment as code -----------------------------===//
//
// A value of a segment is 32 lanes. Its home is a slot of the warp's frame
// (32 elements side by side) or, for arithmetic, a vector of 32 in the
// segment's function; it moves between the two on demand:
//   - a lane stores what it brings (live-ins) to slots and calls the segment;
//   - ldmatrix and mma read and write slots, so that a fragment loaded by one
//     is consumed by the other without a copy;
//   - shuffles with constant arguments are vector shuffles;
//   - each lane loads what it needs afterwards (live-outs).
// Runs of mma become one program (MmaProgram), which shares the expansion of
// operands that several of them use.
//
//===----------------------------------------------------------------------===//

#include "Segments.h"

#include "tessera/Runtime/Virtual/DeviceAbi.h"
#include "tessera/Runtime/Virtual/Shuffle.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {

/// A scalar of the segment: a value, or one field of a collective's struct.
using Scalar = std::pair<Value, unsigned>;

constexpr uint64_t SlotAlignment = 64;

class Emitter {
public:
  Emitter(LoweringState &state, const Segment &segment)
      : state(state), segment(segment), context(state.module.getContext()),
        b(context), loc(segment.ops.front()->getLoc()),
        pointer(LLVM::LLVMPointerType::get(context)),
        i8(IntegerType::get(context, 8)), i32(IntegerType::get(context, 32)),
        none(LLVM::LLVMVoidType::get(context)) {
    members.insert(segment.ops.begin(), segment.ops.end());
  }

  void run() {
    createFunction();
    for (Operation *op : segment.ops)
      emit(op);
    flushMma();
    emitLaneCode();
    state.frameBytes = std::max(state.frameBytes, frameBytes);
  }

private:
  // Slots.

  static Type slotType(Type type) {
    return type.isInteger(1) ? IntegerType::get(type.getContext(), 8) : type;
  }

  static uint64_t bytesOf(Type type) {
    if (isa<LLVM::LLVMPointerType>(type))
      return 8;
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.getNumElements() * bytesOf(vector.getElementType());
    return (type.getIntOrFloatBitWidth() + 7) / 8;
  }

  static Type typeOf(Scalar scalar) {
    if (auto structure = dyn_cast<LLVM::LLVMStructType>(scalar.first.getType()))
      return structure.getBody()[scalar.second];
    return scalar.first.getType();
  }

  uint64_t allocate(Type type) {
    uint64_t offset = llvm::alignTo(frameBytes, SlotAlignment);
    frameBytes = offset + bytesOf(slotType(type)) * WarpSize;
    return offset;
  }

  /// extractvalue of a collective and casts of packed words only rename.
  Scalar resolve(Value value) {
    Operation *op = value.getDefiningOp();
    if (!members.contains(op))
      return {value, 0};
    if (auto extract = dyn_cast<LLVM::ExtractValueOp>(op))
      return {extract.getContainer(),
              static_cast<unsigned>(extract.getPosition()[0])};
    if (isPackedCast(op))
      return resolve(op->getOperand(0));
    return {value, 0};
  }

  bool isInside(Scalar scalar) {
    return members.contains(scalar.first.getDefiningOp());
  }

  /// The slot that holds the scalar; arithmetic is stored on first demand.
  uint64_t slotOf(Scalar scalar) {
    auto it = slots.find(scalar);
    if (it != slots.end())
      return it->second;
    uint64_t offset = allocate(typeOf(scalar));
    slots[scalar] = offset;
    if (!isInside(scalar)) {
      liveIns.push_back(scalar.first);
      return offset;
    }
    if (auto vector = vectors.find(scalar); vector != vectors.end())
      storeVector(vector->second, offset);
    return offset;
  }

  uint64_t knownSlot(Scalar scalar) const {
    auto it = slots.find(scalar);
    assert(it != slots.end() && "value of a segment without a slot");
    return it->second;
  }

  void storeVector(Value vector, uint64_t offset) {
    if (cast<VectorType>(vector.getType()).getElementType().isInteger(1))
      vector =
          LLVM::ZExtOp::create(b, loc, VectorType::get(WarpSize, i8), vector);
    LLVM::StoreOp::create(b, loc, vector, frameAt(offset), SlotAlignment);
  }

  Value frameAt(uint64_t offset) {
    return byteOffset(b, loc, frame, static_cast<int64_t>(offset));
  }

  /// The 32 lanes of the scalar as a vector.
  Value vectorOf(Value value) {
    Scalar scalar = resolve(value);
    auto it = vectors.find(scalar);
    if (it != vectors.end())
      return it->second;
    Type type = typeOf(scalar);
    Value vector;
    if (std::optional<Attribute> splat = constantOf(value)) {
      vector = LLVM::ConstantOp::create(
          b, loc,
          DenseElementsAttr::get(VectorType::get(WarpSize, type), *splat));
    } else {
      uint64_t offset = slotOf(scalar);
      // A run of mma that writes the slot has to come first.
      if (pendingResults.contains(static_cast<int32_t>(offset)))
        flushMma();
      vector = LLVM::LoadOp::create(b, loc,
                                    VectorType::get(WarpSize, slotType(type)),
                                    frameAt(offset), SlotAlignment);
      if (type.isInteger(1))
        vector = LLVM::TruncOp::create(b, loc, VectorType::get(WarpSize, type),
                                       vector);
    }
    vectors[scalar] = vector;
    return vector;
  }

  static std::optional<Attribute> constantOf(Value value) {
    if (auto constant = value.getDefiningOp<LLVM::ConstantOp>())
      if (isa<IntegerAttr, FloatAttr>(constant.getValue()))
        return constant.getValue();
    return std::nullopt;
  }

  // The segment's function.

  void createFunction() {
    std::string name =
        "tessera_virtual_segment_" + std::to_string(state.segments++);
    b.setInsertionPointToStart(state.module.getBody());
    function = LLVM::LLVMFuncOp::create(
        b, loc, name, LLVM::LLVMFunctionType::get(none, {pointer, pointer}),
        LLVM::Linkage::Internal);
    Block *entry = function.addEntryBlock(b);
    frame = entry->getArgument(0);
    runner = entry->getArgument(1);
    b.setInsertionPointToStart(entry);
    auto ret = LLVM::ReturnOp::create(b, loc, ValueRange());
    b.setInsertionPoint(ret);
  }

  void emit(Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case<NVVM::MmaOp>([&](auto mma) { emitMma(mma); })
        .Case<NVVM::LdMatrixOp>([&](auto load) { emitLdMatrix(load); })
        .Case<NVVM::ShflOp>([&](auto shuffle) { emitShuffle(shuffle); })
        .Case<NVVM::VoteSyncOp>([&](auto vote) {
          uint64_t predicate = slotOfOperand(vote.getPred());
          uint64_t result = slotOf({vote.getRes(), 0});
          call("tessera_virtual_vote",
               {frame, runner, word(static_cast<uint32_t>(vote.getKind())),
                word(predicate), word(result)});
        })
        .Case<NVVM::SyncWarpOp>(
            [&](auto) { call("tessera_virtual_warp_sync", {frame, runner}); })
        .Default([&](Operation *other) {
          if (!isa<LLVM::ExtractValueOp>(other) && !isPackedCast(other))
            emitArithmetic(other);
        });
  }

  void emitArithmetic(Operation *op) {
    IRMapping lanes;
    for (Value operand : op->getOperands())
      lanes.map(operand, vectorOf(operand));
    Operation *wide = b.clone(*op, lanes);
    Value result = wide->getResult(0);
    result.setType(VectorType::get(WarpSize, result.getType()));
    vectors[{op->getResult(0), 0}] = result;
  }

  /// Slot of an operand; a constant is stored as a splat.
  uint64_t slotOfOperand(Value value) {
    Scalar scalar = resolve(value);
    if (constantOf(value) && !slots.count(scalar)) {
      uint64_t offset = allocate(typeOf(scalar));
      storeVector(vectorOf(value), offset);
      slots[scalar] = offset;
      return offset;
    }
    return slotOf(scalar);
  }

  void emitLdMatrix(NVVM::LdMatrixOp op) {
    uint64_t address = slotOfOperand(op.getPtr());
    SmallVector<int32_t> results;
    for (unsigned i = 0; i < op.getNum(); ++i)
      results.push_back(static_cast<int32_t>(slotOf({op.getRes(), i})));
    call("tessera_virtual_ldmatrix",
         {frame, runner, word(address), word(op.getNum()),
          word(op.getLayout() == NVVM::MMALayout::col), words(results),
          word(state.locations.idFor(op))});
  }

  void emitShuffle(NVVM::ShflOp op) {
    auto structure = dyn_cast<LLVM::LLVMStructType>(op.getType());
    std::optional<uint64_t> offset = evaluateConstant(op.getOffset()),
                            clamp = evaluateConstant(op.getMaskAndClamp());
    uint32_t kind = shuffleKind(op.getKind());
    if (offset && clamp) {
      int32_t lanes[WarpSize];
      SmallVector<bool> valid(WarpSize);
      for (uint32_t lane = 0; lane < WarpSize; ++lane) {
        uint32_t source;
        valid[lane] = shuffleSource(kind, lane, static_cast<uint32_t>(*offset),
                                    static_cast<uint32_t>(*clamp), source);
        lanes[lane] = static_cast<int32_t>(source);
      }
      Value from = vectorOf(op.getVal());
      vectors[{op.getRes(), 0}] =
          LLVM::ShuffleVectorOp::create(b, loc, from, from, lanes);
      if (structure)
        vectors[{op.getRes(), 1}] = LLVM::ConstantOp::create(
            b, loc,
            DenseElementsAttr::get(
                VectorType::get(WarpSize, IntegerType::get(context, 1)),
                ArrayRef<bool>(valid)));
    } else {
      // The value may come from a run of mma that is still to be written.
      uint64_t value = slotOfOperand(op.getVal());
      if (pendingResults.contains(static_cast<int32_t>(value)))
        flushMma();
      uint64_t by = slotOfOperand(op.getOffset()),
               bound = slotOfOperand(op.getMaskAndClamp()),
               result = slotOf({op.getRes(), 0});
      uint64_t ok = structure ? slotOf({op.getRes(), 1}) : ~uint64_t(0);
      call("tessera_virtual_shuffle",
           {frame, runner, word(kind), word(value), word(by), word(bound),
            word(result), word(ok)});
    }
  }

  static uint32_t shuffleKind(NVVM::ShflKind kind) {
    switch (kind) {
    case NVVM::ShflKind::bfly:
      return 0;
    case NVVM::ShflKind::up:
      return 1;
    case NVVM::ShflKind::down:
      return 2;
    case NVVM::ShflKind::idx:
      return 3;
    }
    llvm_unreachable("all kinds are listed");
  }

  // Matrix programs.

  static MmaKind mmaKind(NVVM::MmaOp op) {
    int k = op.getShape().getK();
    switch (*op.getMultiplicandAPtxType()) {
    case NVVM::MMATypes::bf16:
      return k == 16 ? MmaKind::BF16K16 : MmaKind::BF16K8;
    case NVVM::MMATypes::f16:
      return k == 16 ? MmaKind::F16K16 : MmaKind::F16K8;
    default:
      return k == 8 ? MmaKind::TF32K8 : MmaKind::TF32K4;
    }
  }

  using Fragment = SmallVector<int32_t, 4>;

  Fragment fragment(OperandRange operands, size_t size) {
    Fragment offsets;
    for (Value operand : operands)
      offsets.push_back(static_cast<int32_t>(slotOfOperand(operand)));
    offsets.resize(size, 0);
    return offsets;
  }

  static int32_t indexOf(SmallVectorImpl<Fragment> &set,
                         const Fragment &fragment) {
    auto *it = llvm::find(set, fragment);
    if (it == set.end()) {
      set.push_back(fragment);
      it = set.end() - 1;
    }
    return static_cast<int32_t>(it - set.begin());
  }

  void emitMma(NVVM::MmaOp op) {
    MmaKind kind = mmaKind(op);
    if (!mmas.empty() &&
        (kind != pendingKind || operandsA.size() == MmaProgram::MaxA ||
         operandsB.size() == MmaProgram::MaxB))
      flushMma();
    pendingKind = kind;
    mmaLocation = op;
    Fragment a = fragment(op.getOperandA(), MmaProgram::WordsPerA);
    Fragment bb = fragment(op.getOperandB(), MmaProgram::WordsPerB);
    Fragment c = fragment(op.getOperandC(), 4);
    // An operand computed by an earlier mma is expanded too early in a joint
    // program.
    for (const Fragment *operand : {&a, &bb})
      for (int32_t offset : *operand)
        if (pendingResults.contains(offset)) {
          flushMma();
          break;
        }
    Fragment d;
    for (unsigned i = 0; i < 4; ++i) {
      d.push_back(static_cast<int32_t>(slotOf({op.getRes(), i})));
      pendingResults.insert(d.back());
    }
    mmas.push_back(indexOf(operandsA, a));
    mmas.push_back(indexOf(operandsB, bb));
    mmas.append(c.begin(), c.end());
    mmas.append(d.begin(), d.end());
  }

  void flushMma() {
    if (mmas.empty())
      return;
    SmallVector<int32_t> program = {
        static_cast<int32_t>(pendingKind),
        static_cast<int32_t>(operandsA.size()),
        static_cast<int32_t>(operandsB.size()),
        static_cast<int32_t>(mmas.size() / MmaProgram::WordsPerMma)};
    for (const Fragment &a : operandsA)
      program.append(a.begin(), a.end());
    for (const Fragment &bb : operandsB)
      program.append(bb.begin(), bb.end());
    program.append(mmas);
    mmas.clear();
    operandsA.clear();
    operandsB.clear();
    pendingResults.clear();
    call("tessera_virtual_mma", {frame, runner, words(program),
                                 word(state.locations.idFor(mmaLocation))});
  }

  // The code of one lane.

  void emitLaneCode() {
    // What the lanes need afterwards has to be in slots.
    SmallVector<Operation *> needed;
    for (Operation *op : segment.ops) {
      bool outside = llvm::any_of(op->getUsers(), [&](Operation *user) {
        return !members.contains(user);
      });
      if (!outside)
        continue;
      needed.push_back(op);
      for (unsigned i = 0; i < fieldsOf(op->getResult(0)); ++i)
        (void)slotOf(fieldOf(op->getResult(0), i));
    }

    b.setInsertionPoint(segment.end);
    Value self = threadArgument(segment.end);
    for (Operation *op : segment.ops)
      checkMask(op, self);
    // Not invariant: collectives use the halves of the frame in turn.
    frame = LLVM::LoadOp::create(
        b, loc, pointer,
        byteOffset(b, loc, self, offsetof(tessera_virtual_thread, frame)));
    lane = LLVM::ZExtOp::create(
        b, loc, b.getI64Type(),
        loadContext(b, loc, self, offsetof(tessera_virtual_thread, lane), i32));
    for (Value value : liveIns) {
      Value address = laneSlot(value.getType(), knownSlot({value, 0}));
      if (value.getType().isInteger(1))
        value = LLVM::ZExtOp::create(b, loc, i8, value);
      LLVM::StoreOp::create(b, loc, value, address);
    }
    Value address = LLVM::AddressOfOp::create(b, loc, function);
    call("tessera_virtual_collective",
         {self, address, word(state.locations.idFor(segment.ops.front()))});
    // All loads first: a replaced struct no longer leads its extracts to their
    // slots.
    SmallVector<Value> results;
    for (Operation *op : needed)
      results.push_back(loadResult(op->getResult(0)));
    for (auto [op, result] : llvm::zip(needed, results))
      op->getResult(0).replaceAllUsesWith(result);
    for (Operation *op : segment.later)
      op->moveBefore(segment.end);
    for (Operation *op : llvm::reverse(segment.ops)) {
      op->dropAllUses();
      op->erase();
    }
  }

  static unsigned fieldsOf(Value result) {
    auto structure = dyn_cast<LLVM::LLVMStructType>(result.getType());
    return structure ? structure.getBody().size() : 1;
  }

  Scalar fieldOf(Value result, unsigned index) {
    return isa<LLVM::LLVMStructType>(result.getType()) ? Scalar{result, index}
                                                       : resolve(result);
  }

  /// A lane's share of a result, read back from the frame.
  Value loadResult(Value result) {
    SmallVector<Value> fields;
    auto structure = dyn_cast<LLVM::LLVMStructType>(result.getType());
    for (unsigned i = 0; i < fieldsOf(result); ++i) {
      Type type = structure ? structure.getBody()[i] : result.getType();
      Value value =
          LLVM::LoadOp::create(b, loc, slotType(type),
                               laneSlot(type, knownSlot(fieldOf(result, i))));
      if (type.isInteger(1))
        value = LLVM::TruncOp::create(b, loc, type, value);
      fields.push_back(value);
    }
    if (!structure)
      return fields.front();
    Value whole = LLVM::PoisonOp::create(b, loc, structure);
    for (auto [index, field] : llvm::enumerate(fields))
      whole = LLVM::InsertValueOp::create(b, loc, whole, field,
                                          static_cast<int64_t>(index));
    return whole;
  }

  Value laneSlot(Type type, uint64_t offset) {
    Value scaled = LLVM::MulOp::create(
        b, loc, lane,
        LLVM::ConstantOp::create(b, loc,
                                 b.getI64IntegerAttr(static_cast<int64_t>(
                                     bytesOf(slotType(type))))));
    Value base = LLVM::GEPOp::create(b, loc, pointer, i8, frame,
                                     ArrayRef<LLVM::GEPArg>{scaled});
    return byteOffset(b, loc, base, static_cast<int64_t>(offset));
  }

  /// Everybody takes part, or the runtime looks at it.
  void checkMask(Operation *op, Value self) {
    Value mask;
    if (auto shuffle = dyn_cast<NVVM::ShflOp>(op))
      mask = shuffle.getThreadMask();
    else if (auto vote = dyn_cast<NVVM::VoteSyncOp>(op))
      mask = vote.getMask();
    else if (auto sync = dyn_cast<NVVM::SyncWarpOp>(op))
      mask = sync.getMask();
    if (!mask || evaluateConstant(mask) == 0xffffffffu)
      return;
    call("tessera_virtual_member_mask",
         {self, mask, word(state.locations.idFor(op))});
  }

  // Small things.

  Value word(uint64_t value) {
    return constantI32(b, loc, static_cast<uint32_t>(value));
  }

  /// A constant array of words.
  Value words(ArrayRef<int32_t> values) {
    std::string name = "tessera_virtual_words_" +
                       std::to_string(state.segments) + "_" +
                       std::to_string(arrays++);
    OpBuilder top = OpBuilder::atBlockBegin(state.module.getBody());
    auto type = LLVM::LLVMArrayType::get(i32, values.size());
    auto attr = DenseElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(values.size())}, i32),
        values);
    auto global = LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/true,
                                         LLVM::Linkage::Internal, name, attr);
    return LLVM::AddressOfOp::create(b, loc, global);
  }

  void call(StringRef name, ArrayRef<Value> operands) {
    SmallVector<Type> types;
    for (Value operand : operands)
      types.push_back(operand.getType());
    LLVM::CallOp::create(
        b, loc, runtimeFunction(state.module, name, none, types), operands);
  }

  LoweringState &state;
  const Segment &segment;
  MLIRContext *context;
  OpBuilder b;
  Location loc;
  Type pointer, i8, i32, none;
  llvm::SmallPtrSet<Operation *, 16> members;
  LLVM::LLVMFuncOp function;
  Value frame, runner, lane;
  uint64_t frameBytes = 0;
  unsigned arrays = 0;
  DenseMap<Scalar, uint64_t> slots;
  DenseMap<Scalar, Value> vectors;
  SmallVector<Value> liveIns;

  MmaKind pendingKind = MmaKind::BF16K16;
  Operation *mmaLocation = nullptr;
  SmallVector<Fragment> operandsA, operandsB;
  SmallVector<int32_t> mmas;
  llvm::SmallDenseSet<int32_t> pendingResults;
};

} // namespace

void tessera::vgpu::emitSegment(LoweringState &state, const Segment &segment) {
  Emitter(state, segment).run();
}
