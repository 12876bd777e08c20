//===- Emit.h - what compilation leaves behind ------------------*- C++ -*-===//
//
// Each function writes the whole file or none and returns "" or what went
// wrong. "-" as a path is standard output, for text.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PIPELINES_EMIT_H
#define TESSERA_LIB_PIPELINES_EMIT_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace tessera {

/// What one rank's program does, as text or JSON; from `partition` to `tile`.
std::string emitCounts(mlir::ModuleOp module, const std::string &path,
                       bool json);
std::string emitModule(mlir::ModuleOp module, const std::string &path);
/// The following take a module after the `binary` phase.
std::string emitLlvm(mlir::ModuleOp module, const std::string &path);
/// PTX or cubin; with several chips one file each, `.sm_80` before the
/// extension.
std::string emitImages(mlir::ModuleOp module, const std::string &path,
                       bool cubin);
std::string emitExecutable(mlir::ModuleOp module, const std::string &path,
                           const std::string &runtimeArchive);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_EMIT_H
