//===- Validation.h - what measurements say of predictions ------*- C++ -*-===//
//
// How far predicted step times lay from published ones, as
// `scripts/fit_cost_model.py --validate` wrote it beside the constants
// (data/cost_model_constants.json, "validation").
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_COSTMODEL_VALIDATION_H
#define TESSERA_COSTMODEL_VALIDATION_H

#include "tessera/Hardware/Cluster.h"
#include "tessera/Support/Json.h"
#include <map>
#include <optional>

namespace tessera {

/// |predicted - measured| / measured over published runs, each source weighing
/// the same.
struct StepError {
  int64_t runs = 0;
  double median = 0, p90 = 0;
};

struct StepValidation {
  /// By chip and software.
  std::map<std::string, std::map<std::string, StepError>> measured;
  /// Over all sources, predicted by constants that were fitted to others: each
  /// half by those of the other half.
  std::optional<StepError> heldOut;

  const StepError *find(llvm::StringRef chip, llvm::StringRef stack) const;
};

/// {"runs": {chip: {stack: {"runs", "median", "p90"}}}, "held_out": {...}}
llvm::Expected<StepValidation> readValidation(const llvm::json::Value &value,
                                              llvm::StringRef where);

/// That of the constants that come with Tessera.
const StepValidation &defaultValidation();

/// For people: "runs on h100-sxm with nemo: within 4 % half the time, 12 % nine
/// times of ten", or that none was measured and what is known instead.
std::string expectedError(const StepValidation &validation,
                          const Cluster &cluster, llvm::StringRef stack);

} // namespace tessera

#endif // TESSERA_COSTMODEL_VALIDATION_H
