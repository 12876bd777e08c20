//===- SupportTest.cpp - units, tables, JSON, files, suggestions ----------===//
#include "tessera/Support/File.h"
#include "tessera/Support/Json.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

static std::string message(Error e) { return toString(std::move(e)); }

TEST(Units, ReadsDecimalAndBinaryBytes) {
  EXPECT_DOUBLE_EQ(cantFail(parseBytes("80GB")), 80e9);
  EXPECT_DOUBLE_EQ(cantFail(parseBytes(" 80 GiB ")), 80 * 1073741824.0);
  EXPECT_DOUBLE_EQ(cantFail(parseBytes("1e3")), 1000.0);
  EXPECT_EQ(message(parseBytes("12 parsec").takeError()),
            "expected a size like 80GB or 80GiB, got '12 parsec'; the units "
            "are B, KB, MB, GB, TB, KiB, MiB, GiB, TiB");
  EXPECT_TRUE(StringRef(message(parseBytes("lots").takeError()))
                  .contains("expected a size like 80GB or 80GiB, got 'lots'"));
  EXPECT_TRUE(
      StringRef(message(parseBytes("-1 GB").takeError())).contains("negative"));
}

TEST(Units, ReadsCountsAndDurations) {
  EXPECT_DOUBLE_EQ(cantFail(parseCount("6.7B")), 6.7e9);
  EXPECT_DOUBLE_EQ(cantFail(parseCount("1.4T")), 1.4e12);
  EXPECT_DOUBLE_EQ(cantFail(parseCount("300e9")), 300e9);
  EXPECT_DOUBLE_EQ(cantFail(parseDuration("1.5h")), 5400.0);
  EXPECT_DOUBLE_EQ(cantFail(parseDuration("20ms")), 0.02);
  EXPECT_TRUE(StringRef(message(parseDuration("3 fortnights").takeError()))
                  .contains("got '3 fortnights'; the units are s, ms"));
}

TEST(Units, MemoryNeedsItsUnit) {
  EXPECT_DOUBLE_EQ(cantFail(parseMemory("40GB")), 40e9);
  EXPECT_DOUBLE_EQ(cantFail(parseMemory("85520809984")), 85520809984.0);
  EXPECT_EQ(message(parseMemory("40").takeError()),
            "expected at least 1MB, got 40 B; did you mean 40GB?");
  EXPECT_EQ(message(parseMemory("0").takeError()),
            "expected at least 1MB, got 0 B");
}

TEST(Units, PricesKeepTheirCurrency) {
  for (auto [text, printed] : {std::pair("2.5", "4.00"),
                               {"$2.5", "$4.00"},
                               {"2.5 EUR", "4.00 EUR"},
                               {"2.5\u20ac", "4.00 \u20ac"},
                               {"USD 2.5", "USD 4.00"}}) {
    Price price = cantFail(parsePrice(text));
    EXPECT_DOUBLE_EQ(price.amount, 2.5) << text;
    EXPECT_EQ(withCurrency("4.00", price), printed);
  }
  EXPECT_TRUE(StringRef(message(parsePrice(".5").takeError()))
                  .contains("'$2.5' in single quotes"));
  for (const char *text :
       {"", "2,5", "-1", "0", "$2.5 EUR", "nan", "1e400", "2.5.1", "2.5 <b>"})
    EXPECT_FALSE(message(parsePrice(text).takeError()).empty()) << text;
}

TEST(Units, OneUnitForAColumn) {
  using Texts = std::vector<std::string>;
  EXPECT_EQ(formatDurations({24.5, 0.2483, 0.00634}),
            (Texts{"24.50 s", "0.25 s", "0.01 s"}));
  // 5.1 minutes beside 54.1 seconds.
  EXPECT_EQ(formatDurations({306.0, 54.13}), (Texts{"306.0 s", "54.1 s"}));
  EXPECT_EQ(formatDurations({5400, 60}), (Texts{"90.00 min", "1.00 min"}));
  EXPECT_EQ(formatDurations({0.002, 3e-5}), (Texts{"2.00 ms", "0.03 ms"}));
  EXPECT_EQ(formatSizes({16.8 * kGiB, 501 * kMiB}),
            (Texts{"16.8 GiB", "0.5 GiB"}));
  EXPECT_EQ(formatSizes({0, 0}), (Texts{"0 B", "0 B"}));
  EXPECT_EQ(formatDecimalSizes({1043.2e9, 1.34e9}),
            (Texts{"1043.2 GB", "1.3 GB"}));
}

TEST(Units, PrintsWithThreeDigits) {
  EXPECT_EQ(formatBytes(71.3 * kGiB), "71.3 GiB");
  EXPECT_EQ(formatBytes(512), "512 B");
  EXPECT_EQ(formatCount(46.7e9), "46.7B");
  EXPECT_EQ(formatDuration(0.0034), "3.40 ms");
  EXPECT_EQ(formatDuration(1.284), "1.28 s");
  EXPECT_EQ(formatDuration(3 * 86400), "3.0 days");
  EXPECT_EQ(formatPercent(0.434), "43.4 %");
}

TEST(Table, ShortensTextNotNumbers) {
  TextTable t;
  t.column("name", TextTable::Align::Left).column("value");
  t.row({"a-rather-long-name-that-does-not-fit", "12345"});
  t.row({"b"});
  std::string out;
  raw_string_ostream os(out);
  t.print(os, 24);
  EXPECT_EQ(out, "name               value\n"
                 "------------------------\n"
                 "a-rather-long-n..  12345\n"
                 "b\n");
}

