//===- CopyTest.cpp - transposes and slices of memory ---------------------===//
//
// Against index arithmetic on plain vectors; elements are distinct integers, so
// any misplaced one shows. Widths that are no multiple of an access are among
// them, and all three sizes of elements.
//
//===----------------------------------------------------------------------===//
#include "KernelTest.h"

#include "tessera/Conversion/KernelToGPU/Copy.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;
using namespace tessera::kernels::test;

namespace {
enum class Kind { I32, F32, BF16 };

/// Builds and runs the copy on `In[i] = i + 1`; slices take part `index`.
template <typename T>
std::vector<T> runCopy(CopySpec spec, Kind kind, int64_t index) {
  std::vector<T> in(spec.rows * spec.cols * spec.inner), out;
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<T>(i + 1);
  out.assign(spec.outElements(), T(0));
  auto harness =
      compileKernel([&](OpBuilder &builder, gpu::GPUModuleOp module) {
        spec.element = kind == Kind::I32   ? Type(builder.getI32Type())
                       : kind == Kind::F32 ? Type(builder.getF32Type())
                                           : Type(builder.getBF16Type());
        EXPECT_TRUE(succeeded(buildCopy(builder, module, "copy", spec)));
      });
  std::vector<KernelArg> arguments = {in.data(), out.data()};
  if (spec.kind == CopySpec::Kind::Slice)
    arguments.push_back(index);
  tessera::LaunchOptions options;
  options.seed = 5;
  options.check = true;
  EXPECT_EQ(
      harness->launch("copy", toHarness(launchShape(spec)), arguments, options),
      "");
  return out;
}

template <typename T>
void expectTranspose(int64_t rows, int64_t cols, int64_t inner, Kind kind) {
  CopySpec spec{CopySpec::Kind::Transpose, rows, cols, inner, {}};
  std::vector<T> out = runCopy<T>(spec, kind, 0);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < cols; ++c)
      for (int64_t i = 0; i < inner; ++i)
        ASSERT_EQ(out[(c * rows + r) * inner + i],
                  static_cast<T>((r * cols + c) * inner + i + 1))
            << r << " " << c << " " << i;
}

template <typename T>
void expectSlice(int64_t rows, int64_t cols, int64_t inner, Kind kind) {
  CopySpec spec{CopySpec::Kind::Slice, rows, cols, inner, {}};
  for (int64_t index = 0; index < cols; ++index) {
    std::vector<T> out = runCopy<T>(spec, kind, index);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < inner; ++i)
        ASSERT_EQ(out[r * inner + i],
                  static_cast<T>((r * cols + index) * inner + i + 1))
            << index << " " << r << " " << i;
  }
}
} // namespace

TEST(Copy, Transpose) {
  expectTranspose<int32_t>(4, 2, 96, Kind::F32);
  expectTranspose<int32_t>(3, 5, 7, Kind::I32);
  expectTranspose<uint16_t>(2, 4, 44, Kind::BF16);
  expectTranspose<uint16_t>(3, 2, 39, Kind::BF16);
  expectTranspose<int32_t>(5, 6, 1, Kind::F32);
}

TEST(Copy, PlainCopyOfManyBlocks) {
  expectTranspose<int32_t>(1, 1, 5000, Kind::F32);
  expectTranspose<int32_t>(1, 7, 333, Kind::F32);
}

TEST(Copy, Slice) {
  expectSlice<int32_t>(2, 4, 24, Kind::F32);
  expectSlice<int32_t>(1, 3, 5, Kind::I32);
  expectSlice<uint16_t>(3, 2, 13, Kind::BF16);
}
