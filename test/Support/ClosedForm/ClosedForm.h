//===- ClosedForm.h - features of models in closed form -------------------===//
//
// The costs of transformer blocks written out by hand from a model's sizes: the
// tests' own, independent reference for what the planner takes from the graph
// and its ops. Sizes as in Features.h.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_TEST_SUPPORT_CLOSEDFORM_H
#define TESSERA_TEST_SUPPORT_CLOSEDFORM_H

#include "lib/Planning/Search/Provider.h"

namespace tessera {

ModelFeatures closedFormFeatures(const ModelShape &shape, const Layout &layout,
                                 const StackTraits &traits,
                                 const Precision &precision);

/// The same for the search.
class ClosedFormProvider : public FeatureProvider {
public:
  explicit ClosedFormProvider(const PlanProblem &problem)
      : shape(problem.shape), traits(problem.model.traits),
        precision(problem.precision), skew(problem.expertSkew) {}
  ModelFeatures features(const Layout &layout) const override;

private:
  ModelShape shape;
  StackTraits traits;
  Precision precision;
  double skew;
};

} // namespace tessera

#endif // TESSERA_TEST_SUPPORT_CLOSEDFORM_H
