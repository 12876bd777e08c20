//===- DamagedPointsTest.cpp - measurements with damage everywhere --------===//
//
// A damaged file of measurements is refused by one message that names it, or
// each of its runs can be predicted or is refused by itself.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Validate/Case.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Support/Printable.h"
#include "test/Support/Mutations.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace llvm;
using namespace tessera;
using namespace tessera::test;

TEST(Damaged, PointsAreRefusedOrPredicted) {
  const char *whole =
      "id,source,table,model,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq,"
      "params_B,active_params_B,experts,topk,gpu,n_gpus,gpus_per_node,"
      "interconnect,precision,dp,tp,pp,ep,cp,zero_stage,vpp_or_interleave,"
      "sequence_parallel,recompute,micro_batch,global_batch,metric,value,"
      "notes\n"
      "a,x,t,GPT,24,2048,16,16,8192,50304,2048,1.3,,,,A100-80GB,16,8,,bf16,"
      "2,4,2,,1,1,2,yes,selective,2,32,step_time_s,1.5,\"cfg=complete; "
      "run=a\"\n"
      "b,x,t,MoE,4,1024,8,4,2048,32000,1024,,,8,2,H100,8,8,,bf16,"
      "8,1,1,8,1,1,,,none,1,8,tokens_per_s_per_gpu,9000,"
      "\"cfg=complete; run=b; moe_ffn=512\"\n";
  RowSources sources(makeGraphSource);
  CostConstants constants = defaultConstants();
  int refused = 0, accepted = 0, predicted = 0;
  mutate(whole, [&](const Mutation &m) {
    Expected<std::vector<Point>> points = readPoints(m.text, "p.csv");
    if (!points) {
      ++refused;
      std::string message = printableMessage(toString(points.takeError()));
      EXPECT_EQ(complaint(message, "p.csv"), "") << m.what << ": " << message;
      return;
    }
    ++accepted;
    // A model that was not met before is built first.
    if (accepted % 2 != 0)
      return;
    for (const Point &p : *points) {
      Expected<Case> c = makeCase({&p}, sources);
      if (!c) {
        EXPECT_NE(toString(c.takeError()), "") << m.what;
        continue;
      }
      ++predicted;
      Prediction prediction = predict(*c, constants);
      EXPECT_TRUE(std::isfinite(prediction.step.seconds) &&
                  prediction.step.seconds > 0)
          << m.what << ": " << prediction.step.seconds;
      EXPECT_TRUE(std::isfinite(prediction.memory.total()) &&
                  prediction.memory.total() > 0)
          << m.what;
    }
  });
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);
  EXPECT_GT(predicted, 10);
}
