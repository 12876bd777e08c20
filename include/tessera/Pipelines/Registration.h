//===- Registration.h - every dialect and pass, in one place ----*- C++ -*-===//
#ifndef TESSERA_PIPELINES_REGISTRATION_H
#define TESSERA_PIPELINES_REGISTRATION_H

#include "mlir/IR/DialectRegistry.h"

namespace tessera {

/// All dialects that occur in any phase, with the interfaces and translations
/// that compiling needs.
void registerAllDialects(mlir::DialectRegistry &registry);

/// All passes of our own, upstream's general ones, and the pipelines; for tools
/// that take passes by name.
void registerAllPasses();

} // namespace tessera

#endif // TESSERA_PIPELINES_REGISTRATION_H
