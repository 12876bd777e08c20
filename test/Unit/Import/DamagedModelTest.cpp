//===- DamagedModelTest.cpp - configs and graphs with damage everywhere ---===//
//
// A damaged config.json or graph is refused by one message that names the file,
// or is a model whose sizes can be counted with and whose graph can be built.
//
//===----------------------------------------------------------------------===//
#include "tessera/Import/Import.h"
#include "tessera/Import/ShippedModels.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Printable.h"
#include "test/Support/Mutations.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace tessera;
using namespace tessera::test;
using llvm::Expected;
using llvm::StringRef;

static Expected<ModelConfig> read(StringRef text) {
  Expected<llvm::json::Value> value = parseJson(text, "config.json");
  if (!value)
    return value.takeError();
  return parseModelConfig(*value, "config.json");
}

class Damaged : public testing::TestWithParam<const char *> {};

TEST_P(Damaged, ConfigIsRefusedOrWhole) {
  StringRef whole = findShippedModel(GetParam())->json;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<TesseraDialect>();
  int refused = 0, accepted = 0, built = 0;
  mutate(whole, [&](const Mutation &m) {
    Expected<ModelConfig> config = read(m.text);
    if (!config) {
      ++refused;
      std::string message = printableMessage(toString(config.takeError()));
      EXPECT_EQ(complaint(message, "config.json"), "")
          << m.what << ": " << message;
      return;
    }
    ++accepted;
    EXPECT_GT(config->numParameters(), 0) << m.what;
    EXPECT_GT(config->numActiveParameters(), 0) << m.what;
    EXPECT_LE(double(config->numParameters()), kMostParameters) << m.what;
    // Building costs a thousand times as much as reading.
    if (accepted % 8 != 0)
      return;
    ++built;
    ImportOptions options;
    options.sequence = 16;
    options.dtype = "bf16";
    std::string said;
    auto graph =
        buildModel(context, *config, options, "",
                   [&](const llvm::Twine &text) { said = text.str(); });
    EXPECT_TRUE(mlir::succeeded(graph) || !said.empty()) << m.what;
  });
  EXPECT_GT(refused, 100);
  EXPECT_GT(accepted, 100);
  EXPECT_GT(built, 2);
}

INSTANTIATE_TEST_SUITE_P(Families, Damaged,
                         testing::Values("llama3-8b", "gpt2", "gpt-neox-20b",
                                         "bert-large", "gopher-280b",
                                         "mixtral-8x7b", "qwen3-30b-a3b",
                                         "deepseek-v3"));

TEST(DamagedGraph, IsRefusedOrWhole) {
  ModelConfig config = llvm::cantFail(read(findShippedModel("gpt2")->json));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<TesseraDialect>();
  ImportOptions options;
  options.sequence = 16;
  options.dtype = "bf16";
  auto graph =
      buildModel(context, config, options, "", [](const llvm::Twine &) {});
  ASSERT_TRUE(mlir::succeeded(graph));
  std::string whole;
  llvm::raw_string_ostream(whole) << **graph;
  llvm::SmallString<128> path;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("graph", "mlir", path));
  int refused = 0, accepted = 0, count = 0;
  mutate(whole, [&](const Mutation &m) {
    // A prime, so that all places and kinds of damage have their turn.
    if (count++ % 11 != 0)
      return;
    llvm::cantFail(writeFileAtomically(
        path, [&](llvm::raw_ostream &os) { os << m.text; }));
    Expected<ModelConfig> read = readModelConfig(path);
    if (!read) {
      ++refused;
      std::string message = printableMessage(toString(read.takeError()));
      EXPECT_EQ(complaint(message, path), "") << m.what << ": " << message;
      return;
    }
    ++accepted;
    EXPECT_GT(read->numParameters(), 0) << m.what;
  });
  llvm::sys::fs::remove(path);
  EXPECT_GT(refused, 50);
  EXPECT_GT(accepted, 5);
}
