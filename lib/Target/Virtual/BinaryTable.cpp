//===- BinaryTable.cpp - #kernel.binary_table -----------------------------===//
//
// Writes a gpu.binary as a constant tessera_binary_table and a gpu.launch_func
// as a call of tessera_launch. Upstream's handler embeds the first object only
// and loads it in a constructor; this one leaves every choice to the runtime.
//
//===----------------------------------------------------------------------===//

#include "BinaryTable.h"

#include "tessera/Runtime/BinaryTable.h"
#include "tessera/Target/DeviceBinary.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

using namespace mlir;
using namespace tessera;

namespace {

std::string tableSymbol(gpu::BinaryOp binary) {
  return ("tessera_binary_table_" + binary.getName()).str();
}

/// "sm_90a" -> 90.
uint32_t smOf(StringRef chip) {
  uint32_t sm = 0;
  chip.consume_front("sm_");
  (void)chip.take_while(llvm::isDigit).getAsInteger(10, sm);
  return sm;
}

class TableEmitter {
public:
  TableEmitter(gpu::BinaryOp binary, llvm::Module &module)
      : binary(binary), module(module), b(module.getContext()),
        pointer(b.getPtrTy()), i32(b.getInt32Ty()), i64(b.getInt64Ty()) {}

  LogicalResult emit() {
    SmallVector<StringRef> names = kernelNames(binary);
    if (names.empty())
      return binary.emitOpError()
             << "names no kernels: no object has the property 'kernels'";
    SmallVector<llvm::Constant *> kernels;
    for (StringRef name : names)
      kernels.push_back(text(name));
    llvm::Constant *virtualObject = llvm::ConstantPointerNull::get(pointer);
    SmallVector<llvm::Constant *> images;
    for (Attribute attribute : binary.getObjects()) {
      auto object = cast<gpu::ObjectAttr>(attribute);
      if (isa<kernel::VirtualTargetAttr>(object.getTarget())) {
        virtualObject = module.getOrInsertGlobal(
            virtualObjectSymbol(binary.getName()), b.getInt8Ty());
        continue;
      }
      FailureOr<llvm::Constant *> one = image(object);
      if (failed(one))
        return failure();
      images.push_back(*one);
    }
    auto *state =
        new llvm::GlobalVariable(module, pointer, /*isConstant=*/false,
                                 llvm::GlobalValue::InternalLinkage,
                                 llvm::ConstantPointerNull::get(pointer));
    // Field for field as tessera_binary_table.
    auto *type = llvm::StructType::get(
        module.getContext(),
        {i32, i32, pointer, pointer, pointer, i32, i32, pointer, pointer});
    auto *table = llvm::ConstantStruct::get(
        type,
        {b.getInt32(TESSERA_BINARY_TABLE_VERSION), b.getInt32(kernels.size()),
         text(binary.getName()), array(pointer, kernels), virtualObject,
         b.getInt32(images.size()), b.getInt32(0), array(imageType(), images),
         state});
    new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                             llvm::GlobalValue::InternalLinkage, table,
                             tableSymbol(binary));
    return success();
  }

private:
  llvm::StructType *imageType() {
    return llvm::StructType::get(module.getContext(),
                                 {i32, i32, pointer, pointer, i64});
  }

  FailureOr<llvm::Constant *> image(gpu::ObjectAttr object) {
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    bool cubin = object.getFormat() == gpu::CompilationTarget::Binary;
    if (!target ||
        (!cubin && object.getFormat() != gpu::CompilationTarget::Assembly))
      return binary.emitOpError()
             << "holds an object that is neither a cubin, nor PTX, nor "
                "virtual-GPU code";
    StringRef bytes = object.getObject().getValue();
    // PTX is handed to the driver as a C string.
    auto *data = llvm::ConstantDataArray::getString(module.getContext(), bytes,
                                                    /*AddNull=*/!cubin);
    auto *global = new llvm::GlobalVariable(
        module, data->getType(),
        /*isConstant=*/true, llvm::GlobalValue::PrivateLinkage, data);
    global->setAlignment(llvm::Align(16));
    return static_cast<llvm::Constant *>(llvm::ConstantStruct::get(
        imageType(),
        {b.getInt32(cubin ? TESSERA_IMAGE_CUBIN : TESSERA_IMAGE_PTX),
         b.getInt32(smOf(target.getChip())), text(target.getChip()), global,
         b.getInt64(bytes.size())}));
  }

  llvm::Constant *text(StringRef value) {
    return b.CreateGlobalString(value, "", 0, &module);
  }

