//===- Matmul.cpp - the matmul family's entry points ----------------------===//
#include "tessera/Conversion/KernelToGPU/Matmul.h"
#include "EpilogueMath.h"
#include "MatmulTiles.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace tessera::kernels;

SmallVector<Type> tessera::kernels::matmulArgumentTypes(const MatmulSpec &spec,
                                                        MLIRContext *context) {
  Type in = elementType(context, spec.type);
  auto type = [&](ArrayRef<int64_t> shape, Type element) -> Type {
    return globalMemRef(context, shape, element);
  };
  SmallVector<Type> types{type({spec.m, spec.k}, in)};
  types.push_back(spec.weightOutIn ? type({spec.n, spec.k}, in)
                                   : type({spec.k, spec.n}, in));
  llvm::append_range(types,
                     epilogueArgumentTypes(spec, type({spec.m, spec.n}, in)));
  types.push_back(type({spec.m, spec.n}, elementType(context, spec.outType)));
  return types;
}

LaunchShape tessera::kernels::matmulLaunchShape(const MatmulSpec &spec,
                                                const MatmulConfig &config) {
  MatmulTiles tiles(spec, config);
  LaunchShape shape;
  shape.grid = {tiles.gridM * tiles.gridN, 1, 1};
  shape.block = {tiles.threads, 1, 1};
  shape.dynamicSharedBytes = tiles.sharedBytes();
  return shape;
}

FailureOr<gpu::GPUFuncOp>
tessera::kernels::buildMatmul(OpBuilder &builder, gpu::GPUModuleOp module,
                              StringRef name, const MatmulSpec &spec,
                              const MatmulConfig &config) {
  std::string error;
  // The widest limits of any known chip: whether the chip at hand can run it
  // is for whoever chose the configuration.
  if (failed(checkMatmul(spec, config, *chipLimits(90), error)))
    return module.emitError() << "kernel '" << name << "': " << error;
  MatmulTiles tiles(spec, config);
  KernelBuilder kb(builder, module, name,
                   matmulArgumentTypes(spec, builder.getContext()),
                   tiles.threads);
  if (spec.type == Element::BF16)
    emitMatmulBF16(kb, tiles);
  else
    emitMatmulF32(kb, tiles);
  return kb.finish();
}
