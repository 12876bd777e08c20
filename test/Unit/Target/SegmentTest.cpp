//===- SegmentTest.cpp - What goes into one rendezvous --------------------===//
//
// Speed depends on it, and correctness on where a segment ends, so both are
// held here on small blocks.
//
//===----------------------------------------------------------------------===//

#include "lib/Target/Virtual/Segments.h"

#include "HarnessFixture.h"

using namespace mlir;
using namespace tessera::vgpu;

namespace {

class SegmentFinder : public ::testing::Test {
protected:
  SegmentFinder() : context(tessera::KernelHarness::registry()) {}

  /// The first segment of a function with this body.
  Segment find(const std::string &body) {
    std::string text = "llvm.func @f(%x: f32, %p: !llvm.ptr, %s: !llvm.ptr<3>, "
                       "%g: !llvm.ptr<1>) {\n"
                       "%full = llvm.mlir.constant(-1 : i32) : i32\n"
                       "%c31 = llvm.mlir.constant(31 : i32) : i32\n"
                       "%c1 = llvm.mlir.constant(1 : i32) : i32\n"
                       "%c2 = llvm.mlir.constant(2 : i32) : i32\n" +
                       body + "\nllvm.return\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module) {
      ADD_FAILURE() << "does not parse";
      return {};
    }
    Operation *first = nullptr;
    module->walk([&](Operation *op) {
      if (!first && isCollective(op))
        first = op;
    });
    return findSegment(first);
  }

