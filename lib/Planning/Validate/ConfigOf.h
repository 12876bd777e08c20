//===- ConfigOf.h - a model config for a row's sizes ----------------------===//
#ifndef TESSERA_LIB_PLANNING_VALIDATE_CONFIGOF_H
#define TESSERA_LIB_PLANNING_VALIDATE_CONFIGOF_H

#include "tessera/Import/ModelConfig.h"
#include "tessera/Planning/ModelShape.h"

namespace tessera {

/// The decoder that has these sizes: the family that fits (Llama, Mixtral or
/// DeepSeek-V3) with the parts that the row's model lacks taken out. Fails
/// where no such decoder exists.
llvm::Expected<ModelConfig> configOf(const ModelShape &shape);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_VALIDATE_CONFIGOF_H
