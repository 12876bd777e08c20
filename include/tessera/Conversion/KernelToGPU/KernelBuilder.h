//===- KernelBuilder.h - Writing a kernel down as IR ------------*- C++ -*-===//
//
// What every kernel family shares: an OpBuilder that stands inside a gpu.func
// and knows the number of its threads. It gives names to the few things a
// kernel is made of (ids, constants, predicated 16-byte accesses, shuffles,
// block reductions, shared memory, cp.async, ldmatrix, mma.sync) and folds
// constants while it goes, so that builders can be written like kernels.
//
// Index arithmetic is on `index` values. Global memory is reached through the
// memref arguments; where address arithmetic matters (matmul, attention), the
// pointer-level functions take an `!llvm.ptr` and byte offsets (i64 or index).
//
// Floating-point helpers accept scalars and vectors alike.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_CONVERSION_KERNELTOGPU_KERNELBUILDER_H
#define TESSERA_CONVERSION_KERNELTOGPU_KERNELBUILDER_H

#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace tessera::kernels {

constexpr int64_t kWarpSize = 32;
/// Widest access of one thread.
constexpr int64_t kVectorBytes = 16;

inline int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// `memref<shape x element, #gpu.address_space<global>>`.
mlir::MemRefType globalMemRef(mlir::MLIRContext *context,
                              llvm::ArrayRef<int64_t> shape,
                              mlir::Type element);
mlir::Type elementType(mlir::MLIRContext *context, Element element);

/// Elements per access such that every row of `cols` elements starts on an
/// access boundary: the largest power of two that divides `cols` and spans at
/// most `maxBytes`. Buffers start 16-byte aligned.
int64_t vectorWidth(int64_t cols, int64_t elementBytes,
                    int64_t maxBytes = kVectorBytes);

class KernelBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  using ValueRange = mlir::ValueRange;

  /// Starts `gpu.func @name(arguments) kernel` with a one-dimensional block of
  /// `threads` at the end of `module`, and stands in its body. `threads` is a
  /// positive multiple of the warp size, at most 1024.
  KernelBuilder(mlir::OpBuilder &outer, mlir::gpu::GPUModuleOp module,
                llvm::StringRef name, llvm::ArrayRef<Type> arguments,
                int64_t threads);

  /// Ends the function; call it once, standing in the function's body.
  mlir::gpu::GPUFuncOp finish();

  mlir::gpu::GPUFuncOp function() { return func; }
  Value arg(unsigned i) { return func.getArgument(i); }
  int64_t threads() const { return numThreads; }

  /// Names the part of the kernel that is built next; defect reports of the
  /// virtual GPU show it.
  void at(llvm::StringRef part);

  //===--- constants and ids ---------------------------------------------===//

  Value idx(int64_t value);
  Value i32(int64_t value);
  Value i64(int64_t value);
  Value boolean(bool value);
  /// A constant of type `like` (f32, bf16 or a vector of them).
  Value fp(double value, Type like);
  Value f32(double value) { return fp(value, getF32Type()); }
  Value zero(Type type);

  Value thread(); ///< in the block
  Value block(mlir::gpu::Dimension d = mlir::gpu::Dimension::x);
  Value lane(); ///< thread % 32
  Value warp(); ///< thread / 32

  //===--- arithmetic: integer or floating point by the operand's type ----===//

  Value add(Value a, Value b);
  Value add(Value a, int64_t b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value mul(Value a, int64_t b);
  Value div(Value a, int64_t b); ///< unsigned integer
  Value rem(Value a, int64_t b); ///< unsigned integer
  Value div(Value a, Value b);   ///< unsigned integer, or IEEE division
  Value rem(Value a, Value b);   ///< unsigned integer
  Value minU(Value a, Value b);  ///< unsigned integer
  Value bitAnd(Value a, Value b);
  Value bitOr(Value a, Value b);
  Value bitXor(Value a, Value b);
  Value shl(Value a, int64_t bits);
  Value shrU(Value a, int64_t bits);
  /// a * b + c with one rounding.
  Value fma(Value a, Value b, Value c);
  /// The NaN-dropping maximum of PTX's max.f32 and C's fmaxf.
  Value maxNum(Value a, Value b);
  Value minNum(Value a, Value b);
  Value ltU(Value a, Value b); ///< unsigned, index or integer
  Value ltU(Value a, int64_t b);
  Value eq(Value a, Value b); ///< index or integer
  Value cmpF(mlir::arith::CmpFPredicate predicate, Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value toI32(Value index);
  Value toI64(Value index);
  Value toIndex(Value integer); ///< zero-extends
  Value bitcast(Type type, Value value);

  /// bf16 <-> f32, scalar or vector; the identity where nothing is to do.
  Value toF32(Value value);
  Value convert(Value f32Value, Element to);

  /// LLVM's overloaded intrinsic `llvm.<name>` on the type of the first
  /// operand. `fast` allows an approximation (afn) and contraction.
  Value intrinsic(llvm::StringRef name, ValueRange operands, bool fast = false);

  //===--- vectors --------------------------------------------------------===//

  mlir::VectorType vec(int64_t n, Type element);
  Value extract(Value vector, int64_t i);
  Value insert(Value scalar, Value vector, int64_t i);
  Value splat(Value scalar, int64_t n);
  Value fromElements(ValueRange scalars);

  //===--- control flow ---------------------------------------------------===//

  /// scf.for over [from, to) by `step`; the body gets the induction variable
  /// and the carried values and returns the next ones.
  llvm::SmallVector<Value>
  loop(Value from, Value to, Value step, ValueRange initial,
       llvm::function_ref<llvm::SmallVector<Value>(Value, ValueRange)> body);
  /// The same without carried values.
  void loop(Value from, Value to, Value step,
            llvm::function_ref<void(Value)> body);
  /// A constant condition builds only the side that runs.
  void ifThen(Value condition, llvm::function_ref<void()> then);
  llvm::SmallVector<Value>
  ifElse(Value condition, mlir::TypeRange results,
         llvm::function_ref<llvm::SmallVector<Value>()> then,
         llvm::function_ref<llvm::SmallVector<Value>()> otherwise);

  //===--- memory through memrefs -----------------------------------------===//

  Value load(Value memref, ValueRange indices);
  void store(Value value, Value memref, ValueRange indices);
  /// `width` consecutive elements of the last dimension in one access; the
  /// address must be a multiple of the access' size (see vectorWidth).
  Value loadVector(Value memref, ValueRange indices, int64_t width);
  void storeVector(Value vector, Value memref, ValueRange indices);
  /// loadVector where `condition` holds, otherwise `padding` in each element.
  Value loadVectorOr(Value condition, Value memref, ValueRange indices,
                     int64_t width, double padding = 0.0);

  /// Shared memory of static size, 16-byte aligned (in all at most 48 KiB);
  /// contents undefined.
  Value shared(llvm::ArrayRef<int64_t> shape, Type element);

  //===--- memory through pointers ----------------------------------------===//

  /// Start of a memref as `!llvm.ptr<1>` (global) or `!llvm.ptr<3>` (shared).
  Value pointer(Value memref);
  /// Start of the launch's dynamic shared memory, 128-byte aligned: all calls
  /// give the same address, so carve it by byte offsets.
  Value dynamicShared();
  Value advance(Value pointer, Value bytes);
  Value advance(Value pointer, int64_t bytes);
  /// `alignment` in bytes; 0 stands for the size of the type.
  Value loadPtr(Type type, Value pointer, int64_t alignment = 0);
  void storePtr(Value value, Value pointer, int64_t alignment = 0);

  //===--- warps and blocks -----------------------------------------------===//

  void barrier();
  /// __syncwarp: orders the warp's accesses to shared memory.
  void warpSync();
  Value shuffleXor(Value value, int64_t mask);
  /// Value of lane `lane` (i32).
  Value shuffleIdx(Value value, Value lane);
  using Combine = llvm::function_ref<Value(Value, Value)>;
  /// Combines over groups of `width` adjacent lanes (a power of two); all
  /// lanes get the result, in one fixed order of combination.
  Value warpReduce(Value value, Combine combine, int64_t width = kWarpSize);
  /// Combines over the block; all threads get the result. `scratch` is a
  /// shared memref of threads() / 32 elements of the value's type. Ends with a
  /// barrier, so that scratch may be used again at once.
  Value blockReduce(Value value, Combine combine, Value scratch);
  Value blockSum(Value value, Value scratch);
  Value blockMax(Value value, Value scratch);

  //===--- tensor cores and asynchronous copies (sm_80)
  //--------------------===//

  /// Copies `bytes` (4, 8 or 16) from global to shared memory, landing at the
  /// wait for its group. With `readBytes` (i32) the rest is filled with zeros,
  /// and nothing is read when it is 0.
  void cpAsync(Value sharedPointer, Value globalPointer, int64_t bytes,
               Value readBytes = {});
  void cpAsyncCommit();
  /// Waits until at most `pending` committed groups are under way.
  void cpAsyncWait(int64_t pending);
  /// `count` (1, 2, 4) 8x8 matrices of 16-bit elements; lanes 8i .. 8i + 7
  /// hold the addresses of the rows of matrix i. One i32 (two elements) each.
  llvm::SmallVector<Value> ldmatrix(Value sharedPointer, int64_t count,
                                    bool transpose = false);
  /// d = a * b + c, m16n8k16: a 4 x i32 and b 2 x i32 (bf16 pairs), c 4 x f32.
  llvm::SmallVector<Value> mmaBF16(ValueRange a, ValueRange b, ValueRange c);
  /// Two f32 to one i32 holding bf16 pairs, `low` in the lower half.
  Value packBF16(Value low, Value high);

private:
  Value once(Value &cache, llvm::function_ref<Value()> make);

  mlir::gpu::GPUFuncOp func;
  int64_t numThreads;
  std::string kernelName;
  Value threadId, laneId, warpId;
};

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_KERNELBUILDER_H
