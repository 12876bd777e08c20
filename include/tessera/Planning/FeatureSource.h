//===- FeatureSource.h - where planning gets a model's costs from ---------===//
//
// The seam between planning and the compiler. Planning asks for the features of
// a model under a layout and does not know how they come about; whoever calls
// it hands in a maker of sources. The one that ships builds the model's graph
// and asks its ops (include/tessera/Forecast/GraphSource.h).
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_FEATURESOURCE_H
#define TESSERA_PLANNING_FEATURESOURCE_H

#include "tessera/CostModel/Constants.h"
#include "tessera/CostModel/Features.h"
#include "llvm/Support/Error.h"
#include <functional>
#include <memory>

namespace tessera {

struct ModelConfig;

/// Number formats of a run.
struct Precision {
  DataType linear = DataType::BF16; ///< matrix products of the layers
  bool frozen = false;              ///< adapters: no weight gradients
};

/// What the features depend on beside model and layout.
struct FeatureQuery {
  int64_t sequence = 0;
  StackTraits traits;
  Precision precision;
};

/// Features of one model on one rank, its experts evenly loaded. They depend
/// on tp, sp, cp and its kind, ep, etp, the microbatch, the dispatcher, on
/// whether pp is one and on whether parameters are sharded (zero = 3), and on
/// nothing else of the layout: the search relies on it when it shares them.
class FeatureSource {
public:
  virtual ~FeatureSource() = default;
  /// Can the model be split like that? If not, `why` (may be null) says what
  /// stands in the way.
  virtual bool supports(const Layout &layout, int64_t sequence,
                        std::string *why) const = 0;
  /// The layout is supported.
  virtual ModelFeatures features(const Layout &layout,
                                 const FeatureQuery &query) const = 0;
};

using FeatureSourcePtr = std::shared_ptr<const FeatureSource>;
/// Makes the source of a model.
using FeatureSourceMaker =
    std::function<llvm::Expected<FeatureSourcePtr>(const ModelConfig &)>;

} // namespace tessera

#endif // TESSERA_PLANNING_FEATURESOURCE_H