  static std::vector<std::string> names(ArrayRef<Operation *> ops) {
    std::vector<std::string> list;
    for (Operation *op : ops)
      list.push_back(op->getName().getStringRef().str());
    return list;
  }
  using Names = std::vector<std::string>;

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

const char *shuffle1 =
    "%a = nvvm.shfl.sync bfly %full, %x, %c1, %c31 : f32 -> f32\n"
    "%b = llvm.fadd %x, %a : f32\n";
const char *shuffle2 =
    "%c = nvvm.shfl.sync bfly %full, %b, %c2, %c31 : f32 -> f32\n"
    "%d = llvm.fadd %b, %c : f32\n"
    "llvm.store %d, %p : f32, !llvm.ptr\n";

TEST_F(SegmentFinder, ButterflyIsOneSegment) {
  Segment segment = find(std::string(shuffle1) + shuffle2);
  EXPECT_EQ(names(segment.ops),
            (Names{"nvvm.shfl.sync", "llvm.fadd", "nvvm.shfl.sync"}));
  // The last sum feeds no collective.
  EXPECT_EQ(names(segment.later), (Names{"llvm.fadd", "llvm.store"}));
  EXPECT_TRUE(isa<LLVM::ReturnOp>(segment.end));
}

TEST_F(SegmentFinder, ArithmeticThatIsNotVectorisedEndsIt) {
  Segment segment =
      find(std::string(shuffle1) +
           "%e = llvm.intr.exp2(%b) : (f32) -> f32\n"
           "%c = nvvm.shfl.sync bfly %full, %e, %c2, %c31 : f32 -> f32\n"
           "llvm.store %c, %p : f32, !llvm.ptr\n");
  EXPECT_EQ(names(segment.ops), (Names{"nvvm.shfl.sync"}));
  EXPECT_TRUE(isa<NVVM::ShflOp>(segment.end));
}

TEST_F(SegmentFinder, BarrierEndsIt) {
  Segment segment = find(std::string(shuffle1) + "nvvm.barrier0\n" + shuffle2);
  EXPECT_EQ(names(segment.ops), (Names{"nvvm.shfl.sync"}));
  EXPECT_TRUE(isa<NVVM::Barrier0Op>(segment.end));
}

const char *matrixA = "%m = nvvm.ldmatrix %s {eltType = "
                      "#nvvm.ld_st_matrix_elt_type<b16>, layout = "
                      "#nvvm.mma_layout<row>, num = 1 : i32, shape = "
                      "#nvvm.ld_st_matrix_shape<m = "
                      "8, n = 8>} : (!llvm.ptr<3>) -> i32\n";
const char *matrixB =
    "%n = nvvm.ldmatrix %s {eltType = #nvvm.ld_st_matrix_elt_type<b16>, layout "
    "= "
    "#nvvm.mma_layout<row>, num = 1 : i32, shape = #nvvm.ld_st_matrix_shape<m "
    "= "
    "8, n = 8>} : (!llvm.ptr<3>) -> i32\n"
    "llvm.store %n, %p : i32, !llvm.ptr\nllvm.store %m, %p : i32, !llvm.ptr\n";

TEST_F(SegmentFinder, LdmatrixDoesNotPassAStore) {
  EXPECT_EQ(find(std::string(matrixA) + matrixB).ops.size(), 2u);
  Segment segment = find(std::string(matrixA) +
                         "llvm.store %x, %s : f32, !llvm.ptr<3>\n" + matrixB);
  EXPECT_EQ(segment.ops.size(), 1u);
  EXPECT_TRUE(isa<NVVM::LdMatrixOp>(segment.end));
}

TEST_F(SegmentFinder, CopiesWaitAndTheWaitEndsIt) {
  std::string copy =
      "nvvm.cp.async.shared.global %s, %g, 16, cache = cg : !llvm.ptr<3>, "
      "!llvm.ptr<1>\nnvvm.cp.async.commit.group\n";
  Segment segment = find(std::string(matrixA) + copy + matrixB);
  EXPECT_EQ(segment.ops.size(), 2u);
  EXPECT_EQ(names(segment.later),
            (Names{"nvvm.cp.async.shared.global", "nvvm.cp.async.commit.group",
                   "llvm.store", "llvm.store"}));
  segment = find(std::string(matrixA) + copy + "nvvm.cp.async.wait.group 0\n" +
                 matrixB);
  EXPECT_EQ(segment.ops.size(), 1u);
  EXPECT_TRUE(isa<NVVM::CpAsyncWaitGroupOp>(segment.end));
}

TEST_F(SegmentFinder, NoLoadPassesAWarpBarrier) {
  std::string load = "%v = llvm.load %s : !llvm.ptr<3> -> f32\n"
                     "llvm.store %v, %p : f32, !llvm.ptr\n";
  Segment segment = find("nvvm.bar.warp.sync %full : i32\n" + load);
  EXPECT_EQ(names(segment.ops), (Names{"nvvm.bar.warp.sync"}));
  EXPECT_EQ(names(segment.later), (Names{"llvm.load", "llvm.store"}));
  // A load that the shuffle does not concern may stay in front of it.
  segment = find(std::string(shuffle1) + load);
  EXPECT_EQ(names(segment.later), (Names{"llvm.fadd", "llvm.store"}));
}

TEST_F(SegmentFinder, ResultsOfMmaStayInside) {
  // The probability tile of attention: shuffles on accumulators.
  Segment segment = find(
      "%z = llvm.mlir.constant(0.0 : f32) : f32\n"
      "%r = nvvm.mma.sync A[%c1, %c1, %c1, %c1] B[%c1, %c1] C[%z, %z, %z, %z] "
      "{layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, "
      "multiplicandAPtxType = #nvvm.mma_type<bf16>, multiplicandBPtxType = "
      "#nvvm.mma_type<bf16>, shape = #nvvm.shape<m = 16, n = 8, k = 16>} : "
      "(i32, "
      "i32, f32) -> !llvm.struct<(f32, f32, f32, f32)>\n"
      "%r0 = llvm.extractvalue %r[0] : !llvm.struct<(f32, f32, f32, f32)>\n"
      "%r1 = llvm.extractvalue %r[1] : !llvm.struct<(f32, f32, f32, f32)>\n"
      "%most = llvm.intr.maxnum(%r0, %r1) : (f32, f32) -> f32\n"
      "%o = nvvm.shfl.sync bfly %full, %most, %c1, %c31 : f32 -> f32\n"
      "llvm.store %o, %p : f32, !llvm.ptr\n");
  EXPECT_EQ(names(segment.ops),
            (Names{"nvvm.mma.sync", "llvm.extractvalue", "llvm.extractvalue",
                   "llvm.intr.maxnum", "nvvm.shfl.sync"}));
}

} // namespace
