//===- AttentionConfigTest.cpp - legality and resources of attention ------===//
#include "AttentionTest.h"

#include "mlir/IR/Verifier.h"
#include "llvm/FileCheck/FileCheck.h"
#include "llvm/Support/SourceMgr.h"

using namespace tessera::kernels;
using namespace tessera::kernels::test;
using testing::Message;

static AttentionSpec specOf(Element type, int64_t headDim) {
  AttentionSpec s;
  s.type = type;
  s.batch = 2;
  s.seqQ = s.seqKV = 1024;
  s.heads = 8;
  s.kvHeads = 2;
  s.headDim = headDim;
  s.scale = 1 / std::sqrt(static_cast<double>(headDim));
  return s;
}

static std::string errorOf(const AttentionSpec &spec,
                           const AttentionConfig &config,
                           int computeCapability = 80) {
  std::string error;
  if (mlir::succeeded(
          checkAttention(spec, config, *chipLimits(computeCapability), error)))
    return "legal";
  return error;
}

TEST(AttentionCheck, Specs) {
  AttentionSpec good = specOf(Element::BF16, 64);
  AttentionConfig config;
  EXPECT_EQ(errorOf(good, config), "legal");

  AttentionSpec s = good;
  s.headDim = 257;
  EXPECT_EQ(errorOf(s, config),
            "attention: expected a headDim of at most 256, got 257");
  s = good;
  s.kvHeads = 3;
  EXPECT_EQ(errorOf(s, config), "attention: expected heads to be a multiple of "
                                "kvHeads, got 8 and 3");
  s = good;
  s.seqKV = 0;
  EXPECT_EQ(errorOf(s, config), "attention: expected a positive seqKV, got 0");
  s = good;
  s.window = -1;
  EXPECT_EQ(errorOf(s, config),
            "attention: expected a window of at least 0, got -1");
  s = good;
  s.scale = NAN;
  EXPECT_EQ(errorOf(s, config), "attention: expected a finite scale");
  s = good;
  s.batch = 70000;
  EXPECT_EQ(errorOf(s, config),
            "attention: expected at most 65535 heads and batch entries, got 8 "
            "and 70000");
  s = good;
  s.seqQ = int64_t(1) << 40;
  EXPECT_NE(errorOf(s, config), "legal");
  s = good;
  s.heads = s.kvHeads = 65535;
  s.headDim = 256;
  EXPECT_EQ(errorOf(s, {128, 64, 8, 1}),
            "attention: expected a tile of 128 rows to span less than 2 "
            "GiB, got rows of 33553920 bytes");
}

TEST(AttentionCheck, Configs) {
  AttentionSpec bf16 = specOf(Element::BF16, 128);
  EXPECT_EQ(errorOf(bf16, {64, 64, 0, 2}),
            "attention: expected 1 to 32 warps, got 0");
  EXPECT_EQ(errorOf(bf16, {32, 64, 4, 2}),
            "attention: expected blockQ to be a multiple of 16 rows for each "
            "of 4 warps, got 32");
  EXPECT_EQ(errorOf(bf16, {64, 40, 4, 2}),
            "attention: expected blockKV to be a multiple of 16, got 40");
  EXPECT_EQ(errorOf(bf16, {64, 64, 4, 0}),
            "attention: expected 1 to 8 stages, got 0");
  EXPECT_EQ(errorOf(bf16, {128, 128, 4, 2}),
            "attention: expected at most 168 accumulators and scores a thread, "
            "got 256 of a 128 x 128 tile with 4 warps and headDim 128");
  // 64 KiB of queries, two stages of 2 * 32 KiB.
  AttentionSpec wide = specOf(Element::BF16, 256);
  EXPECT_EQ(errorOf(wide, {128, 64, 8, 2}),
            "attention: expected at most 166912 bytes of shared memory a "
            "block, got 196608");
  EXPECT_EQ(errorOf(wide, {128, 64, 8, 2}, 90), "legal");

  AttentionSpec f32 = specOf(Element::F32, 64);
  EXPECT_EQ(errorOf(f32, {64, 64, 2, 2}),
            "attention: expected 1 stage in f32, got 2");
  EXPECT_EQ(errorOf(f32, {36, 64, 2, 1}),
            "attention: expected blockQ to be a multiple of 8 with 2 warps in "
            "f32, got 36");
  EXPECT_EQ(errorOf(f32, {64, 48, 2, 1}),
            "attention: expected a blockKV of 16, 32, 64 or 128 in f32, got "
            "48");
}

