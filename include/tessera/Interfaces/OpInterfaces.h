//===- OpInterfaces.h - cost and partition interfaces of graph ops --------===//
#ifndef TESSERA_INTERFACES_OPINTERFACES_H
#define TESSERA_INTERFACES_OPINTERFACES_H

#include "tessera/Interfaces/Cost.h"
#include "tessera/Interfaces/Sharding.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

#include "lib/Interfaces/OpInterfaces.h.inc"

#endif // TESSERA_INTERFACES_OPINTERFACES_H
