//===- tessera-opt.cpp - the passes one by one, for tests and for hands ---===//
#include "tessera/Pipelines/Registration.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"

#ifdef TESSERA_TEST_PASSES
namespace tessera::test {
void registerTesseraDialectTestPasses();
void registerImportTestPasses();
void registerInterpreterTestPasses();
} // namespace tessera::test
#endif

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  tessera::registerAllDialects(registry);
  tessera::registerAllPasses();
#ifdef TESSERA_TEST_PASSES
  tessera::test::registerTesseraDialectTestPasses();
  tessera::test::registerImportTestPasses();
  tessera::test::registerInterpreterTestPasses();
#endif
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Tessera pass driver\n", registry));
}
