//===- ProgramTest.cpp - whole executables, run as users run them ---------===//
//
// The fake programs (FakeProgram.cpp) are linked as the compiler links. The
// expected losses come from a plain loop in double over the test's own weights.
//
//===----------------------------------------------------------------------===//
#include "RunCommand.h"
#include "gtest/gtest.h"
#include <cmath>
#include <cstring>

using namespace tessera::test;

namespace {

struct ProgramTest : ::testing::Test {
  TempFolder folder;
  std::vector<float> w, g3, g4, fused;
  std::string one = FAKE_ONE, four = FAKE_FOUR, launch = FAKE_LAUNCH;

  void SetUp() override {
    for (int i = 0; i < 44; ++i)
      w.push_back(float((i * 5) % 17) / 8 - 1);
    g3 = {1.0f, -0.5f, 2.0f, 0.25f};
    g4 = {3.0f, 1.5f, -1.0f, 4.0f};
    for (int i = 0; i < 33; ++i)
      fused.push_back(float((i * 7) % 13) / 4);
    writeWeights("model.safetensors", "model.w", "[11,4]", w.size());
  }
  void writeWeights(const std::string &name, const std::string &wName,
                    const std::string &wShape, size_t wCount) {
    size_t a = wCount * 4;
    auto entry = [](const std::string &tensor, const std::string &shape,
                    size_t from, size_t to) {
      return "\"" + tensor + "\":{\"dtype\":\"F32\",\"shape\":" + shape +
             ",\"data_offsets\":[" + std::to_string(from) + "," +
             std::to_string(to) + "]}";
    };
    std::string header = "{" + entry(wName, wShape, 0, a) + "," +
                         entry("layers.3.g", "[4]", a, a + 16) + "," +
                         entry("layers.4.g", "[4]", a + 16, a + 32) + "," +
                         entry("fused", "[33]", a + 32, a + 164) + "}";
    std::vector<float> cut(w.begin(), w.begin() + long(wCount));
    folder.write(name, safetensors(header, bytesOf(cut) + bytesOf(g3) +
                                               bytesOf(g4) + bytesOf(fused)));
  }

  double nll(int token, int position) const {
    double sum = fused[11 + token] + std::cos(position * 0.5);
    for (int j = 0; j < 4; ++j)
      sum += double(w[token * 4 + j]) * g3[j] * g4[j];
    return sum;
  }
  /// Two rows of six tokens; `labels` 1 where the position counts.
  double meanLoss(const std::vector<int> &tokens,
                  const std::vector<int> &counts) const {
    double sum = 0, n = 0;
    for (int i = 0; i < 12; ++i)
      if (counts[i]) {
        sum += nll(tokens[i], i % 6);
        n += 1;
      }
    return sum / n;
  }
  std::string weights() const { return " --weights " + folder.path; }
  std::string tokensFile() const {
    return folder.write("tokens.txt", "1 2 3 4 5 6 7 8\n9 10 0 3\n");
  }
  std::string args() const { return weights() + " --tokens " + tokensFile(); }
  CommandResult runFour(const std::string &arguments,
                        const std::string &environment = "") {
    return runCommand(environment + " " + launch + " 4 " + four + " " +
                      arguments);
  }
  static double lossOf(const CommandResult &r) {
    double loss = NAN;
    if (std::sscanf(r.out.c_str(), "loss %lf", &loss) != 1)
      return NAN;
    return loss;
  }
  static bool has(const std::string &text, const std::string &part) {
    return text.find(part) != std::string::npos;
  }
  /// Fails as it should: `code`, `parts` in the message, nothing on stdout.
  void expectFailure(const CommandResult &r, int code,
                     const std::vector<std::string> &parts) {
    EXPECT_EQ(r.code, code) << r.err;
    EXPECT_EQ(r.out, "");
    EXPECT_LT(r.seconds, 20);
    for (const std::string &part : parts)
      EXPECT_TRUE(has(r.err, part)) << "wanted: " << part << "\ngot: " << r.err;
  }
  const std::vector<int> stream = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 3};
};
} // namespace

