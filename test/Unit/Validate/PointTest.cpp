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
  EXPECT_EQ(
      error("id,source\n1,2\n"),
      "p.csv: columns 'model', 'layers', 'hidden', 'heads', 'seq', 'gpu', "
      "'n_gpus', 'tp', 'pp', 'dp', 'micro_batch', 'global_batch', "
      "'metric', 'value' are missing ('tessera validate --template' "
      "prints a file to fill)");
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

// One bad row takes no other with it.
TEST(Points, BadRowsAreKeptApart) {
  auto points = cantFail(
      readPoints(row("days", "2") + "y,s,GPT,x,64,4,128,H100,1,1,1,1,1,days,2,"
                                    "cfg=complete,8\n",
                 "p.csv"));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_EQ(points[0].problem, "");
  EXPECT_EQ(points[1].problem,
            "p.csv:3: column 'layers': expected a number, got 'x'");
}

TEST(Points, Spellings) {
  auto read = [](StringRef zero, StringRef sp, StringRef vpp, StringRef seq,
                 StringRef batch, StringRef notes = "run=r") {
    return cantFail(readPoints(
        ("id,source,model,layers,hidden,heads,seq,gpu,dp,tp,pp,micro_batch,"
         "n_gpus,zero_stage,sequence_parallel,vpp_or_interleave,metric,value,"
         "notes,global_batch\nx,s,GPT,2,64,4," +
         seq + ",H100,-,1,1,1,8," + zero + "," + sp + "," + vpp +
         ",step_time_s,\"1,000\"," + notes + "," + batch + "\n")
            .str(),
        "p.csv"))[0];
  };
  const std::pair<const char *, int> stages[] = {{"", -1},
                                                 {"-1", -1},
                                                 {"0", 0},
                                                 {"3", 3},
                                                 {"n/a", -1},
                                                 {"none", -1},
                                                 {"ZeRO-2", 2},
                                                 {"zero1", 1},
                                                 {"Stage 3", 3},
                                                 {"FSDP", 3},
                                                 {"FSDP2", 3},
                                                 {"FULL_SHARD", 3},
                                                 {"HYBRID_SHARD", 3},
                                                 {"HSDP", 3},
                                                 {"SHARD_GRAD_OP", 2},
                                                 {"NO_SHARD", 0},
                                                 {"DDP", 0},
                                                 {"distributed optimizer", 1},
                                                 {"dist-opt", 1},
                                                 {"optimizer states", 1},
                                                 {"optimizer states and "
                                                  "gradients",
                                                  2},
                                                 {"weights too", 3},
                                                 {"off", 0}};
  for (auto [written, stage] : stages) {
    Point p = read(written, "", "", "128", "8");
    EXPECT_EQ(p.problem, "") << written;
    EXPECT_EQ(p.zeroStage, stage) << written;
  }
  for (const char *yes : {"yes", "True", "1", "on", "Y"})
    EXPECT_EQ(read("", yes, "", "128", "8").sequenceParallel, "yes") << yes;
  for (const char *no : {"no", "FALSE", "0", "off"})
    EXPECT_EQ(read("", no, "", "128", "8").sequenceParallel, "no") << no;
  for (const char *open : {"", "-", "n/a"})
    EXPECT_EQ(read("", open, "", "128", "8").sequenceParallel, "") << open;
  for (const char *open : {"", "-", "none", "N/A"})
    EXPECT_EQ(read("", "", open, "128", "8").vpp, 0) << open;
  for (const char *word : {"interleaved", "Interleaved 1F1B", "yes"}) {
    Point some = read("", "", word, "128", "8");
    EXPECT_TRUE(some.interleaved && some.problem.empty()) << word;
    EXPECT_EQ(some.vpp, 0) << word;
  }
  for (const char *word : {"no", "1F1B", "GPipe", "1"})
    EXPECT_FALSE(read("", "", word, "128", "8").interleaved) << word;
  Point p = read("1", "", "5", "4k", "\"1,024\"");
  EXPECT_EQ(p.problem, "");
  EXPECT_EQ(p.vpp, 5);
  EXPECT_EQ(p.sequence, 4096);
  EXPECT_EQ(p.globalBatch, 1024);
  EXPECT_EQ(p.value, 1000);
  EXPECT_EQ(p.dp, 0);
  EXPECT_TRUE(p.complete); // nothing says it is not, and all is there
  EXPECT_FALSE(read("1", "", "", "128", "").complete);
  EXPECT_FALSE(read("1", "", "", "128", "8", "cfg=partial").complete);
}
