//===- Constants.h - the fitted numbers of the cost model -----------------===//
//
// At most a dozen efficiencies for each chip, a few for each software stack.
// They are fitted to published measurements by scripts/fit_cost_model.py and
// committed as data/cost_model_constants.json; nothing else is tuned.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_CONSTANTS_H
#define TESSERA_COSTMODEL_CONSTANTS_H

#include "tessera/CostModel/Layout.h"
#include "tessera/Hardware/Chip.h"
#include "tessera/Support/Json.h"
#include <map>
#include <set>

namespace tessera {

/// Efficiencies of a chip: fractions of the data sheet's rate that a large,
/// well-shaped kernel or message reaches.
struct ChipConstants {
  double matmul16 = 0.78;
  double matmul8 = 0.62;
  double matmul4 = 0.50;
  /// Fused attention forward, of the 16-bit peak ...
  double attention = 0.55;
  /// ... and backward, relative to forward.
  double attentionBackward = 0.80;
  /// Grouped matrix products relative to a plain one.
  double groupedMatmul = 0.80;
  double memory = 0.85;
  /// Seconds that each kernel loses to launch, ramp and tail on the device.
  double kernelGap = 2.0e-6;
  double nvlink = 0.78;
  double nic = 0.80;
  /// All-to-all relative to a ring on the same links.
  double allToAll = 0.75;
  /// Compute slows by this share of the communication hidden behind it
  /// (NCCL's multiprocessors, memory bandwidth, power).
  double contention = 0.20;
};

/// What a training framework adds.
struct StackConstants {
  /// Seconds of host time for each kernel or collective started; compute
  /// shorter than this leaves the device idle.
  double hostPerLaunch = 6e-6;
  /// Memory traffic of its element-wise kernels relative to one ideal pass.
  double vectorTraffic = 1.2;
  /// Share of a communication that its overlap can hide, by axis.
  double tpOverlap = 0.3;
  double dpOverlap = 0.7;
  double epOverlap = 0.0;
  double ppOverlap = 0.5;
  /// Seconds that a collective inside a block costs beside its transfer: the
  /// compute stream waits for the slowest member and fills up again.
  double collectiveWait = 20e-6;
  /// Share of a step lost per doubling of the nodes (stragglers, jitter).
  double jitter = 0.004;
};

enum class AttentionKernel : uint8_t {
  Unfused, ///< scores and probabilities pass through memory
  Flash1,  ///< fused, FlashAttention of 2022
  Flash2,  ///< fused, written for Ampere
  Native,  ///< fused, written for the chip (cuDNN, FlashAttention-3)
  Sdpa,    ///< PyTorch's choice: FlashAttention-2, cuDNN on Blackwell
};

/// What "selective" recomputation does again where attention is fused and the
/// stack does not choose by operation (else it is attention's core: arXiv
/// 2205.05198).
enum class SelectivePart : uint8_t {
  /// Norms, activation functions, latent attention's projections up.
  Light,
  /// Megatron-Core's modules: core_attn where the model has nothing lighter;
  /// layernorm, moe_act and mla_up_proj where it has experts or latent
  /// attention.
  Modules,
};

/// What a stack is known to do; facts from its documentation, not fitted.
struct StackTraits {
  AttentionKernel attention = AttentionKernel::Native;
  /// Norm, residual and dropout kernels are fused or compiled.
  bool fusedElementwise = true;
  /// RMS norms, rotary embeddings and gates are written in PyTorch's operations
  /// and not compiled: each operation is a kernel, many of them in 32 bits.
  bool composed = false;
  /// Weight gradients accumulate inside the matmul in 32 bits (otherwise a
  /// further pass reads and writes them).
  bool fusedGradientAccumulation = true;
  /// Queries, keys and values come out of one product, and the gate and what
  /// it gates out of one; else each is a product of its own.
  bool jointHeads = true;
  bool jointGate = true;
  /// Full recomputation does the whole block again; else only what the backward
  /// pass uses, which the block's last product is not.
  bool recomputesAll = true;
  /// Selective recomputation goes by operation: it keeps the results of fused
  /// attention, of collectives and of every second product and does all else
  /// again (TorchTitan's selective activation checkpointing, "op").
  bool selectsOperations = false;
  SelectivePart selective = SelectivePart::Light;
  bool overlapGradients = true;
  bool overlapTensorParallel = true;
  /// Parameters are sharded and gathered per block by default (FSDP).
  bool fsdp = false;
  /// With weights sharded their 16-bit copies exist only where they are
  /// gathered: the shards are the optimizer's 32-bit ones (PyTorch's FSDP).
  bool masterShards = false;
  /// Sequence parallelism where tensor parallelism is used and the source
  /// says nothing.
  bool sequenceParallel = true;
  /// Optimizer state is sharded where the source says nothing.
  int zeroStage = 1;
  /// One kernel makes loss and gradient from 16-bit logits.
  bool fusedLoss = false;
  /// Experts' results are weighed before their last product, so that their sum
  /// keeps none of them for the weights' gradient.
  bool weighsInActivation = false;
  /// Bytes kept of each logit: in 16 bits, and its softmax in 32.
  int lossBytes() const { return fusedLoss ? 2 : 6; }
  /// Experts' products in 8 or 4 bits come in one kernel with the activation
  /// and the next product's quantisation; else each of these is a kernel or
  /// several.
  bool fusedExperts = false;
  /// Passes are replayed as CUDA graphs: the host starts no kernels one by one.
  bool cudaGraphs = false;
  /// Dropout is on (older GPT recipes).
  bool dropout = false;
  /// Collectives that gather one block's sharded parameters: one for a flat
  /// buffer, else one per large weight.
  int gathersPerBlock = 1;
  DispatcherKind dispatcher = DispatcherKind::AllToAll;
  /// See Workload::cachedShare.
  double cachedShare = 0.23;
  /// Kernels are started one by one, each after the one before has ended
  /// (CUDA_LAUNCH_BLOCKING=1): the host hides behind nothing.
  bool blockingLaunches = false;
  /// Published runs follow recipes that their authors tuned: what a table does
  /// not say (interleaving) was set well, not left at the default.
  bool tunedRecipes = false;
};

struct CostConstants {
  std::map<std::string, ChipConstants> chips;   ///< chip or architecture name
  std::map<std::string, StackConstants> stacks; ///< stack name

