//===- tessera-opt.cpp - the passes one by one, for tests and for hands ---===//
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NCCL/NCCLDialect.h"
#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"

#ifdef TESSERA_TEST_PASSES
namespace tessera::test {
void registerTesseraDialectTestPasses();
} // namespace tessera::test
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<tessera::TesseraDialect, tessera::kernel::KernelDialect,
                  tessera::nccl::NCCLDialect, mlir::func::FuncDialect,
                  mlir::arith::ArithDialect, mlir::memref::MemRefDialect,
                  mlir::scf::SCFDialect, mlir::cf::ControlFlowDialect,
                  mlir::gpu::GPUDialect, mlir::NVVM::NVVMDialect,
                  mlir::LLVM::LLVMDialect, mlir::vector::VectorDialect>();
  mlir::registerTransformsPasses();
#ifdef TESSERA_TEST_PASSES
  tessera::test::registerTesseraDialectTestPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera pass driver\n", registry));
}
