//===- Registration.cpp - every dialect and pass, in one place ------------===//
#include "tessera/Pipelines/Registration.h"

#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NCCL/NCCLDialect.h"
#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Analysis/Passes.h"
#include "tessera/Conversion/HostToLLVM/HostToLLVM.h"
#include "tessera/Conversion/KernelToGPU/Passes.h"
#include "tessera/Conversion/NCCLToLLVM/NCCLToLLVM.h"
#include "tessera/Target/DevicePipeline.h"
#include "tessera/Target/Executable.h"
#include "tessera/Target/VirtualTarget.h"
#include "tessera/Transforms/Fuse/Passes.h"
#include "tessera/Transforms/Partition/Passes.h"
#include "tessera/Transforms/Plan/Passes.h"
#include "tessera/Transforms/Schedule/Passes.h"
#include "tessera/Transforms/Tile/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tessera::registerAllDialects(DialectRegistry &registry) {
  registry.insert<TesseraDialect, kernel::KernelDialect, nccl::NCCLDialect,
                  func::FuncDialect, arith::ArithDialect, memref::MemRefDialect,
                  scf::SCFDialect, cf::ControlFlowDialect, gpu::GPUDialect,
                  NVVM::NVVMDialect, LLVM::LLVMDialect, vector::VectorDialect,
                  math::MathDialect>();
  registerDeviceDialects(registry);
  registerVirtualTargetInterfaces(registry);
}

void tessera::registerAllPasses() {
  registerTransformsPasses();
  registerAnalysisPasses();
  registerPlanPasses();
  registerPartitionPasses();
  registerKernelsPasses();
  registerFusePasses();
  registerTilePasses();
  registerSchedulePasses();
  registerNCCLToLLVMPasses();
  registerHostToLLVMPasses();
  registerDevicePasses();
  registerExecutablePasses();
}
