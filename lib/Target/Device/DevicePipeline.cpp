//===- DevicePipeline.cpp - The one device lowering -----------------------===//
//
// The order matters: strided metadata before the GPU conversion, which is the
// one that turns memory attributions into shared-memory globals and control
// flow into LLVM's; the conversions after it clean up what it leaves.
//
//===----------------------------------------------------------------------===//

#include "tessera/Target/DevicePipeline.h"

#include "Passes.h"

#include "dialects/Kernel/KernelDialect.h"

#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVM/NVVM/Target.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/GPU/GPUToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void tessera::buildDevicePipeline(OpPassManager &pm,
                                  const DevicePipelineOptions &options) {
  pm.addPass(createCheckValueSizesPass());
  OpPassManager &device = pm.nest<gpu::GPUModuleOp>();
  device.addPass(createNameSourceOpsPass());
  device.addPass(createKeepParamBytesPass());
  device.addPass(createConvertVectorToSCFPass());
  device.addPass(createSCFToControlFlowPass());
  device.addPass(createConvertNVGPUToNVVMPass());
  device.addPass(memref::createExpandStridedMetadataPass());
  device.addPass(createLowerAffinePass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
  device.addPass(createDeviceMathToNativePass());

  ConvertGpuOpsToNVVMOpsOptions toNvvm;
  toNvvm.indexBitwidth = options.indexBits;
  toNvvm.useBarePtrCallConv = true;
  device.addPass(createConvertGpuOpsToNVVMOps(toNvvm));
  device.addPass(createConvertVectorToLLVMPass());
  device.addPass(createConvertMathToLLVMPass());
  ConvertIndexToLLVMPassOptions indexOptions;
  indexOptions.indexBitwidth = options.indexBits;
  device.addPass(createConvertIndexToLLVMPass(indexOptions));
  ArithToLLVMConversionPassOptions arithOptions;
  arithOptions.indexBitwidth = options.indexBits;
  device.addPass(createArithToLLVMConversionPass(arithOptions));
  device.addPass(createReconcileUnrealizedCastsPass());
  device.addPass(createCanonicalizerPass());
  device.addPass(createCSEPass());
}

void tessera::registerDevicePasses() {
  registerPass(createCheckValueSizesPass);
  registerPass(createNameSourceOpsPass);
  registerPass(createKeepParamBytesPass);
  registerPass(createDeviceMathToNativePass);
}

void tessera::registerDeviceDialects(DialectRegistry &registry) {
  registry.insert<affine::AffineDialect, arith::ArithDialect,
                  cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  index::IndexDialect, kernel::KernelDialect, LLVM::LLVMDialect,
                  math::MathDialect, memref::MemRefDialect, nvgpu::NVGPUDialect,
                  NVVM::NVVMDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect>();
  // convert-gpu-to-nvvm asks each dialect for its patterns by interface.
  arith::registerConvertArithToLLVMInterface(registry);
  cf::registerConvertControlFlowToLLVMInterface(registry);
  index::registerConvertIndexToLLVMInterface(registry);
  registerConvertFuncToLLVMInterface(registry);
  registerConvertMathToLLVMInterface(registry);
  registerConvertMemRefToLLVMInterface(registry);
  ub::registerConvertUBToLLVMInterface(registry);
  vector::registerConvertVectorToLLVMInterface(registry);
  NVVM::registerNVVMTargetInterfaceExternalModels(registry);
  registerBuiltinDialectTranslation(registry);
  registerGPUDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerNVVMDialectTranslation(registry);
}
