//===- BinaryTable.cpp - #kernel.binary_table -----------------------------===//
//
// The C structures of tessera/Runtime/BinaryTable.h as LLVM constants, and the
// call that launches a kernel by its number in the table.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/BinaryTable.h"
#include "tessera/Target/Executable.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"

using namespace mlir;
using namespace tessera;

namespace {
std::string tableSymbol(StringRef binary) { return (binary + "_table").str(); }

/// Builds the constants of one table.
class TableBuilder {
public:
  explicit TableBuilder(llvm::Module &module)
      : module(module), context(module.getContext()),
        pointer(llvm::PointerType::getUnqual(context)),
        i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)) {}

  LogicalResult build(gpu::BinaryOp binary);

private:
  llvm::GlobalVariable *constant(llvm::Constant *value, llvm::Align alignment) {
    auto *global =
        new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                 llvm::GlobalValue::PrivateLinkage, value);
    global->setAlignment(alignment);
    return global;
  }
  llvm::Constant *text(StringRef value) {
    return constant(llvm::ConstantDataArray::getString(context, value),
                    llvm::Align(1));
  }
  llvm::Constant *number(llvm::Type *type, uint64_t value) {
    return llvm::ConstantInt::get(type, value);
  }
  llvm::Constant *array(llvm::Type *type, ArrayRef<llvm::Constant *> values) {
    return constant(llvm::ConstantArray::get(
                        llvm::ArrayType::get(type, values.size()), values),
                    llvm::Align(16));
  }

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  llvm::Type *i32, *i64;
};
} // namespace

LogicalResult TableBuilder::build(gpu::BinaryOp binary) {
  auto names = binary->getAttrOfType<ArrayAttr>(kKernelNamesAttrName);
  if (!names)
    return binary.emitError() << "has no '" << kKernelNamesAttrName
                              << "', the names of its kernels";
  SmallVector<llvm::Constant *> nameTexts, images;
  for (auto name : names.getAsValueRange<StringAttr>())
    nameTexts.push_back(text(name));
  auto *imageType =
      llvm::StructType::get(context, {i32, i32, pointer, pointer, i64});
  llvm::Constant *virtualObject = llvm::ConstantPointerNull::get(pointer);
  for (Attribute attribute : binary.getObjects()) {
    auto object = cast<gpu::ObjectAttr>(attribute);
    if (isa<kernel::VirtualTargetAttr>(object.getTarget())) {
      virtualObject =
          module.getOrInsertGlobal(virtualObjectSymbol(binary.getName()),
                                   llvm::Type::getInt8Ty(context));
      continue;
    }
    auto target = dyn_cast<NVVM::NVVMTargetAttr>(object.getTarget());
    if (!target)
      return binary.emitError() << "holds an object for " << object.getTarget()
                                << ", which no runtime loads";
    unsigned sm = 0;
    target.getChip()
        .drop_while([](char c) { return !llvm::isDigit(c); })
        .take_while(llvm::isDigit)
        .getAsInteger(10, sm);
    bool isPtx = object.getFormat() == gpu::CompilationTarget::Assembly;
    StringRef bytes = object.getObject().getValue();
    // PTX is text and ends with a zero, which its size does not count.
    llvm::Constant *data =
        constant(llvm::ConstantDataArray::getString(context, bytes, isPtx),
                 llvm::Align(16));
    images.push_back(llvm::ConstantStruct::get(
        imageType,
        {number(i32, isPtx ? TESSERA_IMAGE_PTX : TESSERA_IMAGE_CUBIN),
         number(i32, sm), text(target.getChip()), data,
         number(i64, bytes.size())}));
  }
  auto *state = new llvm::GlobalVariable(
      module, pointer, /*isConstant=*/false, llvm::GlobalValue::PrivateLinkage,
      llvm::ConstantPointerNull::get(pointer));
  SmallVector<llvm::Constant *> fields = {
      number(i32, TESSERA_BINARY_TABLE_VERSION),
      number(i32, names.size()),
      text(binary.getName()),
      array(pointer, nameTexts),
      virtualObject,
      number(i32, images.size()),
      number(i32, 0),
      array(imageType, images),
      state};
  llvm::Constant *table = llvm::ConstantStruct::getAnon(context, fields);
  auto *global = new llvm::GlobalVariable(
      module, table->getType(), /*isConstant=*/true,
      llvm::GlobalValue::InternalLinkage, table, tableSymbol(binary.getName()));
  global->setAlignment(llvm::Align(16));
  return success();
}

