//===- ExportTest.cpp - layouts through the files of frameworks -----------===//
//
// What each framework can say is written down here once more, from the
// frameworks' documentation: a layout inside it must come back equal with
// nothing reported; outside of it every field that comes back different must
// be reported, and no other.
//
//===----------------------------------------------------------------------===//
#include "tessera/Planning/Export.h"
#include "AnyLayout.h"
#include "test/Support/ExportedFields.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;
using namespace tessera::test;

/// Moves a layout inside what `format` can say.
static void restrict(StringRef format, ExportInput &input) {
  Layout &l = input.layout;
  bool megatron = format.starts_with("megatron");
  bool torch = format == "torchtitan" || format == "accelerate";
  if (megatron || format == "nemo") {
    l.schedule = l.vpp > 1 ? ScheduleKind::Interleaved : ScheduleKind::OneFOneB;
    l.sequenceParallel |= l.tp > 1;
    l.overlapParameters &= l.overlapGradients;
    if (l.pp > 1)
      l.zeroStage = std::min(l.zeroStage, 1);
  }
  if (format == "nemo") {
    l.zeroStage = std::min(l.zeroStage, 1);
    l.shardGroup = 0;
    l.contextKind = ContextKind::Ring;
    l.chunkLayers.clear();
    input.layers = int64_t(l.pp) * l.vpp * 2;
    l.ep = l.etp = 1;
    input.experts = false; // beside which NeMo's selective mode is another
    l.overlapGradients |= l.zeroStage == 0;
  }
  if (!megatron && format != "nemo")
    l.recomputeLayers = 0;
  if (torch) {
    l.overlapGradients = l.overlapParameters = l.overlapPipeline = true;
    l.overlapExperts = false;
    l.zeroStage = 2 + l.zeroStage % 2;
    l.shardGroup = l.shardGroup == 1 ? 0 : l.shardGroup;
    if (l.contextKind == ContextKind::Ulysses)
      l.contextKind = ContextKind::AllGather;
  }
  if (format == "torchtitan") {
    if (l.pp > 1)
      l.zeroStage = 1;
    l.sequenceParallel = l.tp > 1;
    l.ep = std::min(l.ep, l.dp * l.cp);
    l.etp = l.ep > 1 && l.etp > 1 ? l.tp : 1;
    if (l.dispatcher == DispatcherKind::AllGather)
      l.dispatcher = DispatcherKind::Fused;
    if (l.vpp == 1)
      l.schedule = l.schedule == ScheduleKind::GPipe ? ScheduleKind::GPipe
                                                     : ScheduleKind::OneFOneB;
  }
  if (format == "deepspeed" || format == "accelerate") {
    l.pp = l.vpp = 1;
    l.chunkLayers.clear();
    l.ep = l.etp = 1;
    l.sequenceParallel = l.overlapTensorParallel = false;
  }
  if (format == "accelerate") {
    l.microBatch = 1;
    input.workload.globalBatch = input.workload.sequence = 0;
    if (l.recompute == RecomputeKind::Selective)
      l.recompute = RecomputeKind::Full;
    if (l.dp * l.cp * l.tp == 1) // no FSDP that could recompute
      l.recompute = RecomputeKind::None;
  }
  if (format == "deepspeed") {
    l.contextKind = ContextKind::Ulysses;
    l.recompute = RecomputeKind::None;
    input.workload.sequence = 0;
    if (l.zeroStage == 3)
      l.tp = 1;
    else
      l.shardGroup = 0;
    l.overlapParameters = l.zeroStage == 3 && l.overlapGradients;
  }
  if (format == "nanotron") {
    l.zeroStage = std::min(l.zeroStage, 1);
    l.shardGroup = 0;
    l.vpp = 1;
    l.chunkLayers.clear();
    l.etp = 1;
    l.contextKind = ContextKind::Ring;
    l.schedule = l.schedule == ScheduleKind::GPipe ? ScheduleKind::GPipe
                                                   : ScheduleKind::OneFOneB;
    l.dispatcher = DispatcherKind::AllToAll;
    l.overlapGradients = l.overlapParameters = l.overlapPipeline = true;
    l.overlapExperts = false;
    if (l.recompute == RecomputeKind::Selective)
      l.recompute = RecomputeKind::None;
  }
}

static FrameworkRun readBack(StringRef format, const ExportInput &input,
                             const ExportedFile &file) {
  Expected<FrameworkRun> run = readExported(format, input, file);
  if (!run) {
    ADD_FAILURE() << toString(run.takeError()) << "\n" << file.text;
    return {};
  }
  return *run;
}

static ExportedFile exported(StringRef format, const ExportInput &input) {
  Expected<ExportedFile> file = exportLayout(format, input);
  if (!file) {
    ADD_FAILURE() << toString(file.takeError()) << "\n" << input.layout.str();
    return {};
  }
  return *file;
}

class Frameworks : public testing::TestWithParam<const char *> {};

