//===- ManifestTest.cpp - manifests, good and bad -------------------------===//
//
// One small manifest is damaged key by key; the message must name the key.
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Manifest.h"
#include "gtest/gtest.h"
#include <random>

using namespace tessera::rt;

namespace {
const std::string good = R"({
  "version": 1, "model": "M", "dtype": "bf16",
  "mesh": [{"name": "dp", "size": 2}, {"name": "tp", "size": 3}],
  "batch": 2, "sequence": 4, "vocab": 10,
  "arena_bytes": 1024, "parameter_bytes": 4096,
  "communicators": [{"axes": ["tp"]}, {"axes": ["dp", "tp"]}],
  "inputs": [{"name": "tokens", "dtype": "i32", "global_shape": [2, 4],
    "shape": [1, 4], "sharding": [["dp"], []], "offset": 0}],
  "outputs": [{"name": "loss", "dtype": "f32", "global_shape": [], "shape": [],
    "sharding": [], "offset": 1020}],
  "parameters": [{"name": "e", "checkpoint": "emb.{layer}.w",
    "layers": {"first": 2, "count": 3}, "layer_stride": 64, "dtype": "bf16",
    "global_shape": [10, 4], "shape": [4, 4], "sharding": [["tp"], []],
    "padded": true, "offset": 128, "view": null}],
  "tables": [{"name": "r", "kind": "rotary", "inv_freq": [1, 0.5],
    "attention_factor": 1, "positions": 4, "offset": 2048}],
  "collectives": [{"op": "all_reduce", "communicator": 1, "dtype": "f32",
    "count": 8, "calls": 2}],
  "kernels": ["k"]})";

std::string messageOf(const std::string &text) {
  auto manifest = parseManifest(text);
  return manifest ? "" : manifest.message();
}
/// The message after replacing `from` (once) by `to`.
std::string changed(const std::string &from, const std::string &to) {
  std::string text = good;
  size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return messageOf(text.replace(at, from.size(), to));
}
} // namespace

TEST(Manifest, ReadsAndLocates) {
  auto m = parseManifest(good);
  ASSERT_TRUE(m) << m.message();
  EXPECT_EQ(m->ranks(), 6);
  EXPECT_EQ(m->meshText(), "dp=2, tp=3");
  EXPECT_EQ(m->communicatorText(1), "[dp,tp]");
  EXPECT_EQ(m->coordinates(5), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(m->parameters[0].tensorName(1), "emb.3.w");
  SliceRequest last = m->slice(m->parameters[0], {1, 2});
  EXPECT_EQ(last.offset, (std::vector<int64_t>{8, 0}));
  EXPECT_EQ(last.size, (std::vector<int64_t>{4, 4}));
  EXPECT_EQ(m->slice(m->inputs[0], {1, 0}).offset,
            (std::vector<int64_t>{1, 0}));
}

// Two axes on one dimension: the first listed counts more.
TEST(Manifest, MajorAxisFirst) {
  Manifest m;
  m.mesh = {{"a", 2}, {"b", 3}};
  ShardedTensor t;
  t.globalShape = {12};
  t.shape = {2};
  t.sharding = {{0, 1}};
  EXPECT_EQ(m.slice(t, {1, 2}).offset[0], 10);
  t.sharding = {{1, 0}};
  EXPECT_EQ(m.slice(t, {1, 2}).offset[0], 10);
  EXPECT_EQ(m.slice(t, {1, 0}).offset[0], 2);
}

TEST(Manifest, NamesTheKey) {
  EXPECT_NE(messageOf("{").find("not valid JSON"), std::string::npos);
  EXPECT_NE(messageOf("{}").find("'version' is missing"), std::string::npos);
  struct {
    const char *from, *to, *part;
  } cases[] = {
      {"\"version\": 1", "\"version\": 2", "'version' is 2"},
      {"\"size\": 3", "\"size\": 0", "'mesh[1].size' is 0"},
      {"\"name\": \"tp\"", "\"name\": \"dp\"", "twice"},
      {"\"batch\": 2", "\"batch\": 0", "'batch' is 0"},
      {"\"vocab\": 10", "\"vocab\": \"10\"", "'vocab' is no integer"},
      {"\"arena_bytes\": 1024", "\"arena_bytes\": 10", "arena_bytes"},
      {"{\"axes\": [\"tp\"]}", "{\"axes\": [\"pp\"]}",
       "'communicators[0].axes[0]' names axis 'pp'"},
      {"\"axes\": [\"dp\", \"tp\"]", "\"axes\": [\"dp\", \"dp\"]", "twice"},
      {"\"shape\": [1, 4]", "\"shape\": [2, 4]",
       "'inputs[0]' ('tokens') has extent 2 in dimension 0, but global 2 is "
       "split in 2"},
      {"\"dtype\": \"i32\"", "\"dtype\": \"int\"",
       "'inputs[0].dtype' is 'int'"},
      {"\"name\": \"tokens\"", "\"name\": \"mask\"", "'mask'"},
      {"\"offset\": 1020", "\"offset\": 1021", "'outputs[0]' lies at 1021"},
      {"\"offset\": 1020", "\"offset\": -1", "'outputs[0].offset' is -1"},
      {"\"layer_stride\": 64", "\"layer_stride\": 31",
       "'parameters[0].layer_stride' is 31"},
      {"\"layer_stride\": 64, ", "", "'parameters[0].layer_stride' is missing"},
      {"\"layers\": {\"first\": 2, \"count\": 3}", "\"layers\": null",
       "{layer}"},
      {"\"shape\": [4, 4]", "\"shape\": [3, 4]", "'parameters[0]' ('e')"},
      {"\"padded\": true", "\"padded\": false", "'parameters[0]' ('e')"},
      {"\"offset\": 128", "\"offset\": 4000", "parameter_bytes"},
      {"\"view\": null", "\"view\": {\"dim\": 0}",
       "'parameters[0].view.reshape' is missing"},
      {"\"kind\": \"rotary\"", "\"kind\": \"alibi\"", "'tables[0].kind'"},
      {"\"positions\": 4", "\"positions\": 200", "'tables[0]' lies at 2048"},
      {"\"communicator\": 1", "\"communicator\": 2",
       "'collectives[0].communicator' is 2, there are 2"},
      {"[\"k\"]", "[7]", "'kernels[0]' is no string"},
  };
  for (const auto &c : cases) {
    std::string message = changed(c.from, c.to);
    EXPECT_NE(message.find(c.part), std::string::npos)
        << c.from << " -> " << c.to << ": " << message;
  }
}

TEST(Manifest, RandomDamageIsSafe) {
  std::mt19937 rng(5);
  int rejected = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string text = good;
    for (int k = rng() % 3; k >= 0; --k) {
      size_t at = rng() % text.size();
      if (rng() % 2)
        text[at] = char('0' + rng() % 75);
      else
        text.erase(at, rng() % 4);
    }
    rejected += !messageOf(text).empty();
  }
  EXPECT_GT(rejected, 500);
}
