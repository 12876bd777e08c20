//===- CheckpointTest.cpp - safetensors files, good and bad ---------------===//
//
// Every defect that the format's description forbids is written by hand and
// must be named; random damage must never crash the reader nor let it hand out
// bytes outside the file.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Checkpoint.h"
#include "TestFiles.h"
#include "gtest/gtest.h"
#include <numeric>
#include <random>

using namespace tessera::rt;
using namespace tessera::test;

namespace {
struct CheckpointTest : ::testing::Test {
  TempFolder folder;

  /// The message with which reading these bytes fails; "" if it succeeds.
  std::string messageOf(const std::string &bytes) {
    auto tensors = readSafetensors(folder.write("t.safetensors", bytes));
    return tensors ? "" : tensors.message();
  }
  void expectFailure(const std::string &header, const std::string &data,
                     const std::string &part) {
    std::string message = messageOf(safetensors(header, data));
    EXPECT_NE(message.find(part), std::string::npos)
        << "wanted '" << part << "', got '" << message << "'";
    EXPECT_NE(message.find("t.safetensors"), std::string::npos) << message;
  }
};

const char *twoTensors =
    R"({"__metadata__":{"format":"pt"},)"
    R"("b":{"dtype":"BF16","shape":[3],"data_offsets":[16,22]},)"
    R"("a":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";
} // namespace

TEST_F(CheckpointTest, ReadsWhatWasWritten) {
  std::string data = bytesOf(std::vector<float>{1, 2, 3, 4}) +
                     bytesOf(std::vector<uint16_t>{0x3f80, 0x4000, 0xc000});
  auto tensors = readSafetensors(
      folder.write("t.safetensors", safetensors(twoTensors, data)));
  ASSERT_TRUE(tensors) << tensors.message();
  ASSERT_EQ(tensors->size(), 2u);
  EXPECT_EQ((*tensors)[0].name, "a");
  EXPECT_EQ((*tensors)[0].describe(), "F32[2,2]");
  EXPECT_EQ((*tensors)[1].dtype, DType::BF16);
  EXPECT_EQ(std::string((*tensors)[0].data, 22), data);
}

TEST_F(CheckpointTest, EmptyTensorsAndScalars) {
  auto tensors = readSafetensors(folder.write(
      "t.safetensors",
      safetensors(R"({"e":{"dtype":"F32","shape":[0,4],"data_offsets":[0,0]},)"
                  R"("s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                  bytesOf(std::vector<float>{5}))));
  ASSERT_TRUE(tensors) << tensors.message();
  EXPECT_EQ(tensors->size(), 2u);
}

TEST_F(CheckpointTest, MissingFile) {
  auto tensors = readSafetensors(folder.file("none.safetensors"));
  ASSERT_FALSE(tensors);
  EXPECT_NE(tensors.message().find("none.safetensors"), std::string::npos);
  EXPECT_NE(tensors.message().find("No such file"), std::string::npos);
}

TEST_F(CheckpointTest, NamesEveryDefect) {
  EXPECT_NE(messageOf("abc").find("it has 3 bytes"), std::string::npos);
  EXPECT_NE(messageOf("").find("it has 0 bytes"), std::string::npos);
  EXPECT_NE(messageOf(std::string(8, '\xff') + "{}").find("limit"),
            std::string::npos);
  EXPECT_NE(messageOf(std::string("\x40\0\0\0\0\0\0\0{}", 10))
                .find("header needs 64 bytes but the file ends after 2"),
            std::string::npos);
  expectFailure("", "", "not a JSON object");
  expectFailure("[]", "", "not a JSON object");
  expectFailure("{\"a\":", "", "not valid JSON");
  expectFailure("{\"a\":1}", "", "tensor 'a': expected an object");
  expectFailure(R"({"a":{"shape":[],"data_offsets":[0,4]}})", "1234",
                "tensor 'a': has no 'dtype'");
  expectFailure(R"({"a":{"dtype":"F32","data_offsets":[0,4]}})", "1234",
                "has no 'shape'");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1]}})", "1234",
                "has no 'data_offsets'");
  expectFailure(R"({"a":{"dtype":7,"shape":[1],"data_offsets":[0,4]}})", "1234",
                "'dtype' is no string");
  expectFailure(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})",
                "1234", "no size");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,4]}})",
                "1234", "no size");
  expectFailure(R"({"a":{"dtype":"F32","shape":[4294967296,4294967296,16],)"
                R"("data_offsets":[0,4]}})",
                "1234", "more elements than memory");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,0]}})",
                "1234", "run backwards");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[-4,0]}})",
                "1234", "non-negative");
  expectFailure(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
                "1234", "truncated");
  expectFailure(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,4]}})",
                "1234", "F32[2] needs 8 bytes, data_offsets give 4");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"F32","shape":[1],"data_offsets":[2,6]}})",
                "123456", "tensor 'b': its data overlaps tensor 'a'");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("b":{"dtype":"F32","shape":[1],"data_offsets":[6,10]}})",
                "1234567890", "bytes 4 to 6 before it belong to no tensor");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                "12345", "describes 4 bytes of data, the file holds 5");
  expectFailure(R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                "12345678", "tensor 'a' occurs twice");
}

TEST_F(CheckpointTest, UnknownTypesAreListedButNotRead) {
  std::string path = folder.write(
      "t.safetensors",
      safetensors(R"({"a":{"dtype":"F4","shape":[8],"data_offsets":[0,4]}})",
                  "1234"));
  auto tensors = readSafetensors(path);
  ASSERT_TRUE(tensors) << tensors.message();
  EXPECT_FALSE((*tensors)[0].dtype);
  Status s = checkSlice((*tensors)[0], {{8}, {0}, {8}, {}}, DType::F32);
  EXPECT_NE(s.message().find("has type F4"), std::string::npos) << s.message();
}

