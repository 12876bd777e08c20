//===- PublishedTest.cpp - no published layout beats the best -------------===//
//
// For a sample of the published runs, several of every source, the search with
// the run's own model, machine, batch and software finds a layout predicted no
// slower than the one that was run. The benchmark published-bench does the same
// for all of them.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Search/Published.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Support/File.h"
#include "llvm/ADT/MapVector.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>

using namespace llvm;
using namespace tessera;

namespace {

/// Runs of each source that are looked at, spread evenly over it.
constexpr size_t kSample = 6;

TEST(Published, BestIsNoSlowerThanWhatWasRun) {
  const char *source = std::getenv("TESSERA_SRC");
  std::string path = std::string(source ? source : TESSERA_SOURCE_DIR) +
                     "/test/Data/published/points.csv";
  std::string text = cantFail(readFile(path));
  std::vector<Point> points = cantFail(readPoints(text, path));
  MapVector<StringRef, MapVector<StringRef, std::vector<const Point *>>> runs;
  for (const Point &p : points)
    if (p.complete)
      runs[p.source][p.run].push_back(&p);
  EXPECT_GE(runs.size(), 15u);
  RowSources models(makeGraphSource);
  size_t compared = 0, raised = 0, faster = 0;
  std::map<std::string, size_t> axes;
  for (auto &[name, sourceRuns] : runs) {
    size_t stride = (sourceRuns.size() + kSample - 1) / kSample;
    size_t n = 0;
    for (auto &[run, rows] : sourceRuns) {
      if (n++ % stride)
        continue;
      Expected<Case> c = makeCase(rows, models);
      ASSERT_TRUE(bool(c)) << toString(c.takeError());
      PublishedComparison r = comparePublished(*c);
      ASSERT_TRUE(r.best.has_value()) << run.str();
      EXPECT_EQ(r.gap, 0) << run.str();
      EXPECT_EQ(r.denied, "") << run.str() << " of " << c->stack;
      EXPECT_TRUE(r.noSlower())
          << run.str() << ": " << r.own.str() << " takes " << r.ownSeconds
          << " s, " << r.best->layout.str() << " " << r.best->step.seconds;
      // Fits what the comparison allowed.
      EXPECT_LE(r.best->memory.total(),
                std::max(r.ownBytes, c->cluster.chip.memoryBytes));
      ++compared;
      axes["cp"] += r.own.cp > 1;
      axes["ep"] += r.own.ep > 1;
      axes["tp"] += r.own.tp > 1;
      axes["pp"] += r.own.pp > 1;
      axes["vpp"] += r.own.vpp > 1;
      axes["zero 3"] += r.own.zeroStage == 3;
      raised += r.raisedLimit;
      faster += r.best->step.seconds < 0.99 * r.ownSeconds;
    }
  }
  EXPECT_GE(compared, 60u);
  for (auto &[axis, count] : axes)
    EXPECT_GE(count, 5u) << axis;
  // The test would pass on a search that returns what it is given.
  EXPECT_GE(faster, compared / 2);
  EXPECT_LE(raised, compared / 2);
}

} // namespace
