//===- MmaTileTest.cpp - Tensor-core tiles --------------------------------===//
//
// Every mma.sync kind of the virtual GPU against a plain triple loop in double.
// The fragments are packed by this test from the maps printed in the PTX ISA
// document ("Matrix Fragments for mma.m16n8k16 with floating point type" and
// its siblings), one element at a time: nothing is shared with the runtime.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

using namespace tessera;
using namespace tessera::test;

namespace {

struct Kind {
  const char *type; ///< "bf16", "f16", "tf32"
  int k;
  int registersA, registersB;
};

void PrintTo(const Kind &kind, std::ostream *os) {
  *os << kind.type << " k" << kind.k;
}

/// Half of a float that is exactly representable.
uint16_t toF16(float value) {
  _Float16 half = static_cast<_Float16>(value);
  uint16_t bits;
  std::memcpy(&bits, &half, 2);
  return bits;
}

uint16_t pack16(const Kind &kind, float value) {
  return kind.type[0] == 'b' ? toBF16(value) : toF16(value);
}

/// One warp: fragments come as i32 arrays [register][lane].
std::string kernelFor(const Kind &kind) {
  std::string text =
      "  gpu.func @tile(%a: memref<128xi32>, %b: memref<64xi32>,\n"
      "                 %c: memref<128xf32>, %d: memref<128xf32>) kernel {\n"
      "    %lane = gpu.thread_id x\n";
  auto load = [&](const std::string &name, const char *array, int r,
                  const char *memref) {
    text += "    %o" + name + " = arith.constant " + std::to_string(32 * r) +
            " : index\n    %i" + name + " = arith.addi %lane, %o" + name +
            " : index\n    %" + name + " = memref.load %" + array + "[%i" +
            name + "] : " + memref + "\n";
  };
  auto list = [](const char *prefix, int n) {
    std::string s;
    for (int i = 0; i < n; ++i)
      s += (i ? ", %" : "%") + std::string(prefix) + std::to_string(i);
    return s;
  };
  bool f16 = kind.type[0] == 'f';
  for (int r = 0; r < kind.registersA; ++r)
    load("a" + std::to_string(r), "a", r, "memref<128xi32>");
  for (int r = 0; r < kind.registersB; ++r)
    load("b" + std::to_string(r), "b", r, "memref<64xi32>");
  for (int r = 0; r < 4; ++r)
    load("c" + std::to_string(r), "c", r, "memref<128xf32>");
  const char *prefixA = "a", *prefixB = "b";
  std::string operandType = "i32";
  if (f16) {
    operandType = "vector<2xf16>";
    for (const char *p : {"a", "b"})
      for (int r = 0; r < (*p == 'a' ? kind.registersA : kind.registersB); ++r)
        text += "    %h" + std::string(p) + std::to_string(r) +
                " = llvm.bitcast %" + p + std::to_string(r) +
                " : i32 to vector<2xf16>\n";
    prefixA = "ha";
    prefixB = "hb";
  }
  std::string types;
  if (!f16)
    types = std::string("multiplicandAPtxType = #nvvm.mma_type<") + kind.type +
            ">, multiplicandBPtxType = #nvvm.mma_type<" + kind.type + ">, ";
  text +=
      "    %r = nvvm.mma.sync A[" + list(prefixA, kind.registersA) + "] B[" +
      list(prefixB, kind.registersB) + "] C[" + list("c", 4) +
      "] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, " +
      types +
      "shape = #nvvm.shape<m = 16, n = 8, k = " + std::to_string(kind.k) +
      ">} : (" + operandType + ", " + operandType +
      ", f32) -> !llvm.struct<(f32, f32, f32, f32)>\n";
  for (int r = 0; r < 4; ++r)
    text += "    %d" + std::to_string(r) + " = llvm.extractvalue %r[" +
            std::to_string(r) +
            "] : !llvm.struct<(f32, f32, f32, f32)>\n    memref.store %d" +
            std::to_string(r) + ", %d[%ic" + std::to_string(r) +
            "] : memref<128xf32>\n";
  return text + "    gpu.return\n  }\n";
}

class MmaTile : public HarnessTest, public ::testing::WithParamInterface<Kind> {
protected:
  void SetUp() override {
    const Kind &kind = GetParam();
    // Multiples of 1/8 are exact in every type.
    std::mt19937 random(5);
    auto exact = [&] { return (static_cast<int>(random() % 65) - 32) / 8.0f; };
    for (auto &row : A)
      for (float &v : row)
        v = exact();
    for (auto &row : B)
      for (float &v : row)
        v = exact();
    for (auto &row : C)
      for (float &v : row)
        v = exact();
    for (int lane = 0; lane < 32; ++lane) {
      int group = lane / 4, thread = lane % 4;
      for (int i = 0; i < 4; ++i)
        c[i][lane] = C[group + (i < 2 ? 0 : 8)][thread * 2 + (i & 1)];
      if (kind.type[0] == 't')
        packTF32(kind, lane, group, thread);
      else
        pack16Bit(kind, lane, group, thread);
    }
  }

