//===- PhasePasses.cpp - the passes of each phase -------------------------===//
#include "tessera/Conversion/HostToLLVM/HostToLLVM.h"
#include "tessera/Conversion/KernelToGPU/Passes.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Target/DevicePipeline.h"
#include "tessera/Target/Executable.h"
#include "tessera/Transforms/Fuse/Passes.h"
#include "tessera/Transforms/Partition/Passes.h"
#include "tessera/Transforms/Plan/Passes.h"
#include "tessera/Transforms/Schedule/Passes.h"
#include "tessera/Transforms/Tile/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tessera;

static bool addPlan(OpPassManager &pm, const ProgramOptions &program,
                    std::string &why) {
  PlanLayoutOptions options;
  options.mesh = program.mesh;
  if (program.sequenceParallel == "on") {
    options.sequenceParallel = SequenceParallel::On;
  } else if (program.sequenceParallel == "off") {
    options.sequenceParallel = SequenceParallel::Off;
  } else if (program.sequenceParallel != "auto") {
    why = "--sequence-parallel: expected auto, on or off, got '" +
          program.sequenceParallel + "'";
    return false;
  }
  pm.addPass(createPlanLayout(options));
  return true;
}

bool tessera::buildPhase(OpPassManager &pm, Phase phase,
                         const ProgramOptions &program, bool ptxOnly,
                         std::string &why) {
  switch (phase) {
  case Phase::Import:
    break;
  case Phase::Plan:
    return addPlan(pm, program, why);
  case Phase::Partition:
    pm.addPass(createPartition());
    pm.addPass(createVerifyPartition());
    break;
  case Phase::Fuse:
    pm.addPass(createFuse());
    pm.addPass(createExpandCopies());
    break;
  case Phase::Tile: {
    SelectTilesOptions options;
    options.chips.assign(program.chips.begin(), program.chips.end());
    pm.addPass(createSelectTiles(options));
    break;
  }
  case Phase::Kernels: {
    pm.addPass(createKernels());
    AttachTargetsOptions options;
    options.chips.assign(program.chips.begin(), program.chips.end());
    options.virtualGpu = program.virtualGpu;
    options.virtualCpu = program.virtualCpu;
    options.instrument = program.instrument;
    pm.addPass(createAttachTargets(options));
    break;
  }
  case Phase::Schedule:
    pm.addPass(createCheckValueSizesPass());
    pm.addPass(createSchedule());
    pm.addNestedPass<func::FuncOp>(createCanonicalizerPass());
    pm.addNestedPass<func::FuncOp>(createCSEPass());
    break;
  case Phase::Binary: {
    DevicePipelineOptions device;
    buildDevicePipeline(pm, device);
    SerializeKernelsOptions options;
    options.ptxOnly = ptxOnly;
    pm.addPass(createSerializeKernels(options));
    pm.addPass(createHostToLLVM());
    break;
  }
  }
  return true;
}