TEST(Table, KeepsNumbersWhenNothingCanShrink) {
  TextTable t;
  t.column("first").column("second");
  t.row({"1234567890", "1234567890"});
  std::string out;
  raw_string_ostream os(out);
  t.print(os, 10);
  EXPECT_NE(out.find("1234567890  1234567890"), std::string::npos);
}

TEST(Wrap, BreaksAtBlanksAndHangs) {
  EXPECT_EQ(wrapText("one two three", 7),
            (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrapText("", 7), std::vector<std::string>{""});
  std::string out, text;
  for (int i = 0; i < 60; ++i)
    text += (i ? " word" : "word") + std::to_string(i);
  raw_string_ostream os(out);
  printWrapped(os, text, 4);
  SmallVector<StringRef> lines;
  StringRef(out).rtrim().split(lines, '\n');
  ASSERT_GT(lines.size(), 4u);
  std::string joined;
  for (size_t i = 0; i < lines.size(); ++i) {
    EXPECT_LE(lines[i].size(), textWidth());
    EXPECT_EQ(lines[i].starts_with("    "), i > 0);
    joined += (i ? " " : "") + lines[i].trim().str();
  }
  EXPECT_EQ(joined, text);
}

TEST(Wrap, CommandsGoOnWithABackslash) {
  std::string out;
  raw_string_ostream os(out);
  std::string layout(60, 'x');
  printCommand(os,
               "tessera export --to megatron --model 'a b' --layout \"" +
                   layout + " sp\" -o train.sh",
               4);
  EXPECT_EQ(out, "    tessera export --to megatron --model 'a b' \\\n"
                 "      --layout \"" +
                     layout + " sp\" -o train.sh\n");
}

TEST(Suggest, NearestNameOnly) {
  EXPECT_EQ(nearestName("h100-smx", {"h100-sxm", "a100", "b200"}), "h100-sxm");
  EXPECT_EQ(didYouMean("zzzzzz", {"h100-sxm", "a100"}), "");
  EXPECT_EQ(didYouMean("A10", {"h100-sxm", "a100"}), "; did you mean 'a100'?");
}

TEST(Json, NamesFieldExpectedAndGot) {
  json::Value value = cantFail(parseJson(
      R"({"count": "three", "half": 0.5, "inner": {"layers": 1, "layer": 2}})",
      "f.json"));
  JsonObject o = cantFail(JsonObject::get(value, "f.json"));
  int64_t count = 0;
  EXPECT_EQ(message(o.read("count", count)),
            "f.json: field 'count' should be an integer, got \"three\"");
  EXPECT_EQ(message(o.read("half", count)),
            "f.json: field 'half' should be an integer, got 0.5");
  double missing = 7;
  EXPECT_FALSE(bool(o.read("absent", missing)));
  EXPECT_EQ(missing, 7);
  EXPECT_EQ(message(o.require("absent", missing)),
            "f.json: field 'absent' is missing");
  auto inner = cantFail(o.child("inner"));
  ASSERT_TRUE(inner.has_value());
  EXPECT_FALSE(bool(inner->read("layers", count)));
  EXPECT_EQ(message(inner->checkAllRead()),
            "f.json: inner: unknown field 'layer'; did you mean 'layers'?");
}

TEST(Json, SyntaxErrorsNameTheFile) {
  std::string m = message(parseJson("{", "broken.json").takeError());
  EXPECT_TRUE(StringRef(m).starts_with("broken.json: ")) << m;
}

TEST(File, WritesWholeOrNotAtAll) {
  SmallString<128> dir;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("tessera-file", dir));
  SmallString<128> path(dir);
  sys::path::append(path, "out.txt");
  cantFail(writeFileAtomically(path, [](raw_ostream &os) { os << "one"; }));
  cantFail(writeFileAtomically(path, [](raw_ostream &os) { os << "two"; }));
  EXPECT_EQ(cantFail(readFile(path)), "two");
  // Only the file itself is left behind.
  std::error_code ec;
  int files = 0;
  for (sys::fs::directory_iterator it(dir, ec), end; it != end && !ec;
       it.increment(ec))
    ++files;
  EXPECT_EQ(files, 1);
  SmallString<128> nowhere(dir);
  sys::path::append(nowhere, "missing", "out.txt");
  std::string m =
      message(writeFileAtomically(nowhere, [](raw_ostream &os) { os << "x"; }));
  EXPECT_TRUE(StringRef(m).starts_with("cannot write '")) << m;
  sys::fs::remove_directories(dir);
}

TEST(File, SaysBeforehandWhatCannotBeWritten) {
  SmallString<128> dir;
  ASSERT_FALSE(sys::fs::createUniqueDirectory("tessera-file", dir));
  std::string in = dir.str().str();
  EXPECT_FALSE(checkWritable(in + "/new.html"));
  EXPECT_FALSE(checkWritable("-"));
  EXPECT_EQ(message(checkWritable(in)),
            "cannot write '" + in + "': it is a folder");
  EXPECT_EQ(message(checkWritable(in + "/no/new.html")),
            "cannot write '" + in + "/no/new.html': no folder '" + in + "/no'");
  EXPECT_TRUE(errorToBool(checkWritable("")));
  sys::fs::remove_directories(dir);
}

TEST(Json, PrintedListsStayOnALine) {
  json::Value value = json::Object{
      {"list", json::Array{1, 2.5, "a\"b", nullptr, true}},
      {"nested", json::Array{json::Object{{"x", 0.1}}, json::Array{}}},
      {"empty", json::Object{}}};
  std::string text;
  raw_string_ostream os(text);
  printJson(value, os);
  EXPECT_NE(text.find("\"list\": [1,2.5,\"a\\\"b\",null,true]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n      \"x\": "), std::string::npos) << text;
  EXPECT_TRUE(cantFail(parseJson(text, "text")) == value);
}
