//===- LayoutTest.cpp - text form and consistency of layouts --------------===//
#include "tessera/CostModel/Layout.h"
#include "gtest/gtest.h"
#include <random>

using namespace llvm;
using namespace tessera;

static Layout parsed(StringRef text) {
  Expected<Layout> layout = parseLayout(text);
  if (!layout) {
    ADD_FAILURE() << text.str() << ": " << toString(layout.takeError());
    return {};
  }
  return *layout;
}

static std::string refusal(StringRef text) {
  Expected<Layout> layout = parseLayout(text);
  if (layout)
    return "accepted as " + layout->str();
  return toString(layout.takeError());
}

TEST(LayoutText, ReadsWhatAPersonWrites) {
  Layout l = parsed("dp=8, tp=8,pp=4,vpp=2,mb=1,sp,recompute=selective,zero=1");
  EXPECT_EQ(l.dp, 8);
  EXPECT_EQ(l.tp, 8);
  EXPECT_EQ(l.pp, 4);
  EXPECT_EQ(l.vpp, 2);
  EXPECT_EQ(l.microBatch, 1);
  EXPECT_EQ(l.zeroStage, 1);
  EXPECT_TRUE(l.sequenceParallel);
  EXPECT_EQ(l.recompute, RecomputeKind::Selective);
  EXPECT_EQ(l.schedule, ScheduleKind::Interleaved);
  EXPECT_EQ(parsed("pp=4 layers=7+8*2+7").chunkLayers,
            (SmallVector<int, 8>{7, 8, 8, 7}));
}

TEST(LayoutText, PrintedIsReadBack) {
  std::mt19937 random(7);
  auto pick = [&](int n) { return static_cast<int>(random() % n); };
  for (int i = 0; i < 2000; ++i) {
    Layout l;
    l.dp = 1 << pick(6);
    l.shardGroup = pick(2) ? 0 : 1 << pick(2);
    if (l.shardGroup > l.dp)
      l.shardGroup = 0;
    l.zeroStage = pick(4);
    l.tp = 1 << pick(4);
    l.sequenceParallel = pick(2);
    l.cp = 1 << pick(3);
    l.contextKind = static_cast<ContextKind>(pick(3));
    l.pp = 1 + pick(6);
    l.vpp = l.pp > 1 ? 1 + pick(3) : 1;
    if (pick(2))
      for (int c = 0; c < l.pp * l.vpp; ++c)
        l.chunkLayers.push_back(pick(4));
    l.recompute = static_cast<RecomputeKind>(pick(3));
    if (l.recompute == RecomputeKind::Full)
      l.recomputeLayers = pick(3);
    l.microBatch = 1 + pick(9);
    l.schedule = static_cast<ScheduleKind>(pick(4));
    l.dispatcher = static_cast<DispatcherKind>(pick(3));
    l.overlapGradients = pick(2);
    l.overlapParameters = pick(2);
    l.overlapTensorParallel = pick(2);
    l.overlapExperts = pick(2);
    l.overlapPipeline = pick(2);
    EXPECT_EQ(parsed(l.str()), l) << l.str();
  }
}

TEST(LayoutText, EntriesLeaveTheRestAlone) {
  Layout l;
  l.cp = 4;
  SmallVector<StringRef> given;
  ASSERT_FALSE(static_cast<bool>(parseLayoutEntries("tp=2,ep=64", l, &given)));
  EXPECT_EQ(l.cp, 4);
  EXPECT_EQ(l.tp, 2);
  EXPECT_EQ(l.ep, 64);
  EXPECT_EQ(given, (SmallVector<StringRef>{"tp", "ep"}));
}

TEST(LayoutText, RefusesWithTheEntryNamed) {
  EXPECT_EQ(refusal(""), "layout: nothing given; write, say, 'dp=8,tp=4,mb=1'");
  EXPECT_EQ(refusal("tp=0"),
            "layout: 'tp' must be a whole number of at least 1, got '0'");
  EXPECT_EQ(refusal("tp=99999999999"), "layout: 'tp' must be a whole number of "
                                       "at least 1, got '99999999999'");
  EXPECT_EQ(refusal("tp"), "layout: 'tp' needs a value, as in 'tp=...'");
  EXPECT_EQ(refusal("tp=2,tp=4"), "layout: 'tp' is given twice");
  EXPECT_NE(refusal("recompute=ful").find("did you mean 'full'?"),
            std::string::npos);
  EXPECT_NE(refusal("recomput=full").find("did you mean 'recompute'?"),
            std::string::npos);
  EXPECT_EQ(refusal("zero=4"), "layout: 'zero' must be from 0 to 3, got 4");
  EXPECT_EQ(refusal("dp=8,shard=3"),
            "layout: 'shard' must divide dp = 8, got 3");
  EXPECT_EQ(refusal("dp=2,tp=2,ep=8"),
            "layout: ep*etp must divide dp*cp*tp = 4, got 8");
  EXPECT_EQ(refusal("pp=2,vpp=2147483647"),
            "layout: pp*vpp must be at most 65536, got 4294967294");
  EXPECT_EQ(refusal("vpp=2"),
            "layout: 'vpp' needs pp > 1, got vpp = 2 and pp = 1");
  EXPECT_EQ(refusal("pp=4,layers=8*3"),
            "layout: 'layers' must list pp*vpp = 4 chunks, got 3");
  EXPECT_NE(refusal("pp=2,layers=8*99999999").find("more than 65536"),
            std::string::npos);
  EXPECT_NE(refusal("dp=100000,tp=100000").find("more GPUs"),
            std::string::npos);
}
