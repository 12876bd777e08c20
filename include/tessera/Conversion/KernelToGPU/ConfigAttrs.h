//===- ConfigAttrs.h - configs as attributes and back -----------*- C++ -*-===//
#ifndef TESSERA_CONVERSION_KERNELTOGPU_CONFIGATTRS_H
#define TESSERA_CONVERSION_KERNELTOGPU_CONFIGATTRS_H

#include "dialects/Kernel/KernelDialect.h"
#include "tessera/Conversion/KernelToGPU/KernelSpec.h"

namespace tessera::kernels {

inline MatmulConfig toConfig(kernel::MatmulConfigAttr attribute) {
  return {attribute.getBlockM(), attribute.getBlockN(), attribute.getBlockK(),
          attribute.getWarpsM(), attribute.getWarpsN(), attribute.getStages(),
          attribute.getGroupM()};
}

inline kernel::MatmulConfigAttr toAttribute(const MatmulConfig &config,
                                            mlir::MLIRContext *context) {
  return kernel::MatmulConfigAttr::get(
      context, config.blockM, config.blockN, config.blockK, config.warpsM,
      config.warpsN, config.stages, config.groupM);
}

inline AttentionConfig toConfig(kernel::AttentionConfigAttr attribute) {
  return {attribute.getBlockQ(), attribute.getBlockKv(), attribute.getWarps(),
          attribute.getStages()};
}

inline kernel::AttentionConfigAttr toAttribute(const AttentionConfig &config,
                                               mlir::MLIRContext *context) {
  return kernel::AttentionConfigAttr::get(
      context, config.blockQ, config.blockKV, config.warps, config.stages);
}

} // namespace tessera::kernels

#endif // TESSERA_CONVERSION_KERNELTOGPU_CONFIGATTRS_H