TEST(AttentionCheck, BuildRefusesWhatCheckRefuses) {
  mlir::MLIRContext context(tessera::KernelHarness::registry());
  context.loadAllAvailableDialects();
  mlir::OpBuilder builder(&context);
  auto module = mlir::gpu::GPUModuleOp::create(builder, builder.getUnknownLoc(),
                                               "kernels");
  std::string text;
  mlir::ScopedDiagnosticHandler handler(&context,
                                        [&](mlir::Diagnostic &diagnostic) {
                                          text = diagnostic.str();
                                          return mlir::success();
                                        });
  EXPECT_TRUE(mlir::failed(buildAttention(builder, module, "attention",
                                          specOf(Element::BF16, 300), {})));
  EXPECT_EQ(text, "attention: expected a headDim of at most 256, got 300");
  EXPECT_TRUE(module.getBody()->empty());
  module->erase();
}

// Whatever the spec, there is a configuration on every chip, all of them are
// legal and build, and none comes twice.
TEST(AttentionCandidates, AreLegalAndBuild) {
  mlir::MLIRContext context(tessera::KernelHarness::registry());
  context.loadAllAvailableDialects();
  for (Element type : {Element::BF16, Element::F32})
    for (int64_t headDim : {1, 20, 64, 128, 256})
      for (int64_t sequence : {1, 40, 4096}) {
        AttentionSpec spec = specOf(type, headDim);
        spec.seqQ = spec.seqKV = sequence;
        for (int chip : {80, 86, 89, 90, 100}) {
          auto limits = *chipLimits(chip);
          auto all = attentionCandidates(spec, limits);
          SCOPED_TRACE(Message() << (type == Element::BF16 ? "bf16" : "f32")
                                 << " headDim " << headDim << " sequence "
                                 << sequence << " chip " << chip);
          ASSERT_FALSE(all.empty());
          for (const AttentionConfig &config : all) {
            EXPECT_EQ(errorOf(spec, config, chip), "legal");
            EXPECT_GE(attentionBlocksPerSM(spec, config, limits), 1);
            EXPECT_EQ(llvm::count_if(all,
                                     [&](const AttentionConfig &other) {
                                       return other.blockQ == config.blockQ &&
                                              other.blockKV == config.blockKV &&
                                              other.warps == config.warps &&
                                              other.stages == config.stages;
                                     }),
                      1);
          }
          if (chip != 80)
            continue;
          mlir::OpBuilder builder(&context);
          auto module = mlir::gpu::GPUModuleOp::create(
              builder, builder.getUnknownLoc(), "kernels");
          EXPECT_TRUE(mlir::succeeded(
              buildAttention(builder, module, "attention", spec, all.front())));
          EXPECT_TRUE(mlir::succeeded(mlir::verify(module)));
          module->erase();
        }
      }
}

// Short sequences do not get tiles that are mostly padding.
TEST(AttentionCandidates, ShortSequencesGetSmallTiles) {
  for (Element type : {Element::BF16, Element::F32})
    for (int64_t sequence : {1, 16, 17, 40, 100}) {
      AttentionSpec spec = specOf(type, 64);
      spec.seqQ = spec.seqKV = sequence;
      for (const AttentionConfig &config :
           attentionCandidates(spec, *chipLimits(80))) {
        EXPECT_LT(config.blockQ, std::max<int64_t>(2 * sequence, 17));
        EXPECT_LT(config.blockKV, std::max<int64_t>(2 * sequence, 17));
      }
    }
}