  llvm::Constant *array(llvm::Type *element,
                        ArrayRef<llvm::Constant *> values) {
    if (values.empty())
      return llvm::ConstantPointerNull::get(pointer);
    auto *type = llvm::ArrayType::get(element, values.size());
    return new llvm::GlobalVariable(module, type, /*isConstant=*/true,
                                    llvm::GlobalValue::PrivateLinkage,
                                    llvm::ConstantArray::get(type, values));
  }

  gpu::BinaryOp binary;
  llvm::Module &module;
  llvm::IRBuilder<> b;
  llvm::PointerType *pointer;
  llvm::Type *i32, *i64;
};

/// The table of the binary; a declaration that its definition will take over
/// if the launch is translated first.
llvm::GlobalVariable *findTable(gpu::BinaryOp binary, llvm::Module &module) {
  return module.getGlobalVariable(tableSymbol(binary),
                                  /*AllowInternal=*/true);
}

struct BinaryTableModel
    : gpu::OffloadingLLVMTranslationAttrInterface::FallbackModel<
          BinaryTableModel> {
  LogicalResult embedBinary(Attribute, Operation *op, llvm::IRBuilderBase &,
                            LLVM::ModuleTranslation &translation) const {
    auto binary = dyn_cast<gpu::BinaryOp>(op);
    if (!binary)
      return op->emitError("expected a gpu.binary");
    llvm::Module &module = *translation.getLLVMModule();
    if (findTable(binary, module))
      return success();
    return TableEmitter(binary, module).emit();
  }

  LogicalResult launchKernel(Attribute attribute, Operation *launchOp,
                             Operation *binaryOp, llvm::IRBuilderBase &b,
                             LLVM::ModuleTranslation &translation) const {
    auto launch = dyn_cast<gpu::LaunchFuncOp>(launchOp);
    auto binary = dyn_cast<gpu::BinaryOp>(binaryOp);
    if (!launch || !binary)
      return launchOp->emitError("expected a gpu.launch_func of a gpu.binary");
    if (launch.hasClusterSize())
      return launch.emitOpError("has a cluster size, which tessera_launch does "
                                "not take");
    // A launch may be translated before its binary.
    if (failed(embedBinary(attribute, binaryOp, b, translation)))
      return failure();
    SmallVector<StringRef> names = kernelNames(binary);
    StringRef name = launch.getKernelName().getValue();
    auto *place = llvm::find(names, name);
    if (place == names.end())
      return launch.emitOpError() << "launches '" << name << "', which binary '"
                                  << binary.getName() << "' does not hold";
    llvm::Module &module = *translation.getLLVMModule();
    llvm::Type *i32 = b.getInt32Ty(), *i64 = b.getInt64Ty();
    llvm::Type *pointer = b.getPtrTy();

    // The argument array lives in the entry block: a launch in a loop must not
    // grow the stack.
    auto operands = translation.lookupValues(launch.getKernelOperands());
    llvm::Function *function = b.GetInsertBlock()->getParent();
    llvm::IRBuilder<> top(&function->getEntryBlock(),
                          function->getEntryBlock().begin());
    llvm::Value *params = top.CreateAlloca(
        pointer, top.getInt32(std::max<size_t>(operands.size(), 1)));
    for (auto [index, operand] : llvm::enumerate(operands)) {
      llvm::Value *slot = top.CreateAlloca(operand->getType());
      b.CreateStore(operand, slot);
      b.CreateStore(slot, b.CreateConstInBoundsGEP1_64(pointer, params, index));
    }
    auto size = [&](Value value) {
      return b.CreateZExtOrTrunc(translation.lookupValue(value), i64);
    };
    gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
    gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
    llvm::Value *shared = b.getInt32(0);
    if (Value bytes = launch.getDynamicSharedMemorySize())
      shared = b.CreateZExtOrTrunc(translation.lookupValue(bytes), i32);
    llvm::Value *stream = llvm::ConstantPointerNull::get(b.getPtrTy());
    if (Value object = launch.getAsyncObject())
      stream = translation.lookupValue(object);
    llvm::FunctionCallee callee = module.getOrInsertFunction(
        "tessera_launch", b.getVoidTy(), pointer, i32, i64, i64, i64, i64, i64,
        i64, i32, pointer, pointer);
    b.CreateCall(callee,
                 {findTable(binary, module),
                  b.getInt32(static_cast<uint32_t>(place - names.begin())),
                  size(grid.x), size(grid.y), size(grid.z), size(block.x),
                  size(block.y), size(block.z), shared, stream, params});
    return success();
  }
};

} // namespace

void tessera::attachBinaryTableInterface(MLIRContext &context) {
  kernel::BinaryTableAttr::attachInterface<BinaryTableModel>(context);
}
