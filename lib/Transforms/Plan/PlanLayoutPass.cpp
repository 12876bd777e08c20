//===- PlanLayoutPass.cpp - writes the planned layout into the IR ---------===//
#include "tessera/Transforms/Plan/Passes.h"

#include "dialects/Tessera/TesseraDialect.h"

using namespace mlir;
using namespace tessera;

namespace tessera {
#define GEN_PASS_DEF_PLANLAYOUT
#include "lib/Transforms/Plan/Passes.h.inc"
} // namespace tessera

namespace {
struct PlanLayoutPass : tessera::impl::PlanLayoutBase<PlanLayoutPass> {
  using PlanLayoutBase::PlanLayoutBase;

  void runOnOperation() override {
    PlanOptions options;
    options.sequenceParallel = sequenceParallel;
    std::string why;
    std::optional<Mesh> parsed = parseMesh(mesh, why);
    if (!parsed) {
      getOperation().emitError(why);
      return signalPassFailure();
    }
    options.mesh = std::move(*parsed);
    LayoutFailure problem;
    std::optional<Layout> layout = planLayout(getOperation(), options, problem);
    if (!layout) {
      problem.op->emitError(problem.message);
      return signalPassFailure();
    }
    writeLayout(getOperation(), *layout);
    numParameters += layout->parameters.size();
    numDecisions += layout->decisions.size();
  }
};
} // namespace