TEST_P(Frameworks, WhatCanBeSaidComesBack) {
  StringRef format = GetParam();
  Dice dice(11);
  int tried = 0;
  while (tried < 300) {
    ExportInput input = anyInput(dice);
    restrict(format, input);
    if (Error error = input.layout.check()) {
      consumeError(std::move(error));
      continue;
    }
    ++tried;
    ExportedFile file = exported(format, input);
    for (const std::string &loss : file.notExpressed)
      ADD_FAILURE() << input.layout.str() << "\n" << loss;
    FrameworkRun run = readBack(format, input, file);
    EXPECT_EQ(withoutMootFields(run.layout, input.layers),
              withoutMootFields(input.layout, input.layers))
        << file.text << "\ngot " << withoutMootFields(run.layout).str();
    EXPECT_EQ(run.workload.globalBatch, input.workload.globalBatch)
        << file.text;
    EXPECT_EQ(run.workload.sequence, input.workload.sequence) << file.text;
    if (HasFailure())
      break;
  }
}

TEST_P(Frameworks, WhatCannotBeSaidIsReported) {
  StringRef format = GetParam();
  Dice dice(23);
  int losing = 0;
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    ExportInput input = anyInput(dice);
    ExportedFile file = exported(format, input);
    FrameworkRun run = readBack(format, input, file);
    EXPECT_EQ(misreported(input, run, file), "") << file.text;
    losing += !file.notExpressed.empty();
    // The file says so itself where its syntax has comments.
    if (format != "deepspeed")
      for (const std::string &loss : file.notExpressed)
        EXPECT_NE(file.text.find("# not expressed: " + loss),
                  std::string::npos);
  }
  EXPECT_GT(losing, 50); // each framework lacks something
}

INSTANTIATE_TEST_SUITE_P(All, Frameworks,
                         testing::Values("megatron", "megatron-bridge", "nemo",
                                         "torchtitan", "deepspeed", "nanotron",
                                         "accelerate"));

TEST(Export, RegistryIsWhatTheTestsCover) {
  std::vector<std::string> names;
  for (const FrameworkName &name : frameworkNames())
    names.push_back(name.name.str());
  EXPECT_EQ(names, (std::vector<std::string>{"megatron", "megatron-bridge",
                                             "nemo", "torchtitan", "deepspeed",
                                             "nanotron", "accelerate"}));
}

// Megatron refuses stages that do not divide the layers unless it is told how
// many each has, and TorchTitan makes the first ones longer, where a layout
// means the middle ones.
TEST(Export, StagesThatDoNotDivideTheLayersAreWrittenOut) {
  using Chunks = SmallVector<int, 8>;
  ExportInput input;
  input.layers = 61;
  input.layout.dp = 2;
  input.layout.pp = 4;
  input.layout.vpp = 2;
  input.layout.zeroStage = 1;
  input.layout.schedule = ScheduleKind::Interleaved;
  input.workload.globalBatch = 64;
  input.workload.sequence = 4096;
  for (StringRef format : {"megatron", "megatron-bridge", "torchtitan"})
    for (const auto &[given, written] :
         {std::pair<Chunks, Chunks>{{}, {7, 8, 8, 8, 8, 8, 7, 7}},
          {{8, 8, 8, 8, 8, 7, 7, 7}, {8, 8, 8, 8, 8, 7, 7, 7}}}) {
      input.layout.chunkLayers = given;
      ExportedFile file = exported(format, input);
      EXPECT_EQ(readBack(format, input, file).layout.chunkLayers, written)
          << file.text;
    }
}

TEST(Export, TorchTitanSplitsLayersItsOwnWay) {
  FrameworkReadOptions options;
  options.format = "torchtitan";
  options.layers = 5;
  FrameworkRun run = cantFail(
      readFrameworkText("[parallelism]\npipeline_parallel_degree = 4\n"
                        "data_parallel_shard_degree = 1\n"
                        "pipeline_parallel_first_stage_less_layers = 0\n"
                        "pipeline_parallel_last_stage_less_layers = 0\n",
                        "run.toml", options));
  EXPECT_EQ(withoutMootFields(run.layout, 5).chunkLayers,
            (SmallVector<int, 8>{2, 1, 1, 1}));
}

TEST(Export, RefusesWhatCannotRun) {
  ExportInput input;
  input.layout.dp = 8;
  input.workload.globalBatch = 12;
  auto said = [&](StringRef format) {
    Expected<ExportedFile> file = exportLayout(format, input);
    return file ? "accepted" : toString(file.takeError());
  };
  EXPECT_EQ(said("megatron"),
            "the global batch must be a multiple of dp*mb = 8, got 12");
  EXPECT_NE(said("torch-titan").find("did you mean 'torchtitan'?"),
            std::string::npos);
  input.workload.globalBatch = 16;
  input.layout.pp = 2;
  input.layout.chunkLayers = {7, 8};
  input.layers = 16;
  EXPECT_EQ(said("megatron"),
            "layout: 'layers' adds up to 15, but the model has 16");
}