  /// Chips and stacks with measured runs among those fitted to, and whose runs
  /// they were.
  std::set<std::string> measuredChips, measuredStacks, measuredSources;

  /// By chip name, else by the architecture's name, else the defaults.
  const ChipConstants &chip(const Chip &chip) const;
  /// By name, else the record "default" (what all stacks share).
  const StackConstants &stack(llvm::StringRef name) const;
  /// Where the numbers come from, for people: "fitted to measured runs",
  /// "from hopper's family, not fitted", ...
  std::string originOf(const Chip &chip) const;
  std::string originOf(llvm::StringRef stack) const;
};

/// Names of all fitted fields, in the order of the structs.
std::vector<std::pair<std::string, double ChipConstants::*>> chipFields();
std::vector<std::pair<std::string, double StackConstants::*>> stackFields();

/// The constants that come with Tessera.
const CostConstants &defaultConstants();

/// {"chips": {name: {field: number}}, "stacks": {...}}; fields left out keep
/// their defaults, unknown ones fail.
llvm::Expected<CostConstants> readConstants(const llvm::json::Value &value,
                                            llvm::StringRef where);
llvm::json::Value toJson(const CostConstants &constants);

/// Traits of a stack by name; fails with the nearest name.
llvm::Expected<StackTraits> stackTraits(llvm::StringRef name);
std::vector<std::string> stackNames();

} // namespace tessera

#endif // TESSERA_COSTMODEL_CONSTANTS_H
