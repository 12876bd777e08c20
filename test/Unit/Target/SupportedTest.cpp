//===- SupportedTest.cpp - What the virtual GPU refuses -------------------===//
//
// Every operation that a host back end would crash on, or silently do something
// else with, has to end in an error that names it.
//
//===----------------------------------------------------------------------===//

#include "HarnessFixture.h"

using namespace tessera;
using namespace tessera::test;

namespace {

struct Case {
  const char *name;
  const char *body;  ///< inside a kernel with %p: !llvm.ptr<1>
  const char *error; ///< part of the diagnostic
};

void PrintTo(const Case &test, std::ostream *os) { *os << test.name; }

class Refused : public HarnessTest,
                public ::testing::WithParamInterface<Case> {};

TEST_P(Refused, NamesTheOperation) {
  const Case &test = GetParam();
  auto harness =
      compile(std::string("gpu.func @k(%m: memref<64xf32>) kernel {\n"
                          "%c0 = arith.constant 0 : index\n") +
              test.body + "\ngpu.return\n}");
  EXPECT_FALSE(harness);
  EXPECT_NE(error.find(test.error), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Ops, Refused,
    ::testing::Values(
        Case{
            "InlineAsm",
            "%v = llvm.inline_asm \"mov.u32 $0, %clock;\", \"=r\" : () -> i32\n"
            "%f = arith.bitcast %v : i32 to f32\n"
            "memref.store %f, %m[%c0] : memref<64xf32>",
            "is inline PTX, which the virtual GPU cannot run"},
        Case{"Intrinsic",
             "%v = llvm.call_intrinsic \"llvm.nvvm.read.ptx.sreg.clock\"() "
             ": () -> i32\n"
             "%f = arith.bitcast %v : i32 to f32\n"
             "memref.store %f, %m[%c0] : memref<64xf32>",
             "calls 'llvm.nvvm.read.ptx.sreg.clock', which is not on the "
             "virtual GPU"},
        Case{"SpecialRegister",
             "%v = nvvm.read.ptx.sreg.clock : i32\n"
             "%f = arith.bitcast %v : i32 to f32\n"
             "memref.store %f, %m[%c0] : memref<64xf32>",
             "'nvvm.read.ptx.sreg.clock' op reads a special register that the "
             "virtual GPU does not have"},
        Case{"Printf", "gpu.printf \"%d\", %c0 : index",
             "gpu.printf is not on the virtual GPU"},
        Case{"NarrowPointer",
             "%a = memref.alloca() : memref<4xf32>\n"
             "%i = memref.extract_aligned_pointer_as_index %a : memref<4xf32> "
             "-> "
             "index\n"
             "%w = arith.index_cast %i : index to i64\n"
             "%q = llvm.inttoptr %w : i64 to !llvm.ptr<3>\n"
             "%n = llvm.ptrtoint %q : !llvm.ptr<3> to i32\n"
             "%f = arith.bitcast %n : i32 to f32\n"
             "memref.store %f, %m[%c0] : memref<64xf32>",
             "would cut a 64-bit pointer of the virtual GPU"},
        Case{"MathLibrary",
             "%v = memref.load %m[%c0] : memref<64xf32>\n"
             "%w = math.tanh %v : f32\n"
             "memref.store %w, %m[%c0] : memref<64xf32>",
             "'math.tanh' on 'f32' has no device instruction"},
        Case{"Remainder",
             "%v = memref.load %m[%c0] : memref<64xf32>\n"
             "%w = arith.remf %v, %v : f32\n"
             "memref.store %w, %m[%c0] : memref<64xf32>",
             "calls '__nv_fmodf', which no device library defines"},
        Case{"HalfAccumulator",
             "%a = llvm.mlir.constant(dense<0.0> : vector<2xf16>) : "
             "vector<2xf16>\n"
             "%r = nvvm.mma.sync A[%a, %a, %a, %a] B[%a, %a] C[%a, %a] "
             "{layoutA = #nvvm.mma_layout<row>, layoutB = "
             "#nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = "
             "16>} : (vector<2xf16>, vector<2xf16>, vector<2xf16>) -> "
             "!llvm.struct<(vector<2xf16>, vector<2xf16>)>",
             "'nvvm.mma.sync' op is not on the virtual GPU in this form"},
        Case{"LocalMemory",
             "%a = memref.alloca() : memref<20000xf32>\n"
             "%v = memref.load %a[%c0] : memref<20000xf32>\n"
             "memref.store %v, %m[%c0] : memref<64xf32>",
             "needs 80000 bytes of local memory for each thread, expected at "
             "most 65536"},
        Case{"Redux",
             "%i = arith.index_cast %c0 : index to i32\n"
             "%k = llvm.mlir.constant(-1 : i32) : i32\n"
             "%v = nvvm.redux.sync add %i, %k : i32 -> i32\n"
             "%f = arith.bitcast %v : i32 to f32\n"
             "memref.store %f, %m[%c0] : memref<64xf32>",
             "'nvvm.redux.sync' op is not on the virtual GPU"}),
    [](const auto &info) { return std::string(info.param.name); });

class Arguments : public HarnessTest {};

TEST_F(Arguments, MustBecomeBarePointers) {
  EXPECT_FALSE(compile("gpu.func @k(%m: memref<?xf32>) kernel { gpu.return }"));
  EXPECT_NE(error.find("argument #0 of type 'memref<?xf32>' cannot become a "
                       "bare pointer, expected a static shape and the identity "
                       "layout"),
            std::string::npos)
      << error;
}

} // namespace