TEST_F(ProgramTest, LossOfOneRankAndOfFour) {
  double want = meanLoss(stream, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0});
  CommandResult r = runCommand(one + args());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NEAR(lossOf(r), want, 1e-5) << r.out;
  EXPECT_TRUE(has(r.out, "tokens 12 (11 counted) on 1 rank")) << r.out;
  EXPECT_EQ(r.err, "");
  r = runFour(args());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NEAR(lossOf(r), want, 1e-5) << r.out;
  EXPECT_TRUE(has(r.out, "on 4 ranks (dp=2, tp=2), virtual GPU")) << r.out;
  EXPECT_EQ(r.err, "");
  // Printed once.
  EXPECT_EQ(r.out.find("loss"), r.out.rfind("loss"));
}

TEST_F(ProgramTest, RowsAndLastLabels) {
  // Lines that are the batch's rows are separate sequences.
  std::string rows = folder.write("rows.txt", "1 2 3 4 5 6\n7 8 9 10 0 3\n");
  CommandResult r = runFour(weights() + " --tokens " + rows);
  EXPECT_NEAR(lossOf(r), meanLoss(stream, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0}),
              1e-5);
  // One more id is the last label.
  std::string more = folder.write("more.txt", "1 2 3 4 5 6 7 8 9 10 0 3 2");
  r = runFour(weights() + " --tokens " + more);
  EXPECT_NEAR(lossOf(r), meanLoss(stream, std::vector<int>(12, 1)), 1e-5);
  std::string wide = folder.write("wide.txt", "1 2 3 4 5 6 9\n7 8 9 10 0 3 1");
  r = runFour(weights() + " --tokens=" + wide);
  EXPECT_NEAR(lossOf(r), meanLoss(stream, std::vector<int>(12, 1)), 1e-5);
  EXPECT_TRUE(has(r.out, "12 counted")) << r.out;
}

TEST_F(ProgramTest, NumpyAndSafetensorsTokens) {
  std::string dict = "{'descr': '<i8', 'fortran_order': False, 'shape': "
                     "(2, 6), }";
  dict.resize(117, ' ');
  dict += '\n';
  std::string head("\x93NUMPY\x01\0", 8);
  head += char(dict.size());
  head += '\0';
  std::vector<int64_t> ids(stream.begin(), stream.end());
  std::string npy = folder.write("t.npy", head + dict + bytesOf(ids));
  double want = meanLoss(stream, {1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0});
  EXPECT_NEAR(lossOf(runFour(weights() + " --tokens " + npy)), want, 1e-5);
  std::vector<int32_t> small(stream.begin(), stream.end());
  std::string st = folder.write(
      "t.safetensors", safetensors(R"({"tokens":{"dtype":"I32","shape":[2,6],)"
                                   R"("data_offsets":[0,48]}})",
                                   bytesOf(small)));
  EXPECT_NEAR(lossOf(runFour(weights() + " --tokens " + st)), want, 1e-5);
}

TEST_F(ProgramTest, OutputFiles) {
  std::string npy = folder.file("nll.npy"), st = folder.file("o.safetensors");
  EXPECT_EQ(runFour(args() + " --output " + npy).code, 0);
  EXPECT_EQ(runFour(args() + " --output " + st).code, 0);
  auto read = [](const std::string &path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  };
  std::string bytes = read(npy), all = read(st);
  ASSERT_EQ(bytes.size(), 128u + 48u);
  EXPECT_TRUE(has(bytes, "'shape': (2, 6), }")) << bytes.substr(0, 128);
  ASSERT_GT(all.size(), 52u);
  for (int i = 0; i < 12; ++i) {
    float a, b;
    std::memcpy(&a, bytes.data() + 128 + 4 * i, 4);
    std::memcpy(&b, all.data() + all.size() - 52 + 4 * i, 4);
    EXPECT_NEAR(a, nll(stream[i], i % 6), 1e-5);
    EXPECT_EQ(a, b);
  }
  // Nothing but the two files was left.
  int left = 0;
  for (auto &e : std::filesystem::directory_iterator(folder.path))
    left += e.path().string().find(".tmp.") != std::string::npos;
  EXPECT_EQ(left, 0);
}

