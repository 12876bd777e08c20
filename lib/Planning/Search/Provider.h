//===- Provider.h - where the search gets a model's costs from ------------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_PROVIDER_H
#define TESSERA_LIB_PLANNING_SEARCH_PROVIDER_H

#include "Problem.h"

namespace tessera {

/// Features of a model on one rank under a layout. They may depend on tp, sp,
/// cp and its kind, ep, etp, the microbatch, the dispatcher, on whether pp is
/// one and on whether parameters are sharded (zero = 3), and on nothing else:
/// the search relies on it when it shares them between layouts. It bounds what
/// the dispatcher and sharding can bring by one set of features (innerFloor),
/// so these may change only: ops of class Gather, collectives of the axes ep
/// and etp, and the bytes of the backward pass of matrix products. A block
/// without expert parameters does not depend on ep, etp and the dispatcher.
class FeatureProvider {
public:
  virtual ~FeatureProvider() = default;
  virtual ModelFeatures features(const Layout &layout) const = 0;
};

/// Features of a problem's model from its source, under its expert load.
class ModelProvider : public FeatureProvider {
public:
  explicit ModelProvider(const PlanProblem &problem)
      : source(problem.source),
        query{problem.shape.sequence, problem.model.traits, problem.precision},
        shape(problem.shape), skew(problem.expertSkew) {}
  ModelFeatures features(const Layout &layout) const override;

private:
  FeatureSourcePtr source;
  FeatureQuery query;
  ModelShape shape;
  double skew;
};

/// Scales the experts' work and traffic to the rank that gets `skew` times the
/// mean load, or as much as a rank of this layout can get (worstExpertSkew).
/// Without expert parallelism every rank does all of its own tokens' work, so
/// nothing changes.
void applyExpertSkew(ModelFeatures &features, const ModelShape &shape,
                     const Layout &layout, double skew);

/// The load over the mean that the fullest rank has if all tokens choose the
/// experts of one rank: a token's choices are distinct.
double worstExpertSkew(const ModelShape &shape, const Layout &layout);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_PROVIDER_H
