//===- ExportErrorsTest.cpp - malformed files of frameworks ---------------===//
#include "tessera/Planning/Export.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

static std::string refusal(StringRef text, StringRef where, int64_t gpus = 8,
                           StringRef format = "") {
  FrameworkReadOptions options;
  options.gpus = gpus;
  options.format = format.str();
  Expected<FrameworkRun> run = readFrameworkText(text, where, options);
  return run ? "accepted as " + run->layout.str() : toString(run.takeError());
}

TEST(ExportErrors, Toml) {
  StringRef head = "[training]\nseq_len = 4096\n[parallelism]\n";
  auto toml = [&](StringRef line) {
    return refusal((head + line).str(), "a.toml");
  };
  EXPECT_EQ(toml("tensor_parallel_degre = 2\n"),
            "a.toml:4: 'parallelism.tensor_parallel_degre' is no known option; "
            "did you mean 'parallelism.tensor_parallel_degree'?");
  EXPECT_EQ(toml("tensor_parallel_degree = \"two\"\n"),
            "a.toml:4: 'parallelism.tensor_parallel_degree' must be a whole "
            "number of at least 1, got 'two'");
  EXPECT_EQ(toml("tensor_parallel_degree 2\n"),
            "a.toml:4: expected '=' after 'tensor_parallel_degree'");
  EXPECT_EQ(toml("tensor_parallel_degree = 2 3\n"),
            "a.toml:4: expected the end of the line, got '3'");
  EXPECT_EQ(toml("tensor_parallel_degree = 2\ntensor_parallel_degree = 4\n"),
            "a.toml:5: 'parallelism.tensor_parallel_degree' is given twice, "
            "first in line 4");
  EXPECT_EQ(toml("pipeline_parallel_schedule = \"1F1B\n"),
            "a.toml:4: a text lacks its closing \"");
  EXPECT_EQ(toml("x = { a = 1 }\n"),
            "a.toml:4: inline tables ('{...}') are not read");
  EXPECT_EQ(toml("x = [1, 2\n"), "a.toml:5: an array lacks its closing ']'");
  EXPECT_EQ(toml("x = yes\n"),
            "a.toml:4: 'yes' is no value; texts need quotes");
  EXPECT_NE(toml("pipeline_parallel_schedule = \"Interleaved1F1\"\n")
                .find("did you mean 'Interleaved1F1B'?"),
            std::string::npos);
  EXPECT_EQ(toml("tensor_parallel_degree = 3\n"),
            "a.toml: tp*cp*pp = 3 does not divide the 8 GPUs");
  EXPECT_NE(toml((Twine("x = ") + std::string(5000, '[')).str()).find("deep"),
            std::string::npos);
}

TEST(ExportErrors, Yaml) {
  EXPECT_EQ(
      refusal("parallelism:\n  dp: 2\n  tp: 1\n  pp: 1\n  pp_engin: 1f1b\n",
              "n.yaml"),
      "n.yaml:5: 'parallelism.pp_engin' is no known option; did you mean "
      "'parallelism.pp_engine'?");
  EXPECT_EQ(
      refusal("parallelism:\n  dp: 2\n  tp: 1\n", "n.yaml"),
      "n.yaml: nanotron needs 'parallelism.pp', which the file does not state");
  EXPECT_EQ(refusal("parallelism:\n  dp: two\n  tp: 1\n  pp: 1\n", "n.yaml"),
            "n.yaml:2: 'parallelism.dp' must be a whole number of at least 1, "
            "got 'two'");
  EXPECT_EQ(refusal("parallelism:\n  dp: 2\n  tp: 1\n  dp: 2\n", "n.yaml"),
            "n.yaml:4: 'parallelism.dp' is given twice, first in line 2");
  EXPECT_EQ(refusal("parallelism: [1, 2\n", "n.yaml"),
            "n.yaml:1: not well-formed YAML: could not find closing ]");
  EXPECT_NE(refusal("a: b: c\n\t- x: {\n", "n.yaml").find("n.yaml:"),
            std::string::npos);
  EXPECT_NE(refusal("- 1\n- 2\n", "n.yaml").find("expected 'key: value'"),
            std::string::npos);
  EXPECT_NE(refusal("", "n.yaml").find("no file of a framework"),
            std::string::npos);
}

TEST(ExportErrors, Json) {
  EXPECT_EQ(refusal(R"({"zero_optimization": {"stage": 4}})", "d.json"),
            "d.json: 'zero_optimization.stage' must be from 0 to 3, got 4");
  EXPECT_EQ(refusal(R"({"zero_optimization": {"stag": 1}})", "d.json"),
            "d.json: 'zero_optimization.stag' is no known option; did you mean "
            "'zero_optimization.stage'?");
  EXPECT_NE(refusal(R"({"zero_optimization": )", "d.json").find("d.json"),
            std::string::npos);
  EXPECT_NE(refusal(R"([1])", "d.json").find("expected an object"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"train_batch_size": 10,
                        "train_micro_batch_size_per_gpu": 3,
                        "gradient_accumulation_steps": 2})",
                    "d.json", 0)
                .find("must be a multiple of micro-batch size times"),
            std::string::npos);
}