TEST(AttentionLaunch, OneBlockPerQueryTileHeadAndBatch) {
  AttentionSpec spec = specOf(Element::BF16, 40);
  spec.seqQ = 130;
  auto shape = attentionLaunchShape(spec, {64, 32, 4, 2});
  EXPECT_EQ(shape.grid, (std::array<int64_t, 3>{3, 8, 2}));
  EXPECT_EQ(shape.block, (std::array<int64_t, 3>{128, 1, 1}));
  // Rows of 48 elements: 64 of queries, two stages of 32 keys and 32 values.
  EXPECT_EQ(shape.dynamicSharedBytes, (64 + 2 * 64) * 48 * 2);
}

/// FileCheck on a string; false (with its report on stderr) if `text` does not
/// follow the CHECK lines.
static bool fileCheck(llvm::StringRef text, llvm::StringRef checks) {
  llvm::FileCheckRequest request;
  request.CheckPrefixes = {"CHECK"};
  llvm::FileCheck check(request);
  llvm::SourceMgr sources;
  auto add = [&](llvm::StringRef content, llvm::StringRef name) {
    auto buffer = llvm::MemoryBuffer::getMemBufferCopy(content, name);
    llvm::SmallString<0> canonical;
    content = check.CanonicalizeFile(*buffer, canonical);
    buffer = llvm::MemoryBuffer::getMemBufferCopy(content, name);
    content = buffer->getBuffer();
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    return content;
  };
  if (check.readCheckFile(sources, add(checks, "checks")))
    return false;
  return check.checkInput(sources, add(text, "ptx"));
}

static size_t count(llvm::StringRef text, llvm::StringRef what) {
  return text.count(what);
}

// A warp's products per key tile follow from the definition: blockKV / 8
// column tiles times headDim / 16 steps for the scores, headDim / 8 times
// blockKV / 16 for the output; an ldmatrix.x4 feeds two of them.
TEST(AttentionPtx, TensorCoreInstructions) {
  AttentionSpec spec = specOf(Element::BF16, 64);
  auto harness = compileAttention(spec, {64, 64, 4, 2}, false);
  ASSERT_TRUE(harness);
  for (const char *chip : {"sm_80", "sm_90"}) {
    std::string error, ptx = harness->ptx(chip, error);
    ASSERT_EQ(error, "");
    EXPECT_EQ(count(ptx, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"),
              8u * 4 + 8 * 4);
    EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16"),
              4u * 4);
    // Keys, and the query fragments once.
    EXPECT_EQ(count(ptx, "ldmatrix.sync.aligned.m8n8.x4.shared.b16"),
              4u * 4 + 4);
    EXPECT_GT(count(ptx, "cp.async.cg.shared.global"), 0u);
    EXPECT_GT(count(ptx, "ex2.approx.f32"), 0u);
    EXPECT_EQ(count(ptx, "cp.async.ca.shared.global"), 0u);
    // Two barriers: before the query fragments and in the loop.
    EXPECT_EQ(count(ptx, "bar.sync"), 2u);
    EXPECT_EQ(count(ptx, "call"), 0u);
    EXPECT_EQ(count(ptx, ".local"), 0u);
  }
}

