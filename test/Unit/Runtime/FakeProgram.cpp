//===- FakeProgram.cpp - an executable without the compiler ---------------===//
//
// What the compiler would emit, written by hand and small: a manifest and a
// forward pass over a mesh dp = FAKE_DP, tp = FAKE_TP. With weights
//   w[vocab][4] (columns over tp), g[layer][4] for layers 3 and 4 (over tp),
//   v = part 1 of a fused [3, vocab] tensor (rows over tp, padded),
// and a rotary table c:
//   nll[b][s] = sum_j w[token][j] * g3[j] * g4[j] + sum over tp of v[token]
//               + cos(s * 0.5)
//   loss      = mean of nll where the label counts.
// One kernel (of one thread) does the local part; all-reduces do the rest.
// TESSERA_FAKE makes it misbehave.
//
//===----------------------------------------------------------------------===//
#include "FakeKernel.h"
#include "tessera/Runtime/BinaryTable.h"
#include "tessera/Runtime/Manifest.h"
#include "tessera/Runtime/Nccl.h"
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <unistd.h>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

namespace {
#if FAKE_TP == 1
#define W_SHAPE "[11,4]"
#define G_SHAPE "[4]"
#define V_SHAPE "[11]"
#else
#define W_SHAPE "[11,2]"
#define G_SHAPE "[2]"
#define V_SHAPE "[6]"
#endif
#if FAKE_DP == 1
#define IN_SHAPE "[2,6]"
#define NLL_COUNT "12"
#else
#define IN_SHAPE "[1,6]"
#define NLL_COUNT "6"
#endif
} // namespace

extern "C" const char tessera_manifest[] = R"({
  "version": 1, "model": "Fake", "dtype": "f32",
  "mesh": [{"name": "dp", "size": )" TEXT(FAKE_DP) R"(},
           {"name": "tp", "size": )" TEXT(FAKE_TP) R"(}],
  "batch": 2, "sequence": 6, "vocab": 11,
  "arena_bytes": 2048, "parameter_bytes": 4096,
  "communicators": [{"axes": ["tp"]}, {"axes": ["dp"]}],
  "inputs": [
    {"name": "tokens", "dtype": "i32", "global_shape": [2,6],
     "shape": )" IN_SHAPE R"(, "sharding": [["dp"],[]], "offset": 0},
    {"name": "labels", "dtype": "i32", "global_shape": [2,6],
     "shape": )" IN_SHAPE R"(, "sharding": [["dp"],[]], "offset": 256}],
  "outputs": [
    {"name": "nll", "dtype": "f32", "global_shape": [2,6],
     "shape": )" IN_SHAPE R"(, "sharding": [["dp"],[]], "offset": 512},
    {"name": "loss", "dtype": "f32", "global_shape": [], "shape": [],
     "sharding": [], "offset": 1024}],
  "parameters": [
    {"name": "w", "checkpoint": "model.w", "layers": null, "dtype": "f32",
     "global_shape": [11,4], "shape": )" W_SHAPE R"(, "sharding": [[],["tp"]],
     "offset": 0, "view": null, "padded": false,
     "init_mean": 0.0, "init_std": 0.5},
    {"name": "g", "checkpoint": "layers.{layer}.g",
     "layers": {"first": 3, "count": 2}, "layer_stride": 64, "dtype": "f32",
     "global_shape": [4], "shape": )" G_SHAPE R"(, "sharding": [["tp"]],
     "offset": 1024, "init_mean": 1.0, "init_std": 0.0},
    {"name": "v", "checkpoint": "fused", "dtype": "f32",
     "view": {"reshape": [3,11], "dim": 0, "index": 1},
     "global_shape": [11], "shape": )" V_SHAPE R"(, "sharding": [["tp"]],
     "padded": true, "offset": 2048, "init_mean": 0.0, "init_std": 1.0}],
  "tables": [{"name": "c", "kind": "rotary", "inv_freq": [0.5],
              "attention_factor": 1.0, "positions": 6, "offset": 3072}],
  "collectives": [
    {"op": "all_reduce", "communicator": 0, "dtype": "f32",
     "count": )" NLL_COUNT R"(, "calls": 1},
    {"op": "all_reduce", "communicator": 1, "dtype": "f32", "count": 2,
     "calls": 1}],
  "kernels": ["local_part"]
})";