TEST_F(ProgramTest, DiskFullLeavesNoPartialFile) {
  std::string npy = folder.file("nll.npy");
  // A file-size limit of 0 blocks stands for a full disk. One rank, since
  // shared memory counts as files too; its own output goes through a pipe.
  CommandResult r = runCommand("(ulimit -f 0; " + one + args() + " --output " +
                               npy + ") 2>&1 | cat");
  EXPECT_TRUE(has(r.out, "cannot write '" + npy + "': File too large"))
      << r.out;
  EXPECT_FALSE(has(r.out, "loss"));
  for (auto &e : std::filesystem::directory_iterator(folder.path))
    EXPECT_EQ(e.path().string().find("nll.npy"), std::string::npos);
  expectFailure(runFour(args() + " --output " + folder.file("no/x.npy")), 1,
                {"cannot write", "No such file"});
}

TEST_F(ProgramTest, RandomWeightsDoNotDependOnTheLayout) {
  std::string a = " --init random:7 --tokens " + tokensFile();
  double first = lossOf(runCommand(one + a)), again = lossOf(runFour(a));
  EXPECT_NEAR(first, again, 1e-5);
  double other =
      lossOf(runCommand(one + " --init random:8 --tokens " + tokensFile()));
  EXPECT_GT(std::fabs(first - other), 1e-3);
}

TEST_F(ProgramTest, JsonTimesAndCollectives) {
  CommandResult r = runFour(args() + " --json --repeat 3");
  EXPECT_EQ(r.code, 0) << r.err;
  for (const char *part :
       {"\"ranks\": 4", "\"tokens_counted\": 11", "\"op\": \"all_reduce\"",
        "\"axes\": \"[tp]\"", "\"bytes_per_call\": 24",
        "\"collective_bytes\": 32"})
    EXPECT_TRUE(has(r.out, part)) << part << r.out;
  r = runFour(args() + " --time --repeat 2 --report-collectives");
  EXPECT_TRUE(has(r.out, "of 2 runs")) << r.out;
  EXPECT_TRUE(has(r.out, "collective all_reduce f32 x 6 on [tp]: 1 calls, 24 "
                         "bytes"))
      << r.out;
}

TEST_F(ProgramTest, DescribeAndHelpNeedNoRanks) {
  CommandResult r = runCommand(four + " --describe");
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "ranks 4 (dp=2, tp=2)")) << r.out;
  EXPECT_TRUE(has(r.out, "kernel local_part"));
  EXPECT_TRUE(
      has(runCommand(four + " --describe --json").out, "\"sequence\": 6"));
  EXPECT_TRUE(has(runCommand(four + " --help").out, "--report-collectives"));
}

TEST_F(ProgramTest, WrongRankCount) {
  expectFailure(runCommand(four + args()), 1,
                {"compiled for 4 ranks (mesh dp=2, tp=2)",
                 "one process was started", "tessera run -n 4"});
  CommandResult r = runCommand(launch + " 3 " + four + args());
  expectFailure(r, 1, {"tessera run started 3"});
  EXPECT_EQ(r.err.find("compiled for"), r.err.rfind("compiled for"));
}

TEST_F(ProgramTest, CommandLineMistakes) {
  expectFailure(runCommand(one + " --token x"), 2,
                {"unknown option", "--token", "did you mean --tokens?"});
  expectFailure(runCommand(one + " --device gpu"), 2,
                {"--device is", "expected auto, virtual or cuda"});
  expectFailure(runCommand(one + " --repeat 0"), 2, {"--repeat is"});
  expectFailure(runCommand(one + " --tokens"), 2, {"needs a value"});
  expectFailure(runCommand(one + args() + " --output x.bin"), 2, {".npy"});
  expectFailure(runCommand(one + args() + " --init random:1"), 2, {"exclude"});
  expectFailure(runCommand(one + " stray"), 2, {"unexpected argument"});
  expectFailure(runCommand(one), 1, {"no tokens given"});
  expectFailure(runCommand(one + " --tokens " + tokensFile()), 1,
                {"no weights given"});
  expectFailure(runCommand(one + args() + " --device cuda --check"), 2,
                {"--check is for the virtual GPU"});
}

