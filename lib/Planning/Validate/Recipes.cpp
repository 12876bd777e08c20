//===- Recipes.cpp - what a tuned recipe sets and its table leaves out ----===//
//
// Megatron-Bridge publishes the recipes of its performance page:
// scripts/performance/configs/{deepseek,kimi,qwen}/*_workload_base_configs.py.
//
//===----------------------------------------------------------------------===//
#include "Case.h"
#include "Words.h"

using namespace llvm;
using namespace tessera;

void tessera::applyRecipe(const Point &p, StackTraits &traits, Layout &layout) {
  if (layout.ep <= 1 || !StringRef(stackOf(p)).starts_with("megatron-bridge"))
    return;
  StringRef model = p.model, chip = p.chip;
  // Experts that drop tokens have shapes that the host knows: a whole iteration
  // is one CUDA graph (cuda_graph_scope "full_iteration").
  if (model.contains_insensitive("tokendrop"))
    traits.cudaGraphs = true;
  bool hopper = chip.starts_with("H"), racks = chip.starts_with("GB");
  // moe_token_dispatcher_type "alltoall" but in the NVL72 systems.
  if (model.starts_with_insensitive("qwen3_235b") && !racks)
    layout.dispatcher = DispatcherKind::AllToAll;
  // cutedsl_fused_grouped_mlp, in these with a microbatch of one.
  bool deepSeek = model.starts_with_insensitive("deepseekv3");
  if ((deepSeek || model.starts_with_insensitive("kimi")) && p.microBatch > 1)
    traits.fusedExperts = false;
  // moe_a2a_overlap: where experts span nodes without NVLink between them.
  if ((model.starts_with_insensitive("qwen3_235b") && hopper) ||
      (deepSeek && !racks && layout.ep > 8))
    layout.overlapExperts = true;
}