TEST(ExportErrors, Arguments) {
  EXPECT_EQ(
      refusal("--tensor-model-paralel-size 8\n--micro-batch-size 1", "a.sh"),
      "a.sh:1: 'tensor-model-paralel-size' is no known option; did you "
      "mean 'tensor-model-parallel-size'?");
  EXPECT_EQ(
      refusal("--micro-batch-size 1\n--tensor-model-parallel-size $TP", "a.sh"),
      "a.sh:2: 'tensor-model-parallel-size' takes its value from '$TP', "
      "which the file does not settle; write the number");
  EXPECT_EQ(refusal("--micro-batch-size 1\n--sequence-parallel yes", "a.sh"),
            "a.sh:2: 'sequence-parallel' must be true or false, got 'yes'");
  EXPECT_EQ(refusal("--micro-batch-size \"1", "a.sh"),
            "a.sh:1: a quoted text lacks its closing \"");
  EXPECT_NE(refusal("--micro-batch-size 1", "a.sh", 0).find("--gpus N"),
            std::string::npos);
  EXPECT_NE(refusal("--micro-batch-size 1 --pipeline-model-parallel-size 2 "
                    "--pipeline-model-parallel-layout 'Et|x'",
                    "a.sh")
                .find("unknown layer 'x'"),
            std::string::npos);
  EXPECT_NE(refusal("--micro-batch-size 1 --pipeline-model-parallel-size 2 "
                    "--pipeline-model-parallel-layout 'Et|(t*99999)*99999L'",
                    "a.sh")
                .find("longer than"),
            std::string::npos);
  EXPECT_NE(refusal("--micro-batch-size 1 --pipeline-model-parallel-size 4 "
                    "--num-layers-per-virtual-pipeline-stage 2",
                    "a.sh")
                .find("needs 'num-layers'"),
            std::string::npos);
  EXPECT_NE(refusal("--micro-batch-size 1 --tensor-model-parallel-size "
                    "99999999999",
                    "a.sh")
                .find("must be below"),
            std::string::npos);
}

// Sizes whose product overflows must not divide by zero or fill the memory.
TEST(ExportErrors, Huge) {
  EXPECT_NE(refusal("parallelism:\n  dp: 2147483647\n  tp: 2147483647\n"
                    "  pp: 2147483647\n  context_parallel_size: 4\n",
                    "n.yaml", 0)
                .find("more GPUs than can be counted"),
            std::string::npos);
  StringRef sizes = "[training]\nseq_len = 1\n[parallelism]\n"
                    "tensor_parallel_degree = 1073741824\n"
                    "context_parallel_degree = 1073741824\n"
                    "pipeline_parallel_degree = 16\n";
  EXPECT_NE(refusal(sizes, "a.toml").find("does not divide the 8 GPUs"),
            std::string::npos);
  EXPECT_NE(refusal("--num-layers 8 --pipeline-model-parallel-size 2147483647 "
                    "--num-virtual-stages-per-pipeline-rank 2147483647",
                    "a.sh")
                .find("virtual stages"),
            std::string::npos);
}

TEST(ExportErrors, DeepNesting) {
  std::string brackets(100000, '[');
  EXPECT_EQ(refusal("a:\n " + brackets, "n.yaml"),
            "n.yaml:2: lists are nested more than 256 deep");
  EXPECT_EQ(refusal("{\"a\": " + brackets, "d.json"),
            "d.json:1: lists are nested more than 256 deep");
  std::string dashes;
  for (int i = 0; i < 100000; ++i)
    dashes += "- ";
  EXPECT_EQ(refusal("a:\n " + dashes + "1\n", "n.yaml"),
            "n.yaml:2: lists are nested more than 256 deep");
  EXPECT_EQ(refusal("a: " + dashes + "1\n", "n.yaml"),
            "n.yaml:1: lists are nested more than 256 deep");
  std::string questions, steps;
  for (int i = 0; i < 100000; ++i)
    questions += "? ";
  EXPECT_EQ(refusal("a:\n " + questions + "1\n", "n.yaml"),
            "n.yaml:2: lists are nested more than 256 deep");
  for (int i = 0; i < 1100; ++i)
    steps += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(refusal(steps, "n.yaml"),
            "n.yaml:1025: lists are nested more than 256 deep");
}

// Files for the Hugging Face Trainer leave numbers to it.
TEST(ExportErrors, AutoIsAbsent) {
  EXPECT_EQ(refusal(R"({"train_batch_size": "auto", "bf16": {"enabled": "auto"},
                        "zero_optimization": {"stage": 3}})",
                    "d.json"),
            "accepted as dp=8 zero=3 mb=1 cp-kind=ulysses no-tp-overlap");
}

TEST(ExportErrors, UnknownFramework) {
  EXPECT_EQ(refusal("a: 1\n", "x.yaml", 8, "megatrom"),
            "unknown framework 'megatrom'; did you mean 'megatron'?; the "
            "frameworks are megatron, megatron-bridge, nemo, torchtitan, "
            "deepspeed, nanotron, accelerate");
}