TEST_F(ProgramTest, CudaWithoutADriverNamesTheAlternative) {
  if (runCommand("ldconfig -p | grep libcuda.so.1").code == 0)
    GTEST_SKIP() << "there is a CUDA driver";
  expectFailure(runCommand(one + args() + " --device=cuda"), 1,
                {"cannot open the CUDA driver", "--device=virtual"});
}

TEST_F(ProgramTest, BadTokens) {
  auto fails = [&](const std::string &name, const std::string &bytes,
                   const std::vector<std::string> &parts) {
    std::string file = folder.write(name, bytes);
    std::vector<std::string> all = parts;
    all.push_back(name);
    CommandResult r = runFour(weights() + " --tokens " + file);
    expectFailure(r, 1, all);
    // One message, though every rank reads the file.
    EXPECT_EQ(r.err.find(name), r.err.rfind(name)) << r.err;
  };
  fails("a.txt", "1 2 3", {"holds 3 tokens", "2 x 6 = 12 (or 13"});
  fails("b.txt", "1 2 3 4 5 11 7 8 9 10 0 3",
        {"token 5 is 11, outside the vocabulary of 11"});
  fails("c.txt", "1 2 3 4 5 -1 7 8 9 10 0 3", {"token 5 is -1"});
  fails("d.txt", "1 2 3\n4 x5 6", {"line 2: ", "x5", "is no token id"});
  fails("e.npy", "1 2 3", {"is no .npy file"});
  fails("f.safetensors",
        safetensors(R"({"t":{"dtype":"I32","shape":[1],)"
                    R"("data_offsets":[0,4]}})",
                    "1234"),
        {"has no tensor 'tokens'"});
  expectFailure(runFour(weights() + " --tokens " + folder.file("none")), 1,
                {"cannot open", "none", "No such file"});
}

TEST_F(ProgramTest, BadWeights) {
  std::string tokens = " --tokens " + tokensFile();
  auto in = [&](const std::string &name) {
    return " --weights " + folder.file(name) + tokens;
  };
  writeWeights("a.safetensors", "model.q", "[11,4]", 44);
  expectFailure(runFour(in("a.safetensors")), 1,
                {"has no tensor 'model.w'", "the nearest is 'model.q'"});
  writeWeights("b.safetensors", "model.w", "[10,4]", 40);
  CommandResult r = runFour(in("b.safetensors"));
  expectFailure(r, 1,
                {"b.safetensors", "tensor 'model.w': expected shape "
                                  "[11,4], got [10,4]"});
  EXPECT_EQ(r.err.find("expected shape"), r.err.rfind("expected shape"));
  expectFailure(runFour(in("nowhere")), 1, {"nowhere' does not exist"});
  writeWeights("c.safetensors", "model.w", "[11,4]", 44);
  std::filesystem::resize_file(folder.file("c.safetensors"), 500);
  expectFailure(runFour(in("c.safetensors")), 1, {"truncated"});
}

TEST_F(ProgramTest, RankThatIsKilled) {
  CommandResult r = runFour(args(), "TESSERA_FAKE=killed");
  expectFailure(r, 137, {"rank 2 was ended by signal 9 (Killed)"});
  EXPECT_LT(r.seconds, 15);
}

TEST_F(ProgramTest, RankThatExits) {
  expectFailure(runFour(args(), "TESSERA_FAKE=exits"), 7,
                {"rank 1 ended with exit code 7"});
}

TEST_F(ProgramTest, DifferentCollectives) {
  CommandResult r = runFour(args(), "TESSERA_FAKE=mismatch");
  expectFailure(r, 1,
                {"ranks differ in call 1 on communicator [tp]",
                 "rank 2 calls ncclAllReduce(count 6, f32, sum)",
                 "rank 3 calls ncclReduceScatter(count 3, f32, sum)"});
  EXPECT_EQ(r.err.find("ranks differ"), r.err.rfind("ranks differ")) << r.err;
}

TEST_F(ProgramTest, CollectivesThatWereNotCompiled) {
  expectFailure(runFour(args(), "TESSERA_FAKE=extra"), 1,
                {"collectives differ from the compiled program",
                 "expected 1 calls of all_reduce of 2 f32 on communicator 1 "
                 "[dp], counted 2"});
}

