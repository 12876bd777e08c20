//===- ShippedModelsTest.cpp - parameter counts against the papers --------===//
#include "tessera/Import/ShippedModels.h"
#include "tessera/Import/Import.h"

#include "gtest/gtest.h"

using namespace tessera;

namespace {

struct Published {
  const char *name;
  double total;     ///< as published, in units of `unit`
  double tolerance; ///< half a unit of the last printed digit
  double active = 0;
};

// Llama: Touvron et al. 2023, table 2 (6.7, 13.0, 32.5, 65.2). Llama 2 and 3:
// the model cards' counts of elements (6.74, 13.02, 68.98, 8.03, 70.55, 405.85,
// 1.24, 3.21). GPT-2: the released checkpoints (124, 355, 774, 1558 million).
// GPT-3: Brown et al. 2020, table 2.1. MT-NLG: 530 billion. GPT-NeoX-20B: Black
// et al. 2022, 20,554,567,680. Mistral 7B: 7.24. Mixtral: Jiang et al. 2024,
// 46.7 and 12.9; 8x22B: 140.6 and 39.1. Qwen3-235B-A22B: 235 and 22.
// DeepSeek-V3: 671 and 37.
const Published kPublished[] = {
    {"llama-7b", 6.7e9, 0.05e9},
    {"llama-13b", 13.0e9, 0.05e9},
    {"llama-33b", 32.5e9, 0.05e9},
    {"llama-65b", 65.2e9, 0.1e9},
    {"llama2-7b", 6.74e9, 0.005e9},
    {"llama2-13b", 13.02e9, 0.005e9},
    {"llama2-70b", 68.98e9, 0.005e9},
    {"llama3-8b", 8.03e9, 0.005e9},
    {"llama3-70b", 70.55e9, 0.005e9},
    {"llama3.1-8b", 8.03e9, 0.005e9},
    {"llama3.1-70b", 70.55e9, 0.005e9},
    {"llama3-405b", 405.85e9, 0.005e9},
    {"llama3.2-1b", 1.24e9, 0.005e9},
    {"llama3.2-3b", 3.21e9, 0.005e9},
    {"gpt2", 124e6, 0.5e6},
    {"gpt2-medium", 355e6, 0.5e6},
    {"gpt2-large", 774e6, 0.5e6},
    {"gpt2-xl", 1558e6, 0.5e6},
    {"gpt3-175b", 175e9, 0.5e9},
    {"mt-nlg-530b", 530e9, 1e9},
    {"gpt-neox-20b", 20554567680.0, 0.5},
    {"mistral-7b", 7.24e9, 0.005e9},
    {"mixtral-8x7b", 46.7e9, 0.05e9, 12.9e9},
    {"mixtral-8x22b", 140.6e9, 0.05e9, 39.1e9},
    {"qwen3-235b-a22b", 235e9, 0.5e9, 22e9},
    {"deepseek-v3", 671e9, 0.5e9, 37e9},
};

TEST(ShippedModels, ParameterCountsArePublishedOnes) {
  for (const Published &published : kPublished) {
    llvm::Expected<ModelConfig> config = readModelConfig(published.name);
    ASSERT_TRUE(static_cast<bool>(config))
        << published.name << ": " << llvm::toString(config.takeError());
    EXPECT_NEAR(config->numParameters(), published.total, published.tolerance)
        << published.name;
    if (published.active > 0)
      EXPECT_NEAR(config->numActiveParameters(), published.active,
                  0.02 * published.active)
          << published.name;
  }
}

TEST(ShippedModels, EveryOneBecomesAGraph) {
  mlir::MLIRContext context;
  for (const ShippedModel &model : getShippedModels()) {
    ImportOptions options;
    options.model = model.name.str();
    options.sequence = 512;
    options.dtype = "bf16";
    std::string message;
    auto module = importModel(context, options, [&](const llvm::Twine &text) {
      message = text.str();
    });
    EXPECT_TRUE(mlir::succeeded(module)) << model.name.str() << ": " << message;
  }
}

TEST(ShippedModels, NearNamesAreSuggested) {
  llvm::Expected<ModelConfig> config = readModelConfig("lama-65b");
  ASSERT_FALSE(static_cast<bool>(config));
  EXPECT_EQ(llvm::toString(config.takeError()),
            "model 'lama-65b' does not exist; did you mean 'llama-65b'?");
}

} // namespace
