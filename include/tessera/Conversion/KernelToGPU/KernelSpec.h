//===- KernelSpec.h - what each kernel family computes and how ------------===//
//
// A kernel is described by a spec (what: shapes, element types, fused
// neighbours; it decides the result) and a config (how: tiles, stages, warps;
// it decides only the speed). `fuse` makes specs, `tile` makes configs, the
// builders obey both. Each family has
//
//   SmallVector<Type> argumentTypes(spec, context);      // memrefs, in order
//   FailureOr<gpu::GPUFuncOp> build<Family>(OpBuilder &, gpu::GPUModuleOp,
//                                           StringRef name, spec, config);
//   LaunchShape launchShape(spec, config);               // grid, block, smem
//   LogicalResult check(spec, config, chip limits, error) // is it legal
//   std::vector<Config> candidates(spec, chip limits);   // the legal knobs
//
// All tensors are row-major and contiguous, in global memory
// (`memref<..., #gpu.address_space<global>>`), arguments in the order given
// beside each spec.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_KERNELSPEC_H
#define TESSERA_CONVERSION_KERNELTOGPU_KERNELSPEC_H

#include <array>
#include <cstdint>

namespace tessera::kernels {

enum class Element : uint8_t { F32, BF16 };
inline int64_t sizeOf(Element type) { return type == Element::F32 ? 4 : 2; }

enum class Activation : uint8_t { None, Gelu, GeluTanh, Silu, Relu };

struct LaunchShape {
  std::array<int64_t, 3> grid{1, 1, 1};
  std::array<int64_t, 3> block{1, 1, 1};
  int64_t dynamicSharedBytes = 0;
};

/// What follows a product, or makes a kernel of its own:
/// epilogue(x) = act(x + bias[n]) * gateActivation(gate[m, n]) + residual[m, n],
/// every part optional. SwiGLU fused into the up projection is a gate with
/// gateActivation silu. Arguments in this order: bias [n]?, gate [m, n]?,
/// residual [m, n]?, all of the kernel's element type.
struct EpilogueSpec {
  bool hasBias = false;
  Activation activation = Activation::None;
  bool hasGate = false;
  Activation gateActivation = Activation::None;
  bool hasResidual = false;
};

/// out[m, n] = epilogue(sum over k of a[m, k] * weight).
/// bf16 products go through mma.sync with f32 accumulation, f32 products are
/// exact f32 fused multiply-adds.
/// Arguments: a [m, k], weight ([n, k] if weightOutIn, else [k, n]),
/// those of the epilogue, out [m, n].
struct MatmulSpec : EpilogueSpec {
  int64_t m = 0, n = 0, k = 0;
  Element type = Element::BF16;    ///< of a, weight, bias, gate, residual
  Element outType = Element::BF16; ///< of out
  bool weightOutIn = true;
};

struct MatmulConfig {
  int64_t blockM = 128, blockN = 128, blockK = 32; ///< tile of a thread block
  int64_t warpsM = 2, warpsN = 2;                  ///< warps in a block
  int64_t stages = 3;                              ///< cp.async pipeline depth
  int64_t groupM = 8; ///< rows of tiles walked together (L2 reuse)
};

/// Grouped-query attention, see `tessera.attention`.
/// Arguments: q [batch, seqQ, heads * headDim], k, v
/// [batch, seqKV, kvHeads * headDim], out like q.
struct AttentionSpec {
  int64_t batch = 0, seqQ = 0, seqKV = 0, heads = 0, kvHeads = 0, headDim = 0;
  Element type = Element::BF16;
  double scale = 1.0;
  bool causal = true;
  int64_t window = 0; ///< 0: unbounded
};

struct AttentionConfig {
  int64_t blockQ = 64, blockKV = 64;
  int64_t warps = 4;
  int64_t stages = 2;
};

/// Norm of each group of `cols` consecutive elements; optionally
/// x := x + residual first, the sum being stored too.
/// Arguments: x [rows, cols], residual [rows, cols]?, weight [cols],
/// bias [cols]?, sum [rows, cols]? (with residual), out [rows, cols].
struct NormSpec {
  enum class Kind : uint8_t { RMS, Layer };
  Kind kind = Kind::RMS;
  int64_t rows = 0, cols = 0;
  Element type = Element::BF16;
  double eps = 1e-5;
  bool hasBias = false;
  bool hasResidual = false;
};

/// Rotate-half rotary embedding of every head, see `tessera.rotary`.
/// Arguments: x [batch, seq, heads * headDim], table f32
/// [positions, rotaryDim / 2, 2] (positions >= seq), out like x.
struct RotarySpec {
  int64_t batch = 0, seq = 0, heads = 0, headDim = 0, rotaryDim = 0;
  int64_t positions = 0;
  Element type = Element::BF16;
};

/// A chain of element-wise ops on tensors of one shape:
/// out = epilogue(x); swiglu is x = up, gate = gate, gateActivation = silu.
/// Arguments: x [rows, cols], those of the epilogue, out.
struct ElementwiseSpec : EpilogueSpec {
  int64_t rows = 0, cols = 0;
  Element type = Element::BF16;
};

/// Rows of a table by token id; with `hasOffset` the scalar `offset` (i64,
/// last argument) is subtracted and ids outside [0, rows) give zeros.
/// Arguments: tokens i32 [count], table [rows, cols], out [count, cols], offset?.
struct EmbeddingSpec {
  int64_t count = 0, rows = 0, cols = 0;
  Element type = Element::BF16;
  bool hasOffset = false;
};

/// out[b, s] = x[b, s] + table[s + first + offset].
/// Arguments: x [batch, seq, cols], table [positions, cols], out, offset?.
struct PositionsSpec {
  int64_t batch = 0, seq = 0, cols = 0, positions = 0, first = 0;
  Element type = Element::BF16;
  bool hasOffset = false;
};

/// Cross-entropy of each row, see `tessera.cross_entropy` and
/// `tessera.cross_entropy_stats` (statsOnly; then `offset` i64 comes last and
/// out is f32 [rows, 3]). Columns >= vocab (- offset) do not count.
/// Arguments: logits [rows, cols], labels i32 [rows], out f32 [rows], offset?.
struct CrossEntropySpec {
  int64_t rows = 0, cols = 0, vocab = 0;
  Element type = Element::F32;
  bool statsOnly = false;
};

/// `tessera.cross_entropy_combine`. Arguments: stats f32 [rows, 3 * ranks],
/// labels i32 [rows], out f32 [rows].
struct CrossEntropyCombineSpec {
  int64_t rows = 0, ranks = 1;
};

/// `tessera.token_sum`: arguments nll f32 [rows], labels i32 [rows], out f32 [2];
/// one block, fixed summation order.
struct TokenSumSpec {
  int64_t rows = 0;
};

/// `tessera.token_mean`: arguments sum f32 [2], out f32 [1] (0 where the count is 0).
struct TokenMeanSpec {};

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_KERNELSPEC_H
