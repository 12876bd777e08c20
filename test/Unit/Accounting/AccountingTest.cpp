//===- AccountingTest.cpp - published budgets -----------------------------===//
//
// LLaMA (arXiv 2302.13971): table 2 (parameters, tokens), section 2.4 (380
// tokens/s/GPU for 65B), table 15 (GPU-hours, energy at 400 W and PUE 1.1).
// ZeRO (arXiv 1910.02054): 16 bytes a parameter, 24 GB for GPT-2 1.5B.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Accounting/Accounting.h"
#include "tessera/Hardware/Chip.h"
#include "tessera/Support/Units.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace tessera;

namespace {

constexpr double kA100 = 312e12;

struct Published {
  double parameters, tokens, gpuHours, mfuPercent, megawattHours;
};
const Published kLlama[] = {
    {6.7e9, 1.0e12, 82432, 43.4, 36},
    {13.0e9, 1.0e12, 135168, 51.4, 59},
    {32.5e9, 1.4e12, 530432, 45.8, 233},
    {65.2e9, 1.4e12, 1022362, 47.7, 449},
};

TrainingRun llama(const Published &p) {
  TrainingRun run;
  run.parameters = p.parameters;
  run.tokens = p.tokens;
  run.peak = kA100;
  run.powerWatts = 400;
  return run;
}

TEST(Accounting, UtilisationFromGpuHours) {
  for (const Published &p : kLlama) {
    TrainingRun run = llama(p);
    run.gpuHours = p.gpuHours;
    TrainingCost c = llvm::cantFail(trainingCost(run));
    EXPECT_NEAR(100 * c.mfu, p.mfuPercent, 0.05);
    EXPECT_NEAR(c.energyWattHours / 1e6, p.megawattHours, 1.0);
  }
}

TEST(Accounting, UtilisationFromThroughput) {
  TrainingRun run = llama(kLlama[3]);
  run.tokensPerSecondPerGPU = 380;
  run.gpus = 2048;
  TrainingCost c = llvm::cantFail(trainingCost(run));
  EXPECT_NEAR(100 * c.mfu, 47.6, 0.05);
  // "Training over our dataset containing 1.4T tokens takes approximately 21
  // days" on 2,048 GPUs.
  EXPECT_NEAR(c.days, 21, 0.5);
}

TEST(Accounting, TheThreeWaysAgree) {
  TrainingRun run = llama(kLlama[3]);
  run.gpuHours = 1022362;
  TrainingCost byHours = llvm::cantFail(trainingCost(run));
  run.gpuHours = 0;
  run.mfu = byHours.mfu;
  EXPECT_NEAR(llvm::cantFail(trainingCost(run)).gpuHours, 1022362, 1e-3);
  run.mfu = 0;
  run.tokensPerSecondPerGPU = byHours.tokensPerSecondPerGPU;
  EXPECT_NEAR(llvm::cantFail(trainingCost(run)).gpuHours, 1022362, 1e-3);
}

TEST(Accounting, Errors) {
  TrainingRun run = llama(kLlama[0]);
  EXPECT_NE(llvm::toString(trainingCost(run).takeError()).find("give one of"),
            std::string::npos);
  run.mfu = 0.4;
  run.gpuHours = 1;
  EXPECT_NE(llvm::toString(trainingCost(run).takeError()).find("give one of"),
            std::string::npos);
  run.mfu = 0;
  EXPECT_NE(llvm::toString(trainingCost(run).takeError()).find("at most 100 %"),
            std::string::npos);
  run.gpuHours = -1;
  EXPECT_NE(llvm::toString(trainingCost(run).takeError()).find("positive"),
            std::string::npos);
}

TEST(Accounting, ModelState) {
  EXPECT_NEAR(modelState(6.7e9).total() / 1e9, 107, 0.5);
  EXPECT_NEAR(modelState(1.5e9).total() / 1e9, 24, 1e-6);
  // An "80 GB" A100 has 80 GiB: 65.2B parameters need 1043 GB, 12.1 of them.
  double a100 = llvm::cantFail(findChip("a100-80g-sxm")).memoryBytes;
  EXPECT_EQ(a100, 80 * kGiB);
  EXPECT_EQ(minimumGPUs(modelState(6.7e9).total(), a100), 2);
  EXPECT_EQ(minimumGPUs(modelState(65.2e9).total(), a100), 13);
}

double cache(const char *model, int64_t sequence) {
  return cacheBytes(llvm::cantFail(readModelConfig(model)), sequence);
}

TEST(Accounting, KeyValueCache) {
  // 2 tensors x 32 layers x 4096 wide x 2 bytes: half a MiB a token (the
  // vLLM paper, arXiv 2309.06180, gives 800 KB for OPT-13B by the same sum:
  // 2 x 40 x 5120 x 2).
  EXPECT_EQ(cache("llama-7b", 1), 2 * 32 * 4096 * 2);
  // Grouped queries: 8 of 64 heads.
  EXPECT_EQ(cache("llama2-70b", 4096), 4096.0 * 2 * 80 * 8 * 128 * 2);
  // A window of 4096 bounds Mistral's cache (arXiv 2310.06825, section 2).
  EXPECT_EQ(cache("mistral-7b", 2048), 2048.0 * 2 * 32 * 8 * 128 * 2);
  EXPECT_EQ(cache("mistral-7b", 4096), 4096.0 * 2 * 32 * 8 * 128 * 2);
  EXPECT_EQ(cache("mistral-7b", 32768), cache("mistral-7b", 4096));
  // DeepSeek-V3 (arXiv 2412.19437): rows of 512 + 64 in 61 layers.
  EXPECT_EQ(cache("deepseek-v3", 1), 61.0 * (512 + 64) * 2);
}

} // namespace
