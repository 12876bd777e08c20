//===- GraphConfig.h - the config that a graph was built from -------------===//
#ifndef LIB_IMPORT_GRAPHCONFIG_H
#define LIB_IMPORT_GRAPHCONFIG_H

#include "dialects/Tessera/TesseraDialect.h"
#include "tessera/Import/ModelConfig.h"

#include "mlir/IR/BuiltinOps.h"

namespace tessera {

/// The config whose graph `module` is, as `import` leaves one. Fails, naming an
/// op, where no config has this graph.
llvm::Expected<ModelConfig> configOfGraph(mlir::ModuleOp module);

/// Reads and checks a `.mlir` file.
llvm::Expected<ModelConfig> readGraphConfig(llvm::StringRef path);

/// Whether the results of the functions that call layers are computed by the
/// same ops from the same parameters. Names of functions, order of ops and of
/// the operands of an add do not matter. On a difference `why` names the op of
/// `given`.
bool isSameGraph(mlir::ModuleOp given, mlir::ModuleOp expected,
                 std::string &why);

} // namespace tessera

#endif // LIB_IMPORT_GRAPHCONFIG_H
