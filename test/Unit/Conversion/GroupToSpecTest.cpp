//===- GroupToSpecTest.cpp - which kernel computes a group ----------------===//
//
// Groups are written as text; what is expected follows from the contracts in
// KernelSpec.h, among them the order of the kernel's arguments.
//
//===----------------------------------------------------------------------===//
#include "tessera/Conversion/KernelToGPU/GroupToSpec.h"

#include "dialects/Tessera/TesseraDialect.h"

#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tessera;
using namespace tessera::kernels;

namespace {
class GroupToSpec : public testing::Test {
protected:
  GroupToSpec() {
    context.loadDialect<TesseraDialect, tessera::kernel::KernelDialect>();
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
  }

  /// Reads the one group of a function whose arguments are `arguments`.
  std::optional<GroupKernel> read(StringRef arguments, StringRef group) {
    std::string text =
        ("func.func @f(" + arguments + ") {\n" + group + "\n return\n}").str();
    module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << errors;
    if (!module)
      return std::nullopt;
    std::optional<GroupKernel> result;
    module->walk([&](tessera::kernel::GroupOp op) {
      FailureOr<GroupKernel> kernel = groupToSpec(op);
      if (succeeded(kernel))
        result = *kernel;
    });
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  std::string errors;
};

using Order = SmallVector<unsigned>;

TEST_F(GroupToSpec, MatmulWithWholeEpilogue) {
  // Operands are given in another order than the kernel takes them.
  auto kernel = read(
      "%r: tensor<2x8x24xbf16>, %g: tensor<2x8x24xbf16>, %b: tensor<24xbf16>,"
      "%w: tensor<16x24xbf16>, %x: tensor<2x8x16xbf16>",
      R"(%y = kernel.group matmul "all" (%0 = %r : tensor<2x8x24xbf16>,
            %1 = %g : tensor<2x8x24xbf16>, %2 = %b : tensor<24xbf16>,
            %3 = %w : tensor<16x24xbf16>, %4 = %x : tensor<2x8x16xbf16>) -> tensor<2x8x24xbf16> {
        %5 = tessera.linear %4, %3 {weight_layout = #tessera<weight_layout in_out>} : tensor<2x8x16xbf16>, tensor<16x24xbf16> -> tensor<2x8x24xbf16>
        %6 = tessera.add_bias %5, %2 : tensor<2x8x24xbf16>, tensor<24xbf16>
        %7 = tessera.activation gelu_tanh %6 : tensor<2x8x24xbf16>
        %8 = tessera.swiglu %1, %7 {activation = #tessera<activation relu>} : tensor<2x8x24xbf16>
        %9 = tessera.add %8, %0 : tensor<2x8x24xbf16>
        kernel.yield %9 : tensor<2x8x24xbf16>
      })");
  ASSERT_TRUE(kernel) << errors;
  auto *spec = std::get_if<MatmulSpec>(&kernel->spec);
  ASSERT_TRUE(spec);
  EXPECT_EQ(spec->m, 16);
  EXPECT_EQ(spec->n, 24);
  EXPECT_EQ(spec->k, 16);
  EXPECT_EQ(spec->type, Element::BF16);
  EXPECT_EQ(spec->outType, Element::BF16);
  EXPECT_FALSE(spec->weightOutIn);
  EXPECT_TRUE(spec->hasBias);
  EXPECT_EQ(spec->activation, Activation::GeluTanh);
  EXPECT_TRUE(spec->hasGate);
  EXPECT_EQ(spec->gateActivation, Activation::Relu);
  EXPECT_TRUE(spec->hasResidual);
  EXPECT_EQ(kernel->inputs, Order({4, 3, 2, 1, 0}));
  EXPECT_EQ(kernel->outputs, Order({0}));
  EXPECT_FALSE(kernel->offset);
}

TEST_F(GroupToSpec, GateAsMainValue) {
  auto kernel = read(
      "%x: tensor<1x8x16xf32>, %w: tensor<24x16xf32>, %u: tensor<1x8x24xf32>",
      R"(%y = kernel.group matmul "gate" (%0 = %x : tensor<1x8x16xf32>,
            %1 = %w : tensor<24x16xf32>, %2 = %u : tensor<1x8x24xf32>) -> tensor<1x8x24xf32> {
        %3 = tessera.linear %0, %1 : tensor<1x8x16xf32>, tensor<24x16xf32> -> tensor<1x8x24xf32>
        %4 = tessera.swiglu %3, %2 : tensor<1x8x24xf32>
        kernel.yield %4 : tensor<1x8x24xf32>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<MatmulSpec>(kernel->spec);
  // silu(acc) * up: the activation is the product's own.
  EXPECT_EQ(spec.activation, Activation::Silu);
  EXPECT_TRUE(spec.hasGate);
  EXPECT_EQ(spec.gateActivation, Activation::None);
  EXPECT_EQ(kernel->inputs, Order({0, 1, 2}));
}

TEST_F(GroupToSpec, AddAndNormGiveTwoOutputs) {
  // Yielded in the other order: the kernel stores the sum first.
  auto kernel = read(
      "%x: tensor<2x8x16xf32>, %r: tensor<2x8x16xf32>, %w: tensor<16xf32>",
      R"(%y:2 = kernel.group row "add_rms_norm" (%0 = %x : tensor<2x8x16xf32>,
            %1 = %r : tensor<2x8x16xf32>, %2 = %w : tensor<16xf32>) -> (tensor<2x8x16xf32>, tensor<2x8x16xf32>) {
        %3 = tessera.add %0, %1 : tensor<2x8x16xf32>
        %4 = tessera.rms_norm %3, %2 eps 1.0e-6 : tensor<2x8x16xf32>, tensor<16xf32>
        kernel.yield %4, %3 : tensor<2x8x16xf32>, tensor<2x8x16xf32>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<NormSpec>(kernel->spec);
  EXPECT_EQ(spec.kind, NormSpec::Kind::RMS);
  EXPECT_EQ(spec.rows, 16);
  EXPECT_EQ(spec.cols, 16);
  EXPECT_EQ(spec.eps, 1e-6);
  EXPECT_TRUE(spec.hasResidual);
  EXPECT_FALSE(spec.hasBias);
  EXPECT_EQ(kernel->inputs, Order({0, 1, 2}));
  EXPECT_EQ(kernel->outputs, Order({1, 0}));
}

TEST_F(GroupToSpec, NormOfHeads) {
  auto kernel = read(
      "%x: tensor<2x8x64xbf16>, %w: tensor<16xbf16>, %b: tensor<16xbf16>",
      R"(%y = kernel.group row "rms_norm" (%0 = %x : tensor<2x8x64xbf16>, %1 = %w : tensor<16xbf16>) -> tensor<2x8x64xbf16> {
        %2 = tessera.rms_norm %0, %1 eps 1.0e-6 : tensor<2x8x64xbf16>, tensor<16xbf16>
        kernel.yield %2 : tensor<2x8x64xbf16>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<NormSpec>(kernel->spec);
  EXPECT_EQ(spec.rows, 2 * 8 * 4);
  EXPECT_EQ(spec.cols, 16);
}

TEST_F(GroupToSpec, Attention) {
  auto kernel = read(
      "%q: tensor<2x8x64xbf16>, %k: tensor<2x8x32xbf16>",
      R"(%y = kernel.group attention "attention" (%0 = %q : tensor<2x8x64xbf16>, %1 = %k : tensor<2x8x32xbf16>) -> tensor<2x8x64xbf16> {
        %2 = tessera.attention %0, %1, %1 head_dim 16 scale 0.25 causal {window = 4 : i64} : tensor<2x8x64xbf16>, tensor<2x8x32xbf16>, tensor<2x8x32xbf16> -> tensor<2x8x64xbf16>
        kernel.yield %2 : tensor<2x8x64xbf16>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<AttentionSpec>(kernel->spec);
  EXPECT_EQ(spec.batch, 2);
  EXPECT_EQ(spec.seqQ, 8);
  EXPECT_EQ(spec.seqKV, 8);
  EXPECT_EQ(spec.heads, 4);
  EXPECT_EQ(spec.kvHeads, 2);
  EXPECT_EQ(spec.headDim, 16);
  EXPECT_EQ(spec.scale, 0.25);
  EXPECT_TRUE(spec.causal);
  EXPECT_EQ(spec.window, 4);
  // One group operand may be two kernel arguments.
  EXPECT_EQ(kernel->inputs, Order({0, 1, 1}));
}

TEST_F(GroupToSpec, SwigluAlone) {
  auto kernel = read(
      "%g: tensor<2x8x24xf32>, %u: tensor<2x8x24xf32>",
      R"(%y = kernel.group elementwise "swiglu" (%0 = %g : tensor<2x8x24xf32>, %1 = %u : tensor<2x8x24xf32>) -> tensor<2x8x24xf32> {
        %2 = tessera.swiglu %0, %1 : tensor<2x8x24xf32>
        kernel.yield %2 : tensor<2x8x24xf32>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<ElementwiseSpec>(kernel->spec);
  EXPECT_EQ(spec.rows, 16);
  EXPECT_EQ(spec.cols, 24);
  EXPECT_EQ(spec.activation, Activation::None);
  EXPECT_TRUE(spec.hasGate);
  EXPECT_EQ(spec.gateActivation, Activation::Silu);
  EXPECT_EQ(kernel->inputs, Order({1, 0}));
}

TEST_F(GroupToSpec, EmbeddingWithOffset) {
  auto kernel = read(
      "%o: index, %t: tensor<2x8xi32>, %w: tensor<32x16xf32>",
      R"(%y = kernel.group embedding "embedding" (%0 = %o : index, %1 = %t : tensor<2x8xi32>, %2 = %w : tensor<32x16xf32>) -> tensor<2x8x16xf32> {
        %3 = tessera.embedding %1, %2 offset %0 : tensor<2x8xi32>, tensor<32x16xf32> -> tensor<2x8x16xf32>
        kernel.yield %3 : tensor<2x8x16xf32>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<EmbeddingSpec>(kernel->spec);
  EXPECT_EQ(spec.count, 16);
  EXPECT_EQ(spec.rows, 32);
  EXPECT_EQ(spec.cols, 16);
  EXPECT_TRUE(spec.hasOffset);
  EXPECT_EQ(kernel->inputs, Order({1, 2}));
  EXPECT_EQ(kernel->offset, std::optional<unsigned>(0));
}

TEST_F(GroupToSpec, CrossEntropyStats) {
  auto kernel = read(
      "%l: tensor<2x8x25xf32>, %t: tensor<2x8xi32>, %o: index",
      R"(%y = kernel.group cross_entropy "stats" (%0 = %l : tensor<2x8x25xf32>, %1 = %t : tensor<2x8xi32>, %2 = %o : index) -> tensor<2x8x3xf32> {
        %3 = tessera.cross_entropy_stats %0, %1 offset %2 vocab 50 : tensor<2x8x25xf32>, tensor<2x8xi32> -> tensor<2x8x3xf32>
        kernel.yield %3 : tensor<2x8x3xf32>
      })");
  ASSERT_TRUE(kernel) << errors;
  const auto &spec = std::get<CrossEntropySpec>(kernel->spec);
  EXPECT_EQ(spec.rows, 16);
  EXPECT_EQ(spec.cols, 25);
  EXPECT_EQ(spec.vocab, 50);
  EXPECT_TRUE(spec.statsOnly);
  EXPECT_EQ(kernel->offset, std::optional<unsigned>(2));
}

//===----------------------------------------------------------------------===//
// What no kernel computes
//===----------------------------------------------------------------------===//

TEST_F(GroupToSpec, RefusesEpilogueOutOfOrder) {
  EXPECT_FALSE(read(
      "%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>, %b: tensor<16xf32>",
      R"(%y = kernel.group matmul "x" (%0 = %x : tensor<1x8x16xf32>, %1 = %w : tensor<16x16xf32>, %2 = %b : tensor<16xf32>) -> tensor<1x8x16xf32> {
        %3 = tessera.linear %0, %1 : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
        %4 = tessera.activation relu %3 : tensor<1x8x16xf32>
        %5 = tessera.add_bias %4, %2 : tensor<1x8x16xf32>, tensor<16xf32>
        kernel.yield %5 : tensor<1x8x16xf32>
      })"));
  EXPECT_NE(errors.find("an epilogue is bias, activation, gate, residual, each "
                        "at most once and in this order"),
            std::string::npos)
      << errors;
}

TEST_F(GroupToSpec, RefusesWrongFamily) {
  EXPECT_FALSE(read(
      "%x: tensor<1x8x16xf32>, %w: tensor<16xf32>",
      R"(%y = kernel.group elementwise "x" (%0 = %x : tensor<1x8x16xf32>, %1 = %w : tensor<16xf32>) -> tensor<1x8x16xf32> {
        %2 = tessera.rms_norm %0, %1 eps 1.0e-6 : tensor<1x8x16xf32>, tensor<16xf32>
        kernel.yield %2 : tensor<1x8x16xf32>
      })"));
  EXPECT_NE(errors.find("'tessera.rms_norm' is computed by the family 'row', "
                        "the group's is 'elementwise'"),
            std::string::npos)
      << errors;
}

TEST_F(GroupToSpec, RefusesValueThatTwoOpsRead) {
  EXPECT_FALSE(read(
      "%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>",
      R"(%y = kernel.group matmul "x" (%0 = %x : tensor<1x8x16xf32>, %1 = %w : tensor<16x16xf32>) -> tensor<1x8x16xf32> {
        %2 = tessera.linear %0, %1 : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
        %3 = tessera.activation relu %2 : tensor<1x8x16xf32>
        %4 = tessera.add %2, %3 : tensor<1x8x16xf32>
        kernel.yield %4 : tensor<1x8x16xf32>
      })"));
  EXPECT_NE(errors.find("the value before it is used twice"), std::string::npos)
      << errors;
}

TEST_F(GroupToSpec, RefusesTwoProducts) {
  EXPECT_FALSE(read(
      "%x: tensor<1x8x16xf32>, %w: tensor<16x16xf32>",
      R"(%y = kernel.group matmul "x" (%0 = %x : tensor<1x8x16xf32>, %1 = %w : tensor<16x16xf32>) -> tensor<1x8x16xf32> {
        %2 = tessera.linear %0, %1 : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
        %3 = tessera.linear %2, %1 : tensor<1x8x16xf32>, tensor<16x16xf32> -> tensor<1x8x16xf32>
        kernel.yield %3 : tensor<1x8x16xf32>
      })"));
  EXPECT_NE(errors.find("'tessera.linear' is no part of an epilogue"),
            std::string::npos)
      << errors;
}
} // namespace