TEST_F(ProgramTest, OutputsThatDiffer) {
  expectFailure(runFour(args(), "TESSERA_FAKE=differs"), 1,
                {"output 'loss' differs between rank 0 and rank 1"});
}

TEST_F(ProgramTest, UnknownKernel) {
  expectFailure(runCommand("TESSERA_FAKE=kernel " + one + args()), 1,
                {"binary 'fake' has no kernel number 5"});
}

TEST_F(ProgramTest, LauncherPassesSignalsOn) {
  CommandResult r =
      runCommand("TESSERA_FAKE=slow " + launch + " 4 " + four + args() +
                 " & p=$!; sleep 1; kill -TERM $p; "
                 "wait $p; echo code $?");
  EXPECT_TRUE(has(r.out, "code 143")) << r.out << r.err;
  EXPECT_LT(r.seconds, 15);
}

TEST_F(ProgramTest, LauncherMistakes) {
  expectFailure(runCommand(launch + " 0 " + four), 2, {"cannot start 0 ranks"});
  expectFailure(runCommand(launch + " 2"), 2, {"no executable"});
  expectFailure(runCommand(launch + " 2 " + folder.file("gone")), 1,
                {"cannot run", "gone", "No such file"});
}

TEST_F(ProgramTest, LauncherPrefixesOtherRanks) {
  CommandResult r =
      runCommand(launch + " 3 sh -c \"echo line of \\$TESSERA_RANK\"");
  EXPECT_EQ(r.code, 0);
  EXPECT_TRUE(has(r.out, "[1] line of 1\n")) << r.out;
  EXPECT_TRUE(has(r.out, "[2] line of 2\n")) << r.out;
  EXPECT_FALSE(has(r.out, "[0]")) << r.out;
}

TEST_F(ProgramTest, UnderMpirun) {
  if (runCommand("command -v mpirun").code != 0)
    GTEST_SKIP() << "no mpirun here";
  std::string mpirun = "mpirun --allow-run-as-root --oversubscribe -n ";
  CommandResult r = runCommand(mpirun + "4 " + four + args());
  EXPECT_EQ(r.code, 0) << r.err;
  EXPECT_NEAR(lossOf(r), meanLoss(stream, {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0}),
              1e-5);
  r = runCommand(mpirun + "3 " + four + args());
  EXPECT_NE(r.code, 0);
  EXPECT_TRUE(has(r.err, "mpirun started 3")) << r.err;
}

// torchrun's variables, set by hand; nobody but the ranks sees a death.
TEST_F(ProgramTest, UnderTorchrunDeathIsNoticedByPeers) {
  std::string start =
      "for r in 0 1 2 3; do RANK=$r LOCAL_RANK=$r WORLD_SIZE=4 "
      "LOCAL_WORLD_SIZE=4 MASTER_ADDR=localhost MASTER_PORT=" +
      std::to_string(20000 + getpid() % 10000) + " " + four + args() +
      " & done; for r in 1 2 3 4; do wait %$r; echo code $?; done";
  CommandResult r = runCommand("set -m; " + start);
  EXPECT_TRUE(has(r.out, "loss ")) << r.out << r.err;
  r = runCommand("set -m; export TESSERA_FAKE=killed; " + start);
  EXPECT_TRUE(has(r.err, "rank 2 (process ")) << r.out << r.err;
  EXPECT_EQ(r.err.find("ended without a word"),
            r.err.rfind("ended without a word"))
      << r.err;
  EXPECT_TRUE(has(r.out, "code 3")) << r.out;
  EXPECT_FALSE(has(r.out, "code 0")) << r.out;
  EXPECT_LT(r.seconds, 15);
}

TEST_F(ProgramTest, NeedsOnlyTheSystemsLibraries) {
  CommandResult r = runCommand("ldd " + four);
  std::istringstream lines(r.out);
  for (std::string line; std::getline(lines, line);) {
    bool known = false;
    for (const char *name : {"linux-vdso", "libc.so", "libm.so", "ld-linux",
                             "libpthread", "libdl"})
      known |= has(line, name);
    EXPECT_TRUE(known) << line;
  }
}
