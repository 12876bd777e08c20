//===- PointTest.cpp - reading measurements -------------------------------===//
#include "lib/Planning/Validate/Point.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

TEST(Csv, QuotesAndLineBreaks) {
  CsvTable t =
      cantFail(parseCsv("a,b\n\"x, \"\"y\"\"\nz\",2\r\n\n3,\n", "f.csv"));
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.field(0, "a"), "x, \"y\"\nz");
  EXPECT_EQ(t.field(0, "b"), "2");
  EXPECT_EQ(t.field(1, "b"), "");
  EXPECT_EQ(t.field(1, "no such column"), "");
}

TEST(Csv, MistakesNameTheLine) {
  auto error = [](StringRef text) {
    return toString(parseCsv(text, "f.csv").takeError());
  };
  EXPECT_EQ(error("a,b\n1,2\n1,2,3\n"), "f.csv:3: expected 2 fields, got 3");
  EXPECT_EQ(error("a,b\n1,\"2\n"), "f.csv:2: a quote is not closed");
  EXPECT_EQ(error(""), "f.csv: no header line");
}

static std::string row(StringRef metric, StringRef value,
                       StringRef layers = "2") {
  return ("id,source,model,layers,hidden,heads,seq,gpu,dp,tp,pp,micro_batch,"
          "n_gpus,metric,value,notes,global_batch\n"
          "x,s,GPT," +
          layers + ",64,4,128,H100,1,1,1,1,1," + metric + "," + value +
          ",\"cfg=complete; run=r7; moe_ffn=2048\",8\n")
      .str();
}

TEST(Points, ReadsColumnsAndNotes) {
  auto points = cantFail(readPoints(row("step_time_s", "0.5"), "p.csv"));
  ASSERT_EQ(points.size(), 1u);
  EXPECT_EQ(points[0].run, "r7");
  EXPECT_TRUE(points[0].complete);
  EXPECT_EQ(points[0].metric, Metric::StepTime);
  EXPECT_EQ(points[0].zeroStage, -1); // not stated, which is not zero
  EXPECT_EQ(noteNumber(points[0].notes, "moe_ffn"), 2048);
  EXPECT_EQ(noteNumber(points[0].notes, "absent"), 0);
}

TEST(Points, MistakesNameLineAndColumn) {
  auto error = [](const std::string &text) {
    return toString(readPoints(text, "p.csv").takeError());
  };
  EXPECT_EQ(error("id,source\n1,2\n"), "p.csv: column 'model' is missing");
  EXPECT_EQ(error(row("step_time", "1")),
            "p.csv:2: column 'metric': unknown metric 'step_time'; did you "
            "mean 'step_time_s'?");
  EXPECT_EQ(error(row("days", "many")),
            "p.csv:2: column 'value': expected a number, got 'many'");
  EXPECT_EQ(error(row("days", "0")),
            "p.csv:2: column 'value': should be positive, got '0'");
  EXPECT_EQ(error(row("days", "1", "two")),
            "p.csv:2: column 'layers': expected a number, got 'two'");
  EXPECT_EQ(error(row("days", "1", "2.5")),
            "p.csv:2: column 'layers': expected a count, got '2.5'");
}