TEST_F(CheckpointTest, EveryTruncationFails) {
  std::string whole = safetensors(twoTensors, std::string(22, 'x'));
  ASSERT_EQ(messageOf(whole), "");
  for (size_t n = 0; n < whole.size(); ++n)
    EXPECT_NE(messageOf(whole.substr(0, n)), "") << n;
}

TEST_F(CheckpointTest, RandomDamageIsSafe) {
  const std::string whole = safetensors(twoTensors, std::string(22, 'x'));
  std::mt19937 rng(1);
  int rejected = 0;
  for (int round = 0; round < 1000; ++round) {
    std::string bytes = whole;
    for (int k = rng() % 4; k >= 0; --k)
      bytes[rng() % bytes.size()] = static_cast<char>(rng());
    if (rng() % 4 == 0)
      bytes.insert(rng() % bytes.size(), 1, static_cast<char>(rng()));
    if (rng() % 4 == 0)
      bytes.erase(rng() % bytes.size(), rng() % 9);
    auto tensors = readSafetensors(folder.write("f.safetensors", bytes));
    if (!tensors) {
      ++rejected;
      EXPECT_NE(tensors.message(), "");
      continue;
    }
    for (const TensorInfo &t : *tensors) {
      ASSERT_GE(t.data, t.file->data());
      ASSERT_LE(t.data + t.bytes, t.file->data() + t.file->size());
      if (t.dtype) {
        uint64_t count = 1;
        for (int64_t d : t.shape)
          count *= uint64_t(d);
        ASSERT_EQ(t.bytes, count * sizeOf(*t.dtype));
      }
    }
  }
  EXPECT_GT(rejected, 100);
}

TEST_F(CheckpointTest, ShardedWithIndex) {
  auto one = [&](const char *file, const char *name, float value) {
    folder.write(file, safetensors(std::string("{\"") + name +
                                       R"(":{"dtype":"F32","shape":[1],)"
                                       R"("data_offsets":[0,4]}})",
                                   bytesOf(std::vector<float>{value})));
  };
  one("model-00001-of-00002.safetensors", "x", 3);
  one("model-00002-of-00002.safetensors", "y", 4);
  std::string index = R"({"metadata":{"total_size":8},"weight_map":{)"
                      R"("x":"model-00001-of-00002.safetensors",)"
                      R"("y":"model-00002-of-00002.safetensors"}})";
  folder.write("model.safetensors.index.json", index);
  auto checkpoint = Checkpoint::open(folder.path);
  ASSERT_TRUE(checkpoint) << checkpoint.message();
  ASSERT_TRUE(checkpoint->find("y"));
  float y = 0;
  Status s =
      readSlice(*checkpoint->find("y"), {{1}, {0}, {1}, {}}, DType::F32, &y);
  EXPECT_EQ(s.message(), "");
  EXPECT_EQ(y, 4);
  EXPECT_EQ(checkpoint->find("z"), nullptr);

  auto messageWith = [&](const std::string &text) {
    folder.write("model.safetensors.index.json", text);
    auto bad = Checkpoint::open(folder.path);
    return bad ? std::string() : bad.message();
  };
  EXPECT_NE(messageWith("{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(messageWith("{}").find("no object 'weight_map'"),
            std::string::npos);
  EXPECT_NE(messageWith(R"({"weight_map":{"x":3}})").find("'x'"),
            std::string::npos);
  EXPECT_NE(messageWith(R"({"weight_map":{"x":"../up.safetensors"}})")
                .find("beside the index"),
            std::string::npos);
  EXPECT_NE(messageWith(R"({"weight_map":{"x":"gone.safetensors"}})")
                .find("gone.safetensors"),
            std::string::npos);
  EXPECT_NE(
      messageWith(R"({"weight_map":{"q":"model-00001-of-00002.safetensors"}})")
          .find("holds tensor 'q', but it does not"),
      std::string::npos);
}

TEST_F(CheckpointTest, FoldersWithoutACheckpoint) {
  auto message = [&](const std::string &path) {
    auto c = Checkpoint::open(path);
    return c ? std::string() : c.message();
  };
  EXPECT_NE(message(folder.file("nowhere")).find("does not exist"),
            std::string::npos);
  EXPECT_NE(message(folder.path).find("expected model.safetensors"),
            std::string::npos);
  folder.write("pytorch_model.bin", "x");
  EXPECT_NE(message(folder.path).find("safe_serialization"), std::string::npos);
  std::string empty = safetensors("{}", "");
  folder.write("a.safetensors", empty);
  EXPECT_EQ(message(folder.path), "");
  folder.write("b.safetensors", empty);
  EXPECT_NE(message(folder.path).find("holds 2 safetensors files"),
            std::string::npos);
}

TEST_F(CheckpointTest, SuggestsTheNearestName) {
  folder.write("model.safetensors",
               safetensors(R"({"model.layers.0.mlp.up_proj.weight":)"
                           R"({"dtype":"F32","shape":[1],)"
                           R"("data_offsets":[0,4]}})",
                           "1234"));
  auto checkpoint = Checkpoint::open(folder.path);
  ASSERT_TRUE(checkpoint) << checkpoint.message();
  EXPECT_EQ(checkpoint->nearest("layers.0.mlp.up_proj.weight"),
            "model.layers.0.mlp.up_proj.weight");
  EXPECT_EQ(checkpoint->nearest("q"), "");
}
