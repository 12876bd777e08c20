//===- ChoicesTest.cpp - layouts as text, default workloads ---------------===//
#include "Problems.h"
#include <gtest/gtest.h>

using namespace tessera;

namespace {

TEST(Choices, Parse) {
  auto fixed = parseChoices("dp=2,tp=4 sp,recompute=full,mb=8");
  ASSERT_TRUE(bool(fixed));
  Layout l = llvm::cantFail(layoutFrom(*fixed, 8));
  EXPECT_EQ(l.dp, 2);
  EXPECT_EQ(l.tp, 4);
  EXPECT_TRUE(l.sequenceParallel);
  EXPECT_EQ(l.recompute, RecomputeKind::Full);
  EXPECT_EQ(l.microBatch, 8);
  EXPECT_TRUE(fixed->allows(l));
  EXPECT_FALSE(fixed->allows(Choice::TP, 8));
  EXPECT_TRUE(fixed->allows(Choice::PP, 8));
}

TEST(Choices, DataParallelFollows) {
  auto fixed = llvm::cantFail(parseChoices("tp=4,pp=2,vpp=2"));
  Layout l = llvm::cantFail(layoutFrom(fixed, 64));
  EXPECT_EQ(l.dp, 8);
  EXPECT_EQ(l.schedule, ScheduleKind::Interleaved);
  EXPECT_EQ(llvm::toString(layoutFrom(fixed, 12).takeError()),
            "tp=4, cp=1 and pp=2 make groups of 8 GPUs, which do not divide "
            "12");
}

TEST(Choices, Errors) {
  auto message = [](const char *text) {
    return llvm::toString(parseChoices(text).takeError());
  };
  EXPECT_NE(message("tq=2").find("unknown entry 'tq'; did you mean 'tp'?"),
            std::string::npos);
  EXPECT_NE(message("tp=0").find("'tp' must be a whole number of at least 1"),
            std::string::npos);
  EXPECT_NE(message("zero=4").find("from 0 to 3"), std::string::npos);
  EXPECT_EQ(message("layers=4+4"),
            "'layers' cannot be fixed: the search decides it");
}

TEST(Choices, EveryFieldThroughTheTable) {
  for (int i = 0; i < kNumChoices; ++i) {
    auto choice = static_cast<Choice>(i);
    Layout l;
    int64_t other = valueOf(l, choice) == 0 ? 1 : 2;
    if (choice == Choice::Schedule)
      other = 3;
    setValue(l, choice, other);
    EXPECT_EQ(valueOf(l, choice), other) << nameOf(choice).str();
    EXPECT_NE(l, Layout()) << nameOf(choice).str();
    auto parsed = parseChoices(formatChoice(choice, other));
    ASSERT_TRUE(bool(parsed)) << nameOf(choice).str();
    EXPECT_EQ(*parsed->get(choice), other);
  }
}

TEST(Workload, DefaultBatchIsAboutFourMillionTokens) {
  // 4 * 2^20 tokens: 1024 sequences of 4096.
  EXPECT_EQ(defaultGlobalBatch(128, 4096), 1024);
  EXPECT_EQ(defaultGlobalBatch(1024, 4096), 1024);
  EXPECT_EQ(defaultGlobalBatch(16384, 4096), 1024);
  for (int64_t gpus : {1, 3, 24, 96, 1000, 1536, 3000}) {
    int64_t batch = defaultGlobalBatch(gpus, 2048);
    EXPECT_TRUE(batch % gpus == 0 || gpus % batch == 0) << gpus;
    EXPECT_NEAR(double(batch) / 2048, 1.0, 0.51) << gpus;
  }
}

} // namespace
