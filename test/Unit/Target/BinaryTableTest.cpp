//===- BinaryTableTest.cpp - From a gpu.binary to a launch ----------------===//
//
// A host function with a gpu.launch_func is compiled together with its binary;
// this file plays the runtime: it implements tessera_launch, looks at the table
// and runs the virtual-GPU kernel.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

#include "tessera/Target/DeviceBinary.h"
#include "tessera/Target/Executable.h"
#include "tessera/Target/VirtualTarget.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"

using namespace tessera;

namespace {

const tessera_binary_table *seenTable;
std::string launchResult;
void *seenStream;

void playLaunch(const tessera_binary_table *table, uint32_t kernel, uint64_t gx,
                uint64_t gy, uint64_t gz, uint64_t bx, uint64_t by, uint64_t bz,
                uint32_t shared, void *stream, void **params) {
  seenTable = table;
  seenStream = stream;
  uint64_t grid[3] = {gx, gy, gz}, block[3] = {bx, by, bz};
  launchResult = tessera_virtual_launch(table->virtual_object, kernel, grid,
                                        block, shared, params)
                     ? tessera_virtual_last_error()
                     : "";
}

const char *program = R"(
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @first(%a: memref<64xf32>) kernel {
      gpu.return
    }
    gpu.func @scale(%a: memref<64xf32>, %s: f32) kernel {
      %t = gpu.thread_id x
      %v = memref.load %a[%t] : memref<64xf32>
      %w = arith.mulf %v, %s : f32
      memref.store %w, %a[%t] : memref<64xf32>
      gpu.return
    }
  }
})";

const char *hostFunction = R"(
  llvm.func @run(%a: !llvm.ptr, %s: f32, %stream: !llvm.ptr) {
    %c1 = llvm.mlir.constant(1 : i64) : i64
    %c64 = llvm.mlir.constant(64 : i64) : i64
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@scale
      blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) : i64
      args(%a : !llvm.ptr, %s : f32)
    llvm.return
  }
)";

TEST(BinaryTable, LaunchesThroughTheTable) {
  mlir::MLIRContext context(KernelHarness::registry());
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(program, &context);
  ASSERT_TRUE(module);
  mlir::PassManager passes(&context);
  AttachTargetsOptions targets;
  targets.chips = {"sm_80", "sm_90"};
  passes.addPass(createAttachTargets(targets));
  buildDevicePipeline(passes);
  ASSERT_TRUE(succeeded(passes.run(*module)));
  // The launch takes what the lowered kernel takes: pointers.
  std::string text;
  llvm::raw_string_ostream printer(text);
  module->print(printer);
  text.insert(text.rfind('}'), hostFunction);
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  mlir::PassManager serialize(&context);
  SerializeKernelsOptions ptx;
  ptx.ptxOnly = true;
  serialize.addPass(createSerializeKernels(ptx));
  ASSERT_TRUE(succeeded(serialize.run(*module)));
  mlir::gpu::BinaryOp binary = *module->getOps<mlir::gpu::BinaryOp>().begin();
  EXPECT_EQ(kernelNames(binary),
            (llvm::SmallVector<llvm::StringRef>{"first", "scale"}));
  std::string object = extractVirtualObject(binary).str();
  ASSERT_EQ(object.substr(1, 3), "ELF");

  auto llvmContext = std::make_unique<llvm::LLVMContext>();
  auto host = translateHostModule(*module, *llvmContext);
  ASSERT_TRUE(host);
  // Nothing may run before main.
  EXPECT_EQ(host->getNamedGlobal("llvm.global_ctors"), nullptr);

  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  auto jit = llvm::cantFail(llvm::orc::LLJITBuilder().create());
  auto &library = jit->getMainJITDylib();
  llvm::orc::SymbolMap symbols;
  auto define = [&](const char *name, void *address) {
    symbols[jit->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported};
  };
  define("tessera_launch", reinterpret_cast<void *>(&playLaunch));
  size_t count = 0;
  const tessera_virtual_symbol *list = tessera_virtual_symbols(&count);
  for (size_t i = 0; i < count; ++i)
    define(list[i].name, list[i].address);
  llvm::cantFail(library.define(llvm::orc::absoluteSymbols(symbols)));
  host->setDataLayout(jit->getDataLayout());
  llvm::cantFail(jit->addIRModule(
      llvm::orc::ThreadSafeModule(std::move(host), std::move(llvmContext))));
  llvm::cantFail(
      jit->addObjectFile(llvm::MemoryBuffer::getMemBufferCopy(object)));
  auto run = llvm::cantFail(jit->lookup("run"))
                 .toPtr<void (*)(float *, float, void *)>();

  std::vector<float> a(64);
  for (int i = 0; i < 64; ++i)
    a[i] = static_cast<float>(i);
  int stream = 0;
  run(a.data(), 3.0f, &stream);
  EXPECT_EQ(launchResult, "");
  EXPECT_EQ(seenStream, &stream);
  for (int i = 0; i < 64; ++i)
    ASSERT_EQ(a[i], 3.0f * i);

  const tessera_binary_table &table = *seenTable;
  EXPECT_EQ(table.version, TESSERA_BINARY_TABLE_VERSION);
  EXPECT_STREQ(table.name, "kernels");
  ASSERT_EQ(table.num_kernels, 2u);
  EXPECT_STREQ(table.kernel_names[1], "scale");
  ASSERT_EQ(table.virtual_object->num_kernels, 2u);
  EXPECT_STREQ(table.virtual_object->kernels[1].name, "scale");
  EXPECT_EQ(table.virtual_object->kernels[1].num_params, 2u);
  EXPECT_EQ(table.virtual_object->kernels[1].param_bytes[0], 256u);
  EXPECT_EQ(table.virtual_object->kernels[1].param_bytes[1], 0u);
  ASSERT_NE(table.state, nullptr);
  EXPECT_EQ(*table.state, nullptr);
  ASSERT_EQ(table.num_images, 2u);
  for (int i = 0; i < 2; ++i) {
    const tessera_image &image = table.images[i];
    EXPECT_EQ(image.kind, TESSERA_IMAGE_PTX);
    EXPECT_EQ(image.sm, i ? 90u : 80u);
    EXPECT_STREQ(image.chip, i ? "sm_90" : "sm_80");
    EXPECT_EQ(reinterpret_cast<uintptr_t>(image.data) % 16, 0u);
    std::string text(static_cast<const char *>(image.data), image.size);
    EXPECT_NE(text.find(".entry scale"), std::string::npos);
    EXPECT_EQ(static_cast<const char *>(image.data)[image.size], '\0');
  }
}

} // namespace