// The order within an iteration, and that the rounded probabilities are the A
// operand of the second product, with the values loaded transposed as its B.
TEST(AttentionPtx, FileCheck) {
  auto harness =
      compileAttention(specOf(Element::BF16, 64), {64, 64, 4, 2}, false);
  ASSERT_TRUE(harness);
  std::string error, ptx = harness->ptx("sm_80", error);
  ASSERT_EQ(error, "");
  EXPECT_TRUE(fileCheck(ptx, R"(
CHECK: .extern .shared .align 128 .b8 [[SHARED:[a-z_]+]][];
CHECK: .visible .entry attention(
CHECK: .maxntid 128
CHECK: cp.async.cg.shared.global [{{.*}}], [{{.*}}], 16;
CHECK: cp.async.commit_group;
CHECK: cp.async.wait_group 1;
CHECK-NEXT: bar.sync 0;
CHECK: ldmatrix.sync.aligned.m8n8.x4.shared.b16
CHECK: shfl.sync.bfly.b32
CHECK: ex2.approx.f32
CHECK: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {[[V0:%r[0-9]+]], [[V1:%r[0-9]+]], [[V2:%r[0-9]+]], [[V3:%r[0-9]+]]}
CHECK: cvt.rn.bf16x2.f32 [[P0:%r[0-9]+]],
CHECK-NEXT: cvt.rn.bf16x2.f32 [[P1:%r[0-9]+]],
CHECK-NEXT: cvt.rn.bf16x2.f32 [[P2:%r[0-9]+]],
CHECK-NEXT: cvt.rn.bf16x2.f32 [[P3:%r[0-9]+]],
CHECK-NEXT: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
CHECK-NEXT: {{{.*}}},
CHECK-NEXT: {[[P0]], [[P1]], [[P2]], [[P3]]},
CHECK-NEXT: {[[V0]], [[V1]]},
CHECK: {[[P0]], [[P1]], [[P2]], [[P3]]},
CHECK-NEXT: {[[V2]], [[V3]]},
)"));
  // The check can fail.
  EXPECT_FALSE(fileCheck(ptx, "CHECK: wgmma.mma_async\n"));
}

TEST(AttentionPtx, NarrowRowsAreCopiedInNarrowPieces) {
  auto ptxOf = [](int64_t headDim) {
    auto harness =
        compileAttention(specOf(Element::BF16, headDim), {64, 32, 4, 2}, false);
    std::string error;
    return harness ? harness->ptx("sm_80", error) : "";
  };
  EXPECT_EQ(count(ptxOf(12), "cp.async.cg"), 0u);
  EXPECT_GT(count(ptxOf(12), "cp.async.ca.shared.global"), 0u);
  EXPECT_EQ(count(ptxOf(7), "cp.async.ca"), 0u);
  EXPECT_GT(count(ptxOf(7), "ld.global.b16"), 0u);
}

TEST(AttentionPtx, F32UsesNoTensorCores) {
  auto harness =
      compileAttention(specOf(Element::F32, 64), {64, 64, 4, 1}, false);
  ASSERT_TRUE(harness);
  std::string error, ptx = harness->ptx("sm_80", error);
  ASSERT_EQ(error, "");
  EXPECT_EQ(count(ptx, "mma"), 0u);
  EXPECT_GT(count(ptx, "fma.rn.f32"), 0u);
  EXPECT_GT(count(ptx, "ld.shared.v4"), 0u);
  EXPECT_EQ(count(ptx, "call"), 0u);
  EXPECT_EQ(count(ptx, ".local"), 0u);
}

class AttentionResources : public testing::TestWithParam<const char *> {};
INSTANTIATE_TEST_SUITE_P(, AttentionResources,
                         testing::Values("sm_80", "sm_90"),
                         [](const auto &info) { return info.param; });

TEST_P(AttentionResources, MainConfigurationsDoNotSpill) {
  if (tessera::findPtxas().empty())
    GTEST_SKIP() << "no ptxas";
  int capability = std::stoi(GetParam() + 3);
  for (Element type : {Element::BF16, Element::F32})
    for (int64_t headDim : {64, 128}) {
      AttentionSpec spec = specOf(type, headDim);
      auto config = defaultAttentionConfig(spec, *chipLimits(capability));
      SCOPED_TRACE(Message()
                   << (type == Element::BF16 ? "bf16" : "f32") << " headDim "
                   << headDim << ": " << config.blockQ << " x "
                   << config.blockKV << ", " << config.warps << " warps");
      auto harness = compileAttention(spec, config, false);
      ASSERT_TRUE(harness);
      std::string error;
      std::vector<tessera::KernelResources> resources;
      harness->cubin(GetParam(), error, &resources);
      ASSERT_EQ(error, "");
      ASSERT_EQ(resources.size(), 1u);
      EXPECT_EQ(resources[0].spillStoreBytes, 0u);
      EXPECT_EQ(resources[0].spillLoadBytes, 0u);
      EXPECT_EQ(resources[0].stackBytes, 0u);
      EXPECT_LE(resources[0].registers, attentionRegisters(spec, config));
    }
}
