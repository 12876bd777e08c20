//===- RunTest.cpp - the published measurements end to end ----------------===//
#include "lib/Planning/Validate/Case.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Planning/Validate.h"
#include "tessera/Support/File.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <map>

using namespace llvm;
using namespace tessera;

static std::string published(const char *file) {
  const char *source = std::getenv("TESSERA_SRC");
  return std::string(source ? source : TESSERA_SOURCE_DIR) +
         "/test/Data/published/" + file;
}

static std::string dataFile() { return published("points.csv"); }

/// Models are built once for all tests.
static RowSources &sources() {
  static RowSources all(makeGraphSource);
  return all;
}

static json::Value report(std::string source = "", std::string points = "",
                          std::string constants = "") {
  ValidateOptions o;
  o.features = makeGraphSource;
  o.points = points.empty() ? dataFile() : points;
  o.constants = std::move(constants);
  o.json = true;
  o.source = std::move(source);
  std::string out, err;
  raw_string_ostream os(out), es(err);
  EXPECT_EQ(runValidate(o, os, es), 0) << err;
  return cantFail(json::parse(out));
}

// Runs that print two metrics: both mean the same step if each source's
// convention is read right. Tolerances are the sources' rounding.
TEST(Conventions, TwoMetricsOfARunAgree) {
  std::string text = cantFail(readFile(dataFile()));
  std::vector<Point> points = cantFail(readPoints(text, "points.csv"));
  std::map<std::string, std::vector<const Point *>> runs;
  for (const Point &p : points)
    if (p.complete)
      runs[p.run].push_back(&p);
  unsigned compared = 0, apart = 0;
  for (auto &[name, rows] : runs) {
    if (StringRef(rows[0]->table).contains("LoRA"))
      continue; // frozen weights: sources count them differently
    auto c = makeCase(rows, sources());
    ASSERT_TRUE(bool(c)) << toString(c.takeError());
    double direct = 0;
    for (const Point *p : rows)
      if (p->metric == Metric::StepTime || p->metric == Metric::TokensPerSecond)
        direct = cantFail(measuredStepTime(*p, *c));
    for (const Point *p : rows)
      if (direct > 0 &&
          (p->metric == Metric::Tflops || p->metric == Metric::Mfu)) {
        ++compared;
        double converted = cantFail(measuredStepTime(*p, *c));
        apart += std::abs(converted / direct - 1) > 0.05;
      }
  }
  EXPECT_GT(compared, 300u);
  EXPECT_LT(apart, compared / 20);
}

// arXiv 2104.04473, table 2 prints both TFLOP/s and the days that 300B tokens
// would take: 84 days for 174.6B parameters on 384 GPUs at 153 TFLOP/s.
TEST(Conventions, HardwareFlopsGiveThePublishedDays) {
  std::string text = cantFail(readFile(dataFile()));
  std::vector<Point> points = cantFail(readPoints(text, "points.csv"));
  unsigned checked = 0;
  for (const Point &p : points) {
    if (!p.complete || p.metric != Metric::Tflops ||
        !StringRef(p.notes).contains("source extrapolates"))
      continue;
    StringRef rest = StringRef(p.notes).split("source extrapolates ").second;
    unsigned days = 0;
    ASSERT_FALSE(rest.split(' ').first.getAsInteger(10, days));
    Case c = cantFail(makeCase({&p}, sources()));
    double steps = 300e9 / (double(p.globalBatch) * p.sequence);
    EXPECT_NEAR(cantFail(measuredStepTime(p, c)) * steps / 86400 / days, 1.0,
                0.02)
        << p.run;
    ++checked;
  }
  EXPECT_EQ(checked, 12u);
}

TEST(Validate, CoversEveryCompleteRunAndMeetsTheBounds) {
  json::Value v = report();
  const json::Object &o = *v.getAsObject();
  EXPECT_EQ(o.getObject("step_time")->getInteger("runs"), 1832);
  // With constants fitted to all of these sources.
  EXPECT_LE(*o.getObject("step_time")->getNumber("median"), 0.045);
  EXPECT_LE(*o.getObject("step_time")->getNumber("p90"), 0.145);
  EXPECT_LE(*o.getObject("memory")->getNumber("median"), 0.05);
  EXPECT_LE(*o.getObject("memory")->getNumber("p90"), 0.12);
  EXPECT_GE(*o.getObject("sweep_mean")->getNumber("spearman"), 0.83);
  EXPECT_LE(*o.getObject("sweep_mean")->getNumber("regret"), 0.04);
  for (const char *axis : {"tp", "pp", "pp interleaved", "cp", "ep", "zero-3"})
    EXPECT_TRUE(o.getObject("by_axis")->getObject(axis)) << axis;
  for (const json::Value &run : *o.getArray("runs")) {
    const json::Object &r = *run.getAsObject();
    EXPECT_GT(*r.getNumber("predicted"), 0) << r.getString("run")->str();
    double sum = 0;
    for (const auto &part : *r.getObject("breakdown"))
      if (auto n = part.second.getAsNumber())
        sum += *n;
    for (const auto &part : *r.getObject("breakdown")->getObject("exposed"))
      sum += *part.second.getAsNumber();
    EXPECT_NEAR(sum / *r.getNumber("predicted"), 1.0, 1e-6)
        << r.getString("run")->str();
  }
}