namespace {
struct BinaryTableModel
    : gpu::OffloadingLLVMTranslationAttrInterface::FallbackModel<
          BinaryTableModel> {
  LogicalResult embedBinary(Attribute, Operation *op, llvm::IRBuilderBase &,
                            LLVM::ModuleTranslation &translation) const {
    auto binary = dyn_cast<gpu::BinaryOp>(op);
    if (!binary)
      return op->emitError("expected a gpu.binary");
    return TableBuilder(*translation.getLLVMModule()).build(binary);
  }

  LogicalResult launchKernel(Attribute, Operation *launchOp,
                             Operation *binaryOp, llvm::IRBuilderBase &builder,
                             LLVM::ModuleTranslation &translation) const {
    auto launch = cast<gpu::LaunchFuncOp>(launchOp);
    auto binary = cast<gpu::BinaryOp>(binaryOp);
    auto names = binary->getAttrOfType<ArrayAttr>(kKernelNamesAttrName);
    auto *at = llvm::find(names, launch.getKernelName());
    if (at == names.end())
      return launch.emitError() << "launches '" << launch.getKernelName()
                                << "', which the binary does not hold";
    llvm::Module &module = *translation.getLLVMModule();
    llvm::LLVMContext &context = module.getContext();
    llvm::Type *pointer = llvm::PointerType::getUnqual(context);
    llvm::Type *i32 = builder.getInt32Ty(), *i64 = builder.getInt64Ty();
    auto value = [&](Value v) { return translation.lookupValue(v); };

    // The array of pointers to arguments lives in the function's frame.
    llvm::Function *function = builder.GetInsertBlock()->getParent();
    llvm::IRBuilder<> frame(&function->getEntryBlock(),
                            function->getEntryBlock().begin());
    auto operands = launch.getKernelOperands();
    llvm::Value *params = frame.CreateAlloca(
        llvm::ArrayType::get(pointer, operands.size()), nullptr, "params");
    for (auto [i, operand] : llvm::enumerate(operands)) {
      llvm::Value *argument = value(operand);
      llvm::Value *slot = frame.CreateAlloca(argument->getType());
      builder.CreateStore(argument, slot);
      builder.CreateStore(
          slot,
          builder.CreateConstInBoundsGEP2_64(
              llvm::ArrayType::get(pointer, operands.size()), params, 0, i));
    }
    llvm::Value *shared = launch.getDynamicSharedMemorySize()
                              ? value(launch.getDynamicSharedMemorySize())
                              : builder.getInt32(0);
    llvm::FunctionCallee callee = module.getOrInsertFunction(
        "tessera_launch",
        llvm::FunctionType::get(
            builder.getVoidTy(),
            {pointer, i32, i64, i64, i64, i64, i64, i64, i32, pointer, pointer},
            false));
    auto dim = [&](Value v) {
      return builder.CreateZExtOrTrunc(value(v), i64);
    };
    builder.CreateCall(
        callee, {module.getNamedGlobal(tableSymbol(binary.getName())),
                 builder.getInt32(std::distance(names.begin(), at)),
                 dim(launch.getGridSizeX()), dim(launch.getGridSizeY()),
                 dim(launch.getGridSizeZ()), dim(launch.getBlockSizeX()),
                 dim(launch.getBlockSizeY()), dim(launch.getBlockSizeZ()),
                 shared, value(launch.getAsyncObject()), params});
    return success();
  }
};
} // namespace

void tessera::registerBinaryTableInterface(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, kernel::KernelDialect *dialect) {
        kernel::BinaryTableAttr::attachInterface<BinaryTableModel>(*context);
      });
}