namespace {
void localPart(tessera_virtual_thread *, void *const *arguments) {
  localPartOfFake(arguments);
}

const char *const kernelNames[] = {"local_part"};
tessera_virtual_kernel kernel() {
  tessera_virtual_kernel k;
  std::memset(&k, 0, sizeof k);
  k.name = kernelNames[0];
  k.entry = localPart;
  k.num_params = 3;
  static const uint64_t bytes[3] = {4096, 2048, 0};
  k.param_bytes = bytes;
  return k;
}
const tessera_virtual_kernel kernels[] = {kernel()};
const tessera_virtual_object object = {TESSERA_VIRTUAL_OBJECT_VERSION, 1,
                                       kernels};
void *tableState = nullptr;
// "Images" that only the fake driver (FakeCuda.cpp) takes.
const tessera_image images[] = {
    {TESSERA_IMAGE_PTX, 80, "sm_80", "fake ptx sm_80", 14},
    {TESSERA_IMAGE_CUBIN, 80, "sm_80", "fake cubin sm_80", 16},
    {TESSERA_IMAGE_CUBIN, 90, "sm_90a", "fake cubin sm_90a", 17}};
const tessera_binary_table table = {TESSERA_BINARY_TABLE_VERSION,
                                    1,
                                    "fake",
                                    kernelNames,
                                    &object,
                                    3,
                                    0,
                                    images,
                                    &tableState};
} // namespace

extern "C" void tessera_forward(void *stream, char *params, char *arena,
                                void **comms, const int64_t *coords) {
  auto *s = static_cast<cudaStream_t>(stream);
  auto *tp = static_cast<ncclComm_t>(comms[0]);
  auto *dp = static_cast<ncclComm_t>(comms[1]);
  int64_t rank = coords[0] * FAKE_TP + coords[1];
  const char *fault = std::getenv("TESSERA_FAKE");
  std::string what = fault ? fault : "";
  int64_t tpCoordinate = coords[1];
  void *arguments[] = {&params, &arena, &tpCoordinate};
  if (what == "killed" && rank == 2)
    raise(SIGKILL);
  if (what == "exits" && rank == 1)
    _exit(7);
  if (what == "slow" && rank == 1)
    sleep(30);
  tessera_launch(&table, what == "kernel" ? 5 : 0, 1, 1, 1, 1, 1, 1, 0, stream,
                 arguments);
  float *nll = reinterpret_cast<float *>(arena + nllAt);
  if (what == "mismatch" && rank == 3)
    ncclReduceScatter(nll, nll, 3, ncclFloat32, ncclSum, tp, s);
  else
    ncclAllReduce(nll, nll, rows * sequence, ncclFloat32, ncclSum, tp, s);
  float *sums = reinterpret_cast<float *>(arena + sumsAt);
  const int32_t *labels = reinterpret_cast<const int32_t *>(arena + labelsAt);
  sums[0] = sums[1] = 0;
  for (int64_t i = 0; i < rows * sequence; ++i)
    if (labels[i] != -100) {
      sums[0] += nll[i];
      sums[1] += 1;
    }
  ncclAllReduce(sums, sums, 2, ncclFloat32, ncclSum, dp, s);
  if (what == "extra")
    ncclAllReduce(sums + 2, sums + 2, 2, ncclFloat32, ncclSum, dp, s);
  float loss = sums[0] / sums[1] + (what == "differs" && rank == 1 ? 1 : 0);
  std::memcpy(arena + lossAt, &loss, sizeof loss);
}
