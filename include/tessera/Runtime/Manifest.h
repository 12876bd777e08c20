//===- Manifest.h - what an executable says of itself -----------*- C++ -*-===//
//
// The contract between the compiler, which writes the manifest as JSON into
// every executable, and the runtime's main, which reads it. Every key that the
// runtime consumes is listed here; a key that is not listed is ignored.
//
// Conventions: offsets and sizes are in bytes. Type names are "f32", "bf16",
// "f16", "f64", "i32", "i64". Shapes are per rank (local), except `global_*`.
// Rank = coordinates in mesh order, first axis slowest. A sharding is a list
// with one list of axis names per dimension, major first; dimension d of the
// global tensor is cut into as many equal parts as these axes have
// coordinates, so shape[d] * parts == global_shape[d], except for dimension 0
// of a parameter with `padded`, where shape[0] == ceil(global_shape[0] / parts)
// and rows past the global size are zero.
//
//   version            integer, 1
//   model              string, optional, for people ("LlamaForCausalLM")
//   dtype              string, optional: element type of the weights, for
//                      people
//   weights            string, optional: checkpoint used without --weights
//   mesh               [{name, size}], may be empty for one rank
//   batch, sequence    integers: rows of tokens, tokens per row (global)
//   vocab              integer: token ids lie in [0, vocab)
//   arena_bytes        integer: inputs, activations, outputs of one rank
//   parameter_bytes    integer: parameters and tables of one rank
//   communicators      [{axes: [name...]}]; ranks in one are ordered by their
//                      coordinates along `axes`, first listed slowest
//   inputs             [{name, dtype, global_shape, shape, sharding, offset}],
//                      offset in the arena; exactly "tokens" and "labels"
//                      (labels may be absent), both i32 [batch, sequence]
//   outputs            like inputs; f32. "nll" [batch, sequence] is the
//                      negative log-likelihood of each label, "loss" [] its
//                      mean over the counted tokens. Further outputs are
//                      written to --output x.safetensors
//   parameters         [{name, checkpoint, layers, dtype, global_shape, shape,
//                      sharding, offset, layer_stride, view, padded,
//                      init_mean, init_std}]
//     checkpoint       tensor name; "{layer}" stands for the layer's number
//     layers           {first, count}, or null/absent for a single tensor;
//                      layer l lies at offset + (l - first) * layer_stride
//     layer_stride     needed with `layers`
//     view             {reshape: [...], dim, index}, or null/absent: reshape
//                      the stored tensor, take `index` along `dim`, flatten to
//                      global_shape
//     padded           boolean, absent: false
//     init_mean,       numbers, optional: mean and standard deviation for
//     init_std         --init random:SEED (std 0: constant)
//   tables             [{name, kind: "rotary", inv_freq: [number...],
//                      attention_factor, positions, offset}]: at `offset` in
//                      the parameter arena f32[positions][inv_freq.size()][2],
//                      cos and sin of position * inv_freq, times the factor
//   collectives        [{op, communicator, dtype, count, calls}]: what one
//                      tessera_forward issues on this rank. op: "all_reduce",
//                      "all_gather", "reduce_scatter", "broadcast", "send",
//                      "recv"; count is the count argument of the nccl* call
//                      (per-rank part for all_gather and reduce_scatter);
//                      equal (op, communicator, dtype, count) may be listed
//                      in one entry or several
//   kernels            [string], for people
//   images             [string], optional, for people: device images, as
//                      "cubin sm_80" or "ptx sm_90"
//   virtual            {cpu, features: [string], instrumented}, absent without
//                      virtual-GPU code: the CPU it was compiled for, those of
//                      its features that are looked for at the start (names of
//                      CpuFeatures.def), whether --check and counting work
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_MANIFEST_H
#define TESSERA_RUNTIME_MANIFEST_H

#include "tessera/Runtime/Checkpoint.h"
#include "tessera/Runtime/Collectives.h"
#include "tessera/Runtime/DType.h"
#include "tessera/Runtime/Status.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

extern "C" {
/// What every executable exports (docs/design.md, "Program ABI").
extern const char tessera_manifest[];
void tessera_forward(void *stream, char *params, char *arena, void **comms,
                     const int64_t *coords);
}

namespace tessera::rt {

using ForwardFunction = void (*)(void *, char *, char *, void **,
                                 const int64_t *);

struct MeshAxis {
  std::string name;
  int64_t size;
};

/// A tensor cut over the mesh. `sharding[d]` holds indices into the mesh.
struct ShardedTensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> globalShape, shape;
  std::vector<std::vector<int>> sharding;
  uint64_t offset;

  /// Elements of the local tensor.
  uint64_t elements() const;
  uint64_t bytes() const { return elements() * sizeOf(dtype); }
};

struct Parameter : ShardedTensor {
  std::string checkpoint;
  int64_t firstLayer = 0, layerCount = 1;
  bool layered = false;
  uint64_t layerStride = 0;
  std::optional<TensorView> view;
  bool padded = false;
  std::optional<double> initMean, initStd;

  /// Name in the checkpoint of the `i`-th layer's tensor.
  std::string tensorName(int64_t i) const;
};

struct RotaryTable {
  std::string name;
  std::vector<double> invFreq;
  double attentionFactor;
  int64_t positions;
  uint64_t offset;

  uint64_t bytes() const {
    return static_cast<uint64_t>(positions) * invFreq.size() * 2 *
           sizeof(float);
  }
};

struct ExpectedCollective {
  std::string op;
  int communicator;
  DType dtype;
  uint64_t count, calls;
};

/// The virtual GPU's code.
struct VirtualCode {
  std::string cpu;
  std::vector<std::string> features;
  bool instrumented = false;
};

struct Manifest {
  std::string model, dtype, weights;
  std::vector<MeshAxis> mesh;
  int64_t batch, sequence, vocab;
  uint64_t arenaBytes, parameterBytes;
  /// Axes of each communicator, as indices into the mesh.
  std::vector<std::vector<int>> communicators;
  std::vector<ShardedTensor> inputs, outputs;
  std::vector<Parameter> parameters;
  std::vector<RotaryTable> tables;
  std::vector<ExpectedCollective> collectives;
  std::vector<std::string> kernels;
  std::vector<std::string> images;
  std::optional<VirtualCode> virtualCode;

  int64_t ranks() const;
  /// "dp=2, tp=2", "one rank" without axes.
  std::string meshText() const;
  /// Coordinates of a rank along the mesh's axes.
  std::vector<int64_t> coordinates(int64_t rank) const;
  /// The part of `tensor` that a rank at `coords` holds.
  SliceRequest slice(const ShardedTensor &tensor,
                     const std::vector<int64_t> &coords) const;
  /// "[dp,tp]"
  std::string communicatorText(size_t index) const;
  const ShardedTensor *findOutput(const std::string &name) const;
};

/// Parses and checks a manifest: keys, types, shapes against shardings, every
/// range inside its arena. A failure names the key.
Expected<Manifest> parseManifest(const std::string &text);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_MANIFEST_H
