//===- Framework.h - what training frameworks can run ---------------------===//
//
// One table of facts for all who ask: the search keeps to what the software of
// a plan can run, exports say what the framework of a file cannot, explain says
// both. Files and names of options are lib/Planning/Export's affair; how fast a
// framework is is the cost model's (StackTraits).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_FRAMEWORK_H
#define TESSERA_PLANNING_FRAMEWORK_H

#include "tessera/CostModel/Layout.h"

#include <string>
#include <vector>

namespace tessera {

/// Values of a choice, one bit each.
using ValueSet = uint32_t;
template <typename... Values>
constexpr ValueSet only(Values... values) {
  return (0u | ... | (1u << static_cast<unsigned>(values)));
}
constexpr ValueSet kAny = ~0u;

/// What one framework can run. The defaults restrict nothing. A text says why a
/// limit is there, as the end of "zero=3 with pp=4: ..."; where it is empty,
/// the limit itself is spelled out.
struct Framework {
  std::string name;  ///< "megatron-core"
  std::string title; ///< "Megatron-Core"
  /// The format that exports its layouts (Export.h); "" where there is none.
  std::string format;

  // Data parallelism.
  ValueSet zero = kAny;        ///< ZeRO stages without pipeline stages
  ValueSet zeroStaged = kAny;  ///< with pipeline stages
  ValueSet zeroSplit = kAny;   ///< with tensor or context parallelism
  ValueSet zeroExperts = kAny; ///< with expert parallelism
  std::string zeroWhy, zeroStagedWhy, zeroSplitWhy, zeroExpertsWhy;
  ValueSet groups = kAny; ///< ZeRO stages that may shard inside groups of dp
  std::string groupsWhy;

  // Tensor and context parallelism.
  bool tensor = true;
  enum class Sequence : uint8_t { Never, Free, Always };
  Sequence sequence = Sequence::Free; ///< under tensor parallelism
  ValueSet contexts = kAny;           ///< kinds; none: no context parallelism

  // What communication may run beside the products that need it not.
  enum class Overlap : uint8_t { Never, WithSequence, Free };
  Overlap tensorOverlap = Overlap::Free; ///< of tensor parallelism
  bool expertOverlap = true;             ///< of experts, by a switch
  /// ZeRO stages whose parameters are gathered beside passes, and whether that
  /// goes without gradients reduced beside the backward pass.
  ValueSet parameterOverlap = kAny;
  bool parametersAlone = true;

  // Pipelines.
  bool stages = true;
  bool virtualStages = true;
  std::string virtualStagesWhy;
  ValueSet schedules = kAny;
  /// Zero-bubble schedules want several stages on a rank.
  bool zeroBubbleVirtual = false;
  enum class Partition : uint8_t {
    Even, ///< the chunks divide the layers
    Own,  ///< the framework places layers by itself
    Free, ///< as the user says
  };
  Partition partition = Partition::Free;

  // Experts.
  bool experts = true; ///< on different ranks
  enum class ExpertSplit : uint8_t {
    Whole,         ///< etp = 1
    WholeOrTensor, ///< 1 or tp
    Tensor,        ///< tp
    Free,
  };
  ExpertSplit expertSplit = ExpertSplit::Free;
  ValueSet dispatchers = kAny;

  // Recomputation.
  ValueSet recompute = kAny;
  /// Which layers of each chunk may be recomputed where not all are.
  enum class Layers : uint8_t {
    All,   ///< none but all
    Every, ///< each second, third, ...
    First, ///< as many as the user says
  };
  Layers layers = Layers::First;

  /// Matrix products in 8 bits.
  bool fp8 = true;
};

/// What the framework's limits depend on beside the layout.
struct FrameworkModel {
  int64_t layers = 0; ///< 0: not known
  bool experts = false;
};

/// Modules of Megatron-Core that its selective recomputation does again, for
/// what the model is made of: "core_attn", or the light ones of experts and
/// latent attention. The cost model's lowering recomputes exactly these
/// (SelectivePart::Modules).
std::vector<llvm::StringRef> selectiveModules(bool experts, bool latent);

/// Of a software stack (stackNames) or an export format (frameworkNames); null
/// where no limits are known.
const Framework *frameworkOfStack(llvm::StringRef stack);
const Framework *frameworkOfFormat(llvm::StringRef format);
/// The stack that runs the files of an export format.
llvm::StringRef stackOfFormat(llvm::StringRef format);
/// What `tessera compile` builds.
const Framework &tesseraFramework();

/// One thing that a framework cannot run.
struct Obstacle {
  llvm::StringRef field; ///< "zero", as a layout's text has it
  std::string wanted;    ///< "zero=3 with pp=4"
  std::string reason;    ///< "Megatron-FSDP goes without pipeline stages"
  std::string nearest;   ///< "zero=1"
};

/// Is k the number of each n-th layer (n above 1) in chunks of `least` to
/// `most` layers? Returns n, or 0.
int everyNth(int k, int least, int most);

/// What of a layout is judged. Each part depends on the mesh and itself alone.
enum class LayoutPart : uint8_t {
  Mesh,     ///< tp, sp, cp and its kind, pp, ep, etp
  Schedule, ///< vpp, schedule, layers of the chunks
  Sharding, ///< zero, shard
  Dispatcher,
  Recompute, ///< and recompute-layers
  Overlap,   ///< the switches
  All,
};

/// Whether the framework can run that part of the layout.
bool runs(const Framework &framework, const Layout &layout,
          const FrameworkModel &model, LayoutPart part = LayoutPart::All);

/// What stands in the way, field by field.
std::vector<Obstacle> obstaclesOf(const Framework &framework,
                                  const Layout &layout,
                                  const FrameworkModel &model);
/// The layout with the nearest value in each field of `part` that stands in the
/// way. Where an axis goes, so do its ranks.
Layout nearestRunning(const Framework &framework, const Layout &layout,
                      const FrameworkModel &model,
                      LayoutPart part = LayoutPart::All);

/// Stacks of today's frameworks that run the layout as it is, by name.
std::vector<std::string> stacksRunning(const Layout &layout,
                                       const FrameworkModel &model);

/// Why `field` of the layout cannot be as it is, or cannot because of another
/// one (no virtual stages without stages); "" where nothing stands in the way.
std::string reasonAgainst(const Framework &framework, const Layout &layout,
                          const FrameworkModel &model, llvm::StringRef field);

/// "zero=3 with pp=4 (Megatron-FSDP goes without pipeline stages; nearest:
/// zero=1), ..."; "" where there is nothing.
std::string describe(llvm::ArrayRef<Obstacle> obstacles);

/// The limits in words, those that a model with or without experts can meet:
/// "ZeRO 2 and 3 with pipeline stages".
std::vector<std::string> limitsOf(const Framework &framework, bool experts);

} // namespace tessera

#endif // TESSERA_PLANNING_FRAMEWORK_H
