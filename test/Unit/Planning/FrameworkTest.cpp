//===- FrameworkTest.cpp - what each framework can run --------------------===//
//
// The table held against what the frameworks' own checks say, rule by rule, and
// the three readings of it (can it run, what stands in the way, the nearest
// that runs) against each other on random layouts.
//
//===----------------------------------------------------------------------===//
#include "tessera/Planning/Framework.h"
#include "tessera/CostModel/Constants.h"
#include "tessera/Planning/Export.h"
#include <gtest/gtest.h>
#include <random>

using namespace llvm;
using namespace tessera;

namespace {

const Framework &stack(StringRef name) {
  const Framework *f = frameworkOfStack(name);
  EXPECT_NE(f, nullptr) << name.str();
  return *f;
}

std::string against(StringRef name, StringRef layout,
                    FrameworkModel model = {24, false}) {
  return describe(
      obstaclesOf(stack(name), cantFail(parseLayout(layout)), model));
}

TEST(Framework, EveryStackAndEveryFormatIsInTheTable) {
  for (const std::string &name : stackNames())
    EXPECT_NE(frameworkOfStack(name), nullptr) << name;
  for (const FrameworkName &name : frameworkNames()) {
    ASSERT_NE(frameworkOfFormat(name.name), nullptr) << name.name.str();
  }
  // Each exports to a format that there is; there is none for MaxText.
  for (const std::string &name : stackNames())
    if (const Framework *f = frameworkOfStack(name); f && name != "jax")
      EXPECT_NE(frameworkOfFormat(f->format), nullptr) << name;
}

TEST(Framework, Megatron) {
  EXPECT_EQ(against("megatron-core", "dp=2,pp=4,zero=3"),
            "zero=3 with pp=4 (Megatron-FSDP goes without pipeline stages; "
            "nearest: zero=1)");
  for (const char *fine :
       {"dp=8,zero=3,shard=4", "dp=2,pp=4,vpp=2,zero=1", "dp=4,cp=2,sp,tp=2",
        "dp=2,pp=4,recompute=full,recompute-layers=2",
        "dp=2,pp=4,layers=5+7+7+5"})
    EXPECT_EQ(against("megatron-core", fine), "") << fine;
  EXPECT_EQ(against("nemo", "dp=2,pp=4,schedule=zero-bubble"),
            "schedule=zero-bubble (NeMo's schedules are 1f1b and interleaved; "
            "nearest: schedule=1f1b)");
  EXPECT_EQ(against("nemo", "dp=8,ep=8,dispatcher=fused", {24, true}),
            "dispatcher=fused (NeMo's dispatchers are all-gather and "
            "all-to-all; nearest: dispatcher=all-to-all)");
  EXPECT_EQ(
      against("megatron-bridge", "dp=8,ep=8,dispatcher=fused", {24, true}), "");
  EXPECT_EQ(against("megatron-2021", "dp=2,tp=2,sp,pp=5,no-tp-overlap"),
            "tp=2 with sp (Megatron-LM of 2021's tensor parallelism has no "
            "sequence parallelism; nearest: without sp); pp=5 (Megatron-LM of "
            "2021 has no uneven stages, and 5 do not divide the 24 layers; "
            "nearest: pp=4)");
  EXPECT_EQ(against("megatron-2022", "dp=2,tp=2,sp,pp=4,vpp=3,no-tp-overlap"),
            "");
}

// arguments.py: "Tensor parallel communication/GEMM overlap can happen only
// when sequence parallelism is enabled"; "Must use --overlap-grad-reduce with
// --overlap-param-gather".
TEST(Framework, MegatronOverlaps) {
  EXPECT_EQ(against("nemo", "dp=4,tp=2"),
            "tp-overlap (NeMo overlaps tensor parallelism only with sequence "
            "parallelism; nearest: no tp-overlap)");
  EXPECT_EQ(against("megatron-core", "dp=4,zero=1,no-grad-overlap"),
            "param-overlap (Megatron-Core overlaps the parameters' gathering "
            "only together with the gradients' reduction; nearest: no "
            "param-overlap)");
  for (const char *fine : {"dp=4,tp=2,sp", "dp=4,tp=2,no-tp-overlap", "dp=4"})
    EXPECT_EQ(against("nemo", fine), "") << fine;
  EXPECT_EQ(against("nanotron", "dp=4,tp=2"), "");
  EXPECT_EQ(stacksRunning(cantFail(parseLayout("dp=2,pp=4,vpp=2,zero=1,"
                                               "schedule=zero-bubble")),
                          {24, false}),
            std::vector<std::string>{"torchtitan"});
}

TEST(Framework, DeepSpeed) {
  EXPECT_EQ(against("deepspeed", "dp=2,pp=4,zero=2,no-param-overlap"),
            "zero=2 with pp=4 (DeepSpeed's pipeline engine goes with ZeRO up "
            "to stage 1; nearest: zero=1)");
  EXPECT_EQ(
      against("deepspeed", "dp=8,ep=8,zero=3,no-param-overlap", {24, true}),
      "zero=3 with ep=8 (DeepSpeed's MoE layer does not go with ZeRO "
      "stage 3; nearest: zero=2)");
  EXPECT_EQ(against("deepspeed", "dp=4,zero=2"),
            "param-overlap (DeepSpeed gathers parameters in the open in ZeRO "
            "2; nearest: no param-overlap)");
  EXPECT_EQ(against("deepspeed", "dp=4,cp=2"),
            "cp-kind=ring (DeepSpeed's context parallelism is ulysses; "
            "nearest: cp-kind=ulysses)");
  EXPECT_EQ(against("deepspeed", "dp=2,pp=4,vpp=2"),
            "vpp=2 (DeepSpeed has one stage on a rank; nearest: vpp=1)");
  EXPECT_EQ(against("deepspeed", "dp=4,tp=2,zero=3,no-tp-overlap"), "");
}

TEST(Framework, TorchTitan) {
  EXPECT_EQ(against("torchtitan", "dp=2,pp=4,schedule=zero-bubble"),
            "schedule=zero-bubble with vpp=1 (zero-bubble schedules need "
            "several stages on a rank; nearest: schedule=1f1b)");
  EXPECT_EQ(against("torchtitan", "dp=2,pp=4,vpp=2,schedule=zero-bubble"), "");
  EXPECT_EQ(against("torchtitan", "dp=8,zero=1"),
            "zero=1 (FSDP shards gradients along with the optimizer; nearest: "
            "zero=2)");
  EXPECT_EQ(against("torchtitan", "dp=2,pp=4,zero=1"), "");
  EXPECT_EQ(against("torchtitan", "dp=4,tp=2"),
            "tp=2 without sp (TorchTitan's tensor parallelism is always with "
            "sequence parallelism; nearest: with sp)");
  EXPECT_EQ(against("torchtitan", "dp=4,tp=4,sp,ep=2,etp=2", {24, true}),
            "etp=2 with tp=4 (TorchTitan splits experts over all "
            "tensor-parallel ranks or none; nearest: etp=1)");
  // Each second of 24 layers, each third, each twelfth; never seven.
  for (const char *fine : {"12", "8", "2"})
    EXPECT_EQ(
        against("torchtitan",
                std::string("dp=8,recompute=full,recompute-layers=") + fine),
        "")
        << fine;
  EXPECT_EQ(against("torchtitan", "dp=8,recompute=full,recompute-layers=7"),
            "recompute-layers=7 (TorchTitan recomputes each second, third, ... "
            "layer of a chunk; nearest: recompute-layers=8)");
  EXPECT_EQ(against("torchtitan", "dp=8,recompute=full,recompute-layers=13"),
            "recompute-layers=13 (TorchTitan recomputes each second, third, "
            "... layer of a chunk; nearest: all layers)");
}

TEST(Framework, OthersOfFSDPAndNanotron) {
  EXPECT_EQ(against("llm-foundry", "dp=4,tp=2,zero=3"),
            "tp=2 (llm-foundry has no tensor parallelism; nearest: tp=1)");
  EXPECT_EQ(against("accelerate", "dp=4,tp=2,no-tp-overlap"),
            "zero=0 with tp=2 (tensor and context parallelism need FSDP; "
            "nearest: zero=2)");
  EXPECT_EQ(against("accelerate", "dp=4,pp=2,zero=2"),
            "pp=2 (Accelerate has no pipeline stages; nearest: pp=1)");
  EXPECT_EQ(against("nanotron", "dp=2,pp=4,zero=2,recompute=selective"),
            "zero=2 with pp=4 (nanotron shards the optimizer only (stage 1); "
            "nearest: zero=1); recompute=selective (nanotron recomputes whole "
            "layers or nothing; nearest: recompute=full)");
  EXPECT_EQ(against("nanotron", "dp=2,pp=5,schedule=gpipe"), "");
}

TEST(Framework, MaxText) {
  EXPECT_EQ(against("jax", "dp=2,pp=4,schedule=gpipe,zero=3,recompute=full"),
            "");
  EXPECT_EQ(against("jax", "dp=8,zero=3,shard=4,recompute=selective"), "");
  EXPECT_EQ(against("jax", "dp=4,tp=2,sp,zero=1,recompute=selective"), "");
  EXPECT_EQ(against("jax", "dp=2,pp=4,zero=1,recompute=full"),
            "schedule=1f1b (MaxText's schedules are gpipe; nearest: "
            "schedule=gpipe)");
  EXPECT_EQ(
      against("jax", "dp=2,pp=4,vpp=2,zero=1,recompute=full"),
      "vpp=2 (MaxText's circular pipelines are not modelled; nearest: vpp=1); "
      "schedule=1f1b (MaxText's schedules are gpipe; nearest: "
      "schedule=gpipe)");
  EXPECT_EQ(against("jax", "dp=2,pp=5,schedule=gpipe,recompute=full"),
            "pp=5 (MaxText has no uneven stages, and 5 do not divide the 24 "
            "layers; nearest: pp=4)");
  EXPECT_EQ(against("jax", "dp=8,zero=2"),
            "zero=2 (MaxText shards the optimizer over data (stage 1) or "
            "everything (FSDP); nearest: zero=3); recompute=none (MaxText "
            "keeps the products of a layer at most; nearest: "
            "recompute=selective)");
  EXPECT_EQ(against("jax", "dp=4,cp=2,cp-kind=ulysses,recompute=full"),
            "cp-kind=ulysses (MaxText's context parallelism is ring and "
            "all-gather; nearest: cp-kind=ring)");
  EXPECT_EQ(against("jax", "dp=4,tp=2,ep=2,recompute=full", {24, true}),
            "etp=1 with tp=2 (MaxText splits experts over the tensor-parallel "
            "ranks; nearest: etp=2)");
}

TEST(Framework, EachNthLayer) {
  for (int least = 1; least < 30; ++least)
    for (int most : {least, least + 1, least + 3})
      for (int k = 0; k <= most; ++k) {
        bool any = false;
        for (int n = 2; n <= most; ++n)
          any |= k > 0 && least / n == k && most / n == k;
        int n = everyNth(k, least, most);
        EXPECT_EQ(n > 1, any) << least << " " << most << " " << k;
        if (n) {
          EXPECT_EQ(least / n, k);
          EXPECT_EQ(most / n, k);
        }
      }
}

TEST(Framework, DependentFieldsHaveTheReasonOfTheOther) {
  Layout l = cantFail(parseLayout("dp=2,pp=4,vpp=2"));
  EXPECT_EQ(reasonAgainst(stack("accelerate"), l, {24, false}, "vpp"),
            "Accelerate has no pipeline stages");
  EXPECT_EQ(reasonAgainst(stack("accelerate"), l, {24, false}, "mb"), "");
}

TEST(Framework, LimitsInWords) {
  EXPECT_EQ(limitsOf(stack("nemo"), false),
            (std::vector<std::string>{"ZeRO 2 and 3 with pipeline stages",
                                      "schedule gpipe and zero-bubble",
                                      "tp overlapped without sp"}));
  EXPECT_EQ(limitsOf(stack("llm-foundry"), true),
            (std::vector<std::string>{"ZeRO 1", "tp", "cp", "pp",
                                      "dispatcher all-gather and fused", "etp",
                                      "recompute selective"}));
  EXPECT_TRUE(limitsOf(Framework(), true).empty());
}

Layout randomLayout(std::mt19937 &random) {
  auto pick = [&](int n) { return int(random() % n); };
  Layout l;
  l.dp = 1 << pick(4);
  l.tp = 1 << pick(3);
  l.cp = 1 << pick(2);
  l.pp = 1 + pick(4);
  l.vpp = l.pp > 1 ? 1 + pick(3) : 1;
  l.ep = 1 << pick(3);
  l.etp = pick(2) ? 1 : 1 << pick(3);
  l.zeroStage = pick(4);
  l.shardGroup = l.dp > 1 && l.zeroStage && pick(2) ? l.dp / 2 : 0;
  l.sequenceParallel = l.tp > 1 && pick(2);
  l.contextKind = static_cast<ContextKind>(pick(3));
  l.schedule = l.vpp > 1      ? ScheduleKind::Interleaved
               : pick(2) == 0 ? ScheduleKind::OneFOneB
                              : static_cast<ScheduleKind>(pick(2));
  if (l.pp > 1 && pick(4) == 0)
    l.schedule = ScheduleKind::ZeroBubble;
  if (l.pp > 1 && pick(3) == 0)
    l.chunkLayers.assign(l.pp * l.vpp, 2);
  l.dispatcher = static_cast<DispatcherKind>(pick(3));
  l.recompute = static_cast<RecomputeKind>(pick(3));
  l.recomputeLayers = l.recompute == RecomputeKind::Full && pick(2) ? 1 : 0;
  return l;
}

TEST(Framework, TheNearestRunsAndWhatRunsIsLeftAlone) {
  std::mt19937 random(5);
  int fine = 0, mended = 0;
  for (const std::string &name : stackNames()) {
    const Framework *f = frameworkOfStack(name);
    for (int i = 0; f && i < 2000; ++i) {
      Layout l = randomLayout(random);
      FrameworkModel model{int64_t(l.pp) * l.vpp * 2 + int64_t(random() % 2),
                           random() % 2 != 0};
      std::vector<Obstacle> obstacles = obstaclesOf(*f, l, model);
      Layout nearest = nearestRunning(*f, l, model);
      EXPECT_EQ(runs(*f, l, model), obstacles.empty()) << name << l.str();
      EXPECT_TRUE(runs(*f, nearest, model))
          << name << " " << l.str() << " -> " << nearest.str() << ": "
          << describe(obstaclesOf(*f, nearest, model));
      EXPECT_EQ(nearest == l, obstacles.empty()) << name << " " << l.str();
      bool parts = true;
      for (LayoutPart part :
           {LayoutPart::Mesh, LayoutPart::Schedule, LayoutPart::Sharding,
            LayoutPart::Dispatcher, LayoutPart::Recompute, LayoutPart::Overlap})
        parts &= runs(*f, l, model, part);
      EXPECT_EQ(parts, runs(*f, l, model)) << name << " " << l.str();
      (obstacles.empty() ? fine : mended)++;
    }
  }
  EXPECT_GE(fine, 1000);
  EXPECT_GE(mended, 1000);
}

} // namespace
