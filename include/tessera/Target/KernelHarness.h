//===- KernelHarness.h - Try one kernel without a program -------*- C++ -*-===//
//
// For the tests and benchmarks of kernel writers: takes a module with a
// gpu.module of unlowered gpu.func kernels, runs the shared device pipeline
// once, and then offers
//   - ptx(chip), and the cubin with registers and spills if ptxas is found;
//   - launch(...) on the virtual GPU, with host pointers as device memory.
//
//   mlir::MLIRContext context(tessera::KernelHarness::registry());
//   auto module = ...;          // ModuleOp holding gpu.module { gpu.func ... }
//   std::string error;
//   auto harness = tessera::KernelHarness::create(*module, error);
//   ASSERT_TRUE(harness) << error;
//   std::vector<float> a(n), b(n), c(n);
//   error = harness->launch("vadd", {{grid, 1, 1}, {256, 1, 1}},
//                           {a.data(), b.data(), c.data()});
//   ASSERT_EQ(error, "");
//
// Memref arguments are bare pointers, scalars are passed by value. The
// checking mode takes the extent of a buffer from the static memref type.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_TARGET_KERNELHARNESS_H
#define TESSERA_TARGET_KERNELHARNESS_H

#include "tessera/Runtime/Virtual/VirtualDevice.h"
#include "tessera/Target/DevicePipeline.h"
#include "tessera/Target/Ptx.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

/// Grid, block and dynamic shared memory of one launch.
struct LaunchShape {
  uint64_t grid[3] = {1, 1, 1};
  uint64_t block[3] = {1, 1, 1};
  uint32_t dynamicSharedBytes = 0;
};

/// One kernel argument: a pointer to host memory, or a scalar of up to 8
/// bytes whose type must match the kernel's (int32_t for i32, int64_t for
/// index, float for f32).
class KernelArg {
public:
  template <typename T>
  KernelArg(T value) {
    static_assert(sizeof(T) <= sizeof(storage), "argument over 8 bytes");
    std::memcpy(&storage, &value, sizeof(T));
  }
  void *address() { return &storage; }

private:
  uint64_t storage = 0;
};

struct HarnessOptions {
  DevicePipelineOptions pipeline;
  /// Compile for the checking and counting modes as well (slower code).
  bool instrument = false;
  /// Optimisation level of the host code, 0 to 3.
  unsigned optLevel = 3;
};

struct LaunchOptions {
  uint64_t seed = 0;    ///< 0: index order, otherwise a random order
  unsigned threads = 1; ///< OS threads, 0: one per core
  bool check = false;   ///< needs HarnessOptions::instrument
  bool count = false;   ///< needs HarnessOptions::instrument
  unsigned simd = 0;    ///< as tessera_virtual_options::simd
};

class KernelHarness {
public:
  /// All dialects a kernel writer needs, with the interfaces of both targets.
  static const mlir::DialectRegistry &registry();

  /// Lowers a clone of `module` (which must hold exactly one gpu.module) and
  /// compiles it for the virtual GPU. Returns null and the diagnostics.
  static std::unique_ptr<KernelHarness> create(mlir::ModuleOp module,
                                               std::string &error,
                                               const HarnessOptions &options = {});
  ~KernelHarness();

  /// Runs a kernel to its end. Returns "" or what went wrong.
  std::string launch(llvm::StringRef kernel, const LaunchShape &shape,
                     std::vector<KernelArg> args,
                     const LaunchOptions &options = {});

  /// PTX for `chip` ("sm_80", "sm_90"), "" and `error` on failure.
  std::string ptx(llvm::StringRef chip, std::string &error);

  /// Cubin for `chip` and what ptxas says of every kernel. Returns "" and
  /// `error` on failure; without a ptxas the error says so, see findPtxas().
  std::string cubin(llvm::StringRef chip, std::string &error,
                    std::vector<KernelResources> *resources = nullptr);

  /// The lowered module (llvm and nvvm dialects), for a look.
  mlir::ModuleOp lowered();

private:
  KernelHarness();
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tessera

#endif // TESSERA_TARGET_KERNELHARNESS_H
