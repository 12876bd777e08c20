//===- VerifyTest.cpp - every rule of check() and verify() ----------------===//
#include "Problems.h"
#include "lib/Planning/Search/Expansion.h"
#include <gtest/gtest.h>

using namespace tessera;
using namespace tessera::test;

namespace {

std::string why(const PlanProblem &p, llvm::StringRef layout) {
  auto l = layoutFrom(layout, p.gpus());
  if (!l)
    return llvm::toString(l.takeError());
  return llvm::toString(p.verify(*l));
}

void expectRule(const PlanProblem &p, const char *layout, const char *text) {
  std::string message = why(p, layout);
  EXPECT_NE(message.find(text), std::string::npos)
      << layout << ": '" << message << "'";
}

TEST(Verify, Legal) {
  PlanProblem p = denseProblem();
  for (const char *layout :
       {"dp=8", "dp=4,tp=2,sp", "dp=2,pp=4,mb=2", "dp=1,pp=2,vpp=2,tp=4",
        "dp=4,cp=2,mb=1", "dp=8,zero=3", "dp=8,zero=3,shard=4",
        "dp=8,mb=4,zero=2", "dp=8,mb=1,zero=2", "dp=2,pp=4,zero=3",
        "dp=4,pp=2,zero=3,shard=2", "dp=4,cp=2,cp-kind=ulysses",
        "dp=4,pp=2,recompute=full,recompute-layers=3"})
    EXPECT_EQ(why(p, layout), "") << layout;
  PlanProblem e = expertProblem();
  for (const char *layout : {"dp=8,ep=8", "dp=4,tp=2,sp,ep=4,etp=2", "dp=8",
                             "dp=8,ep=2,dispatcher=all-gather"})
    EXPECT_EQ(why(e, layout), "") << layout;
}

TEST(Verify, Rules) {
  PlanProblem p = denseProblem(), e = expertProblem();
  expectRule(p, "dp=2,tp=2", "dp*tp*cp*pp = 4, but the cluster has 8 GPUs");
  PlanProblem odd = denseProblem();
  odd.shape.heads = 12;
  odd.shape.kvHeads = 12;
  expectRule(odd, "dp=1,tp=8", "tp=8 does not divide the 12 attention heads");
  PlanProblem kv = denseProblem(3, 4);
  kv.shape.heads = 24;
  kv.shape.kvHeads = 4;
  kv.workload.globalBatch = 24;
  expectRule(kv, "dp=2,tp=6", "neither divides the 4 key-value heads");
  PlanProblem mlp = denseProblem();
  mlp.shape.ffn = 4098;
  expectRule(mlp, "dp=2,tp=4", "does not divide the MLP's width of 4098");
  PlanProblem shared = expertProblem();
  shared.shape.sharedFfn = 1026;
  expectRule(shared, "dp=2,tp=4,sp", "shared expert's width of 1026");
  expectRule(p, "dp=8,sp", "sp needs tp above 1");
  PlanProblem shortSequence = denseProblem();
  shortSequence.shape.sequence = 1022;
  expectRule(shortSequence, "dp=2,tp=4,sp", "tp=4 does not divide the 1022");
  expectRule(e, "dp=4,tp=2", "experts under tp=2 need sp");
  shortSequence.shape.sequence = 1026;
  expectRule(shortSequence, "dp=4,cp=2", "multiple of 2*cp = 4");
  expectRule(shortSequence, "dp=2,cp=4,cp-kind=ulysses",
             "does not divide the sequence of 1026");
  odd.shape.sequence = 1024;
  expectRule(odd, "dp=1,cp=8,cp-kind=ulysses",
             "cp=8 does not divide the 12 attention heads");
  PlanProblem shallow = denseProblem();
  shallow.shape.layers = 3;
  expectRule(shallow, "dp=2,pp=4", "makes 4 chunks of 3 layers");
  expectRule(p, "dp=8,vpp=2", "vpp=2 needs pp above 1");
  expectRule(p, "dp=2,pp=4,schedule=interleaved", "does not go with vpp=1");
  expectRule(p, "dp=8,schedule=zero-bubble", "needs pp above 1");
  expectRule(p, "dp=8,mb=8", "does not divide the global batch of 32");
  PlanProblem few = denseProblem();
  few.workload.globalBatch = 12;
  expectRule(few, "dp=2,pp=4,vpp=2", "6 microbatches to be a multiple of pp=4");
  expectRule(p, "dp=8,ep=2", "the model has no experts");
  expectRule(e, "dp=8,ep=16", "ep=16 does not divide the 8 experts");
  expectRule(e, "dp=8,etp=3", "etp=3 does not divide the experts' width");
  expectRule(e, "dp=2,pp=4,ep=4", "ep*etp = 4 does not divide");
  expectRule(p, "dp=8,recompute-layers=2",
             "needs recompute=full, got recompute=none");
  expectRule(p, "dp=8,recompute=full,recompute-layers=8",
             "covers the 8 layers of a chunk");
  expectRule(p, "dp=8,zero=1,shard=4", "needs zero=3");
  expectRule(p, "dp=8,zero=3,shard=3", "shard=3 does not divide dp=8");
}

TEST(Verify, Partitions) {
  PlanProblem p = denseProblem();
  Layout l;
  l.dp = 2;
  l.pp = 4;
  auto message = [&](llvm::SmallVector<int, 8> chunks) {
    l.chunkLayers = std::move(chunks);
    return llvm::toString(p.verify(l));
  };
  EXPECT_EQ(message({1, 2, 3, 2}), "");
  EXPECT_EQ(message({4, 4}), "the partition lists 2 chunks, pp*vpp is 4");
  EXPECT_EQ(message({2, 2, 2, 3}), "the partition has 9 layers, the model 8");
  // The embedding alone, and the head (Llama 3 405B, arXiv 2407.21783, section
  // 3.3.2, has a layer less there); nothing between them.
  EXPECT_EQ(message({0, 4, 4, 0}), "");
  EXPECT_EQ(message({3, 0, 3, 2}),
            "chunk 1 of 4 has 0 layers; all but the first, with the embedding, "
            "and the last, with the head, need one");
}

TEST(Verify, EveryLayoutOfTheSpaceIsLegal) {
  std::mt19937 random(3);
  for (int i = 0; i < 15; ++i) {
    PlanProblem p = randomProblem(random);
    if (llvm::errorToBool(p.check()))
      continue;
    ClosedFormProvider provider(p);
    MeshCache cache(p, provider);
    forEachMesh(p, p.fixed, [&](const Layout &mesh) {
      InnerChoices choices = innerChoices(p, p.fixed, mesh);
      int64_t seen = 0;
      forEachLayout(cache, choices, mesh, [&](const Layout &l) {
        ++seen;
        std::string message = llvm::toString(p.verify(l));
        EXPECT_EQ(message, "") << l.str();
        return true;
      });
      EXPECT_LE(seen, choices.count());
      EXPECT_GE(seen * choices.partitions, choices.count());
      return true;
    });
  }
}

std::string checked(PlanProblem p, const char *fixed) {
  p.fixed = llvm::cantFail(parseChoices(fixed));
  return llvm::toString(p.check());
}

TEST(Check, Contradictions) {
  PlanProblem p = denseProblem();
  EXPECT_EQ(checked(p, "tp=2,pp=2"), "");
  // Alone.
  EXPECT_NE(checked(p, "tp=3").find("tp=3 is not possible here"),
            std::string::npos);
  EXPECT_NE(checked(p, "ep=2").find("the model has no experts"),
            std::string::npos);
  // In pairs; a third constraint is not blamed.
  std::string pair = checked(p, "tp=4,pp=4,mb=1");
  EXPECT_NE(pair.find("tp=4 and pp=4 contradict each other"), std::string::npos)
      << pair;
  pair = checked(p, "recompute=selective,recompute-layers=2");
  EXPECT_NE(pair.find("recompute=selective and recompute-layers=2 contradict "
                      "each other: recompute-layers=2 needs recompute=full"),
            std::string::npos)
      << pair;
  pair = checked(p, "vpp=2,pp=1");
  EXPECT_NE(pair.find("contradict each other"), std::string::npos) << pair;
  // Only all together.
  EXPECT_NE(checked(p, "dp=2,tp=2,pp=1,cp=1").find("cannot hold together"),
            std::string::npos);
}

TEST(Check, Ranges) {
  PlanProblem p = denseProblem();
  p.workload.globalBatch = 0;
  EXPECT_EQ(llvm::toString(p.check()),
            "the global batch must be at least 1, got 0");
  p = denseProblem();
  p.expertSkew = 0.5;
  EXPECT_NE(llvm::toString(p.check()).find("at least 1; got 0.5"),
            std::string::npos);
  p.expertSkew = 2;
  EXPECT_NE(llvm::toString(p.check()).find("no experts"), std::string::npos);
  p = denseProblem();
  p.shape.learnedPositions = true;
  p.positions = 512;
  EXPECT_NE(llvm::toString(p.check()).find("longer than the 512 positions"),
            std::string::npos);
  p = denseProblem();
  p.memoryLimit = 1e15;
  EXPECT_NE(llvm::toString(p.check()).find("is more than"), std::string::npos);
  // One layer, one head and one sequence cannot use three GPUs.
  p = denseProblem(1, 3);
  p.shape.layers = p.shape.heads = p.shape.kvHeads = 1;
  p.workload.globalBatch = 1;
  EXPECT_NE(llvm::toString(p.check()).find("over exactly 3 GPUs"),
            std::string::npos);
}

} // namespace