// They ran.
TEST(Validate, PublishedRunsFit) {
  json::Value v = report();
  for (const json::Value &r : *v.getAsObject()->getArray("runs")) {
    const json::Object &run = *r.getAsObject();
    const json::Object &memory = *run.getObject("memory");
    if (*run.getBoolean("complete"))
      EXPECT_LE(*memory.getNumber("needed"), *memory.getNumber("limit"))
          << run.getString("run")->str();
  }
}

// Constants fitted to one half of the sources, and what they say of the other;
// scripts/fit_cost_model.py --held-out writes them. As measured, with slack.
TEST(Validate, EachHalfPredictsTheOther) {
  const std::tuple<const char *, double, double> halves[] = {
      {"half_a.json", 0.09, 0.28}, {"half_b.json", 0.11, 0.28}};
  for (auto [file, median, p90] : halves) {
    json::Value v = report("", "", published(file));
    const json::Object *held = v.getAsObject()->getObject("step_time_held_out");
    ASSERT_TRUE(held) << file;
    EXPECT_LE(*held->getNumber("median"), median) << file;
    EXPECT_LE(*held->getNumber("p90"), p90) << file;
  }
}

// Runs of models completed from their configs.
TEST(Validate, CompletedRuns) {
  json::Value v = report("", published("completed.csv"));
  const json::Object *o = v.getAsObject()->getObject("step_time");
  EXPECT_EQ(o->getInteger("runs"), 95);
  EXPECT_LE(*o->getNumber("median"), 0.06);
  EXPECT_LE(*o->getNumber("p90"), 0.235);
}

// Sources collected later, each with its own spellings: every run that is
// complete is read. What the sources do beside the model is in
// docs/cost-model.md.
TEST(Validate, LaterSources) {
  json::Value v = report("", published("further.csv"));
  const json::Object *o = v.getAsObject()->getObject("step_time");
  EXPECT_EQ(o->getInteger("runs"), 345);
  EXPECT_LE(*o->getNumber("median"), 0.14);
  EXPECT_LE(*o->getNumber("p90"), 0.35);
}

// Sources that nothing was fitted to: every run that can be modelled is read.
// What is left is said in docs/cost-model.md, "Held-out set".
TEST(Validate, HeldOutSources) {
  json::Value v = report("", published("heldout.csv"));
  const json::Object *o = v.getAsObject()->getObject("step_time");
  EXPECT_EQ(o->getInteger("runs"), 257);
  EXPECT_LE(*o->getNumber("median"), 0.20);
  EXPECT_LE(*o->getNumber("p90"), 0.50);
  EXPECT_EQ(v.getAsObject()->getArray("skipped")->size(), 2u);
}

TEST(Validate, OneSource) {
  json::Value v = report("llm-foundry");
  EXPECT_EQ(v.getAsObject()->getObject("by_source")->size(), 1u);
}

TEST(Validate, TextNamesEverySection) {
  ValidateOptions o;
  o.features = makeGraphSource;
  o.points = dataFile();
  std::string out, err;
  raw_string_ostream os(out), es(err);
  ASSERT_EQ(runValidate(o, os, es), 0) << err;
  for (const char *word : {"source", "chip", "software", "axis", "metric",
                           "peak memory", "Spearman", "weighed by source"})
    EXPECT_NE(out.find(word), std::string::npos) << word;
}

TEST(Validate, MistakesAreOneMessage) {
  auto run = [](ValidateOptions o) {
    std::string out, err;
    raw_string_ostream os(out), es(err);
    EXPECT_EQ(runValidate(o, os, es), 1);
    EXPECT_EQ(out, "");
    return err;
  };
  ValidateOptions missing;
  missing.features = makeGraphSource;
  missing.points = "no-such-file.csv";
  EXPECT_TRUE(StringRef(run(missing))
                  .starts_with("error: cannot read 'no-such-file.csv': "));
  ValidateOptions noSource;
  noSource.features = makeGraphSource;
  noSource.points = dataFile();
  noSource.source = "nobody";
  EXPECT_TRUE(StringRef(run(noSource))
                  .contains("no row whose source contains 'nobody'"));
  ValidateOptions noConstants;
  noConstants.features = makeGraphSource;
  noConstants.points = noConstants.constants = dataFile();
  EXPECT_TRUE(StringRef(run(noConstants)).starts_with("error: "));
}
