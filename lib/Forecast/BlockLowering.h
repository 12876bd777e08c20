//===- BlockLowering.h - one block on a software stack --------------------===//
#ifndef TESSERA_LIB_FORECAST_BLOCKLOWERING_H
#define TESSERA_LIB_FORECAST_BLOCKLOWERING_H

#include "lib/Forecast/Backward.h"
#include "lib/Forecast/Lowering.h"

namespace tessera::forecast {

class BlockLowering {
public:
  BlockLowering(const RankBlock &block, const BlockFacts &facts,
                const Layout &layout, const FeatureQuery &query)
      : block(block), layout(layout), traits(query.traits),
        precision(query.precision),
        fusedAttention(query.traits.attention != AttentionKernel::Unfused),
        facts(facts), needs(facts.needs) {}

  BlockFeatures run();

private:
  /// Kernels of an element-wise or row op in each direction.
  struct Launches {
    int forward = 1, backward = 1;
  };

  void lower(int op);
  void lowerRole(int op);
  void compose(int op);
  // Products.cpp
  void product(int op);
  /// The first of the products that this stack makes one of with `op`.
  int leaderOf(int op) const;
  void sumInputGradient(int64_t input);
  OpFeature productFeature(const RankOp &op, DataType type) const;
  void finishProduct(OpFeature feature, int64_t input, int64_t weights,
                     int64_t output);
  void router(int op);
  void adapter(int64_t input, int64_t output);
  void quantise(int64_t input, int64_t gradient, bool experts);
  // BlockLowering.cpp
  void pass(int op, Launches launches);
  /// Whether the stack's selective recomputation does the op again.
  bool redone(int op) const;
  bool feedsLatentAttention(int op) const;
  bool redoneModule(const RankOp &op, int number) const;
  void addition(int op);
  void gather(int op, int launches);
  void loss(int op);
  void attention(int op);
  void unfusedAttention(int op);
  void keep();
  void selectOperations();
  void collectives();

  /// A pass over `elements` with that many bytes of each.
  OpFeature sweep(double elements, double read, double written,
                  double backwardShare, KernelClass kernel, Launches n) const;
  int add(OpFeature feature) {
    out.ops.push_back(std::move(feature));
    return int(out.ops.size()) - 1;
  }
  const RankTensor &operand(const RankOp &op, int i) const {
    return block.tensors[op.operands[i]];
  }
  const RankTensor &result(const RankOp &op) const {
    return block.tensors[op.results[0]];
  }
  int64_t chosen() const;
  bool sortsAgain(const RankOp &op) const;

  const RankBlock &block;
  const Layout &layout;
  const StackTraits &traits;
  const Precision &precision;
  bool fusedAttention;
  const BlockFacts &facts;
  const BackwardNeeds &needs;
  BlockFeatures out;
  /// By op of the block: the feature that carries its results, or -1.
  std::vector<int> carriers;
};

} // namespace tessera::forecast

#endif // TESSERA_LIB_FORECAST_BLOCKLOWERING_H