  // "row = groupID for ai where 0 <= i < 2 || 4 <= i < 6, else groupID + 8;
  //  col = threadID_in_group * 2 + (i & 1), + 8 where i >= 4"
  void pack16Bit(const Kind &kind, int lane, int group, int thread) {
    for (int i = 0; i < kind.registersA * 2; ++i) {
      int row = (i < 2 || (i >= 4 && i < 6)) ? group : group + 8;
      int col = thread * 2 + (i & 1) + (i >= 4 ? 8 : 0);
      a[i / 2][lane] |= uint32_t(pack16(kind, A[row][col])) << (16 * (i & 1));
    }
    // "row = threadID_in_group * 2 + (i & 1), + 8 where i >= 2; col = groupID"
    for (int i = 0; i < kind.registersB * 2; ++i) {
      int row = thread * 2 + (i & 1) + (i >= 2 ? 8 : 0);
      b[i / 2][lane] |= uint32_t(pack16(kind, B[row][group])) << (16 * (i & 1));
    }
  }

  // m16n8k8: "row = groupID for a0 and a2, groupID + 8 for a1 and a3; col =
  // threadID_in_group for a0 and a1, + 4 for a2 and a3"; b: "row =
  // threadID_in_group for b0, + 4 for b1; col = groupID".
  void packTF32(const Kind &kind, int lane, int group, int thread) {
    for (int i = 0; i < kind.registersA; ++i)
      std::memcpy(&a[i][lane],
                  &A[group + (i & 1 ? 8 : 0)][thread + (i >= 2 ? 4 : 0)], 4);
    for (int i = 0; i < kind.registersB; ++i)
      std::memcpy(&b[i][lane], &B[thread + 4 * i][group], 4);
  }

  float A[16][16], B[16][8], C[16][8];
  uint32_t a[4][32] = {}, b[2][32] = {};
  float c[4][32] = {};
};

TEST_P(MmaTile, MatchesTripleLoop) {
  const Kind &kind = GetParam();
  auto harness = compile(kernelFor(kind));
  ASSERT_TRUE(harness) << error;
  for (unsigned simd : {1u, 0u, 2u, 3u}) {
    float d[4][32];
    std::fill(&d[0][0], &d[0][0] + 128, NAN);
    LaunchOptions options;
    options.simd = simd;
    options.seed = simd;
    std::string result =
        harness->launch("tile", {{1, 1, 1}, {32, 1, 1}},
                        {&a[0][0], &b[0][0], &c[0][0], &d[0][0]}, options);
    if (result.find("this CPU lacks") != std::string::npos)
      continue;
    ASSERT_EQ(result, "");
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 4; ++i) {
        int row = lane / 4 + (i < 2 ? 0 : 8), col = lane % 4 * 2 + (i & 1);
        double sum = C[row][col];
        for (int k = 0; k < kind.k; ++k)
          sum += double(A[row][k]) * B[k][col];
        ASSERT_TRUE(near(d[i][lane], sum, 1e-5))
            << "simd " << simd << " row " << row << " column " << col << ": "
            << d[i][lane] << " instead of " << sum;
      }
  }
}

TEST_P(MmaTile, AssemblesForSm80) {
  if (findPtxas().empty())
    GTEST_SKIP() << "no ptxas";
  auto harness = compile(kernelFor(GetParam()));
  ASSERT_TRUE(harness) << error;
  EXPECT_EQ(harness->cubin("sm_80", error).substr(1, 3), "ELF") << error;
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, MmaTile,
    ::testing::Values(Kind{"bf16", 16, 4, 2}, Kind{"f16", 16, 4, 2},
                      Kind{"bf16", 8, 2, 1}, Kind{"f16", 8, 2, 1},
                      Kind{"tf32", 8, 4, 2}, Kind{"tf32", 4, 2, 1}),
    [](const auto &info) {
      return std::string(info.param.type) + "k" + std::to_string(info.param.k);
    });

} // namespace
