//===- HtmlTest.cpp - pages escape what they are given --------------------===//
#include "lib/Planning/Page/Html.h"
#include "lib/Planning/Page/Words.h"
#include "tessera/Forecast/GraphSource.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace tessera;

TEST(Html, NothingFromOutsideBecomesMarkup) {
  std::string text;
  raw_string_ostream os(text);
  const std::string evil = "<img src=x onerror='a'>\"&";
  {
    HtmlPage page(os, evil);
    page.heading(evil, evil);
    page.section(evil);
    page.lead({{HtmlPage::Piece::Code, evil},
               {HtmlPage::Piece::Strong, {evil, evil, 1.5}}});
    page.cards({{evil, evil, evil}});
    page.table({{evil, HtmlPage::Column::Code}}, {{evil}});
    page.figure("<svg></svg>", evil);
    page.list({evil});
    page.command(evil, evil);
    page.sentence(evil);
    page.note(evil);
  }
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(text.find("onerror='"), std::string::npos);
  EXPECT_NE(text.find("&lt;img src=x onerror=&#39;a&#39;&gt;&quot;&amp;"),
            std::string::npos);
  EXPECT_NE(text.find("data-value=\"1.5\""), std::string::npos);
  // Sections are closed, the page is whole.
  EXPECT_NE(text.find("</section>\n<footer>"), std::string::npos);
  EXPECT_TRUE(StringRef(text).ends_with("</html>\n"));
}

TEST(Html, ExactValuesSurvive) {
  std::string text;
  raw_string_ostream os(text);
  {
    HtmlPage page(os, "t");
    page.lead({{HtmlPage::Piece::Plain, {"0.1", "a.b", 0.1}}});
  }
  size_t at = text.find("data-value=\"") + 12;
  EXPECT_EQ(std::stod(text.substr(at)), 0.1);
}

TEST(Words, CommandsQuoteTheModel) {
  PlanInput in;
  in.model = "llama-7b";
  in.cluster = "h100-sxm:1x8";
  in.features = makeGraphSource;
  PlanSession session = cantFail(makeSession(in));
  Layout layout = cantFail(parseLayout("dp=4,tp=2,mb=1,sp"));
  auto lines = exportCommandLines(session, layout);
  ASSERT_FALSE(lines.empty());
  EXPECT_TRUE(StringRef(lines.front().second)
                  .starts_with("tessera export --to megatron --model llama-7b "
                               "--cluster h100-sxm:1x8 --global-batch "));
  session.modelText = "my model's";
  for (auto &[title, line] : exportCommandLines(session, layout)) {
    EXPECT_NE(line.find(" --model 'my model'\\''s' "), std::string::npos);
    EXPECT_NE(line.find("--layout \"dp=4 tp=2 mb=1 sp\""), std::string::npos);
  }
}

TEST(Words, NameEveryChoice) {
  Layout l = cantFail(parseLayout("dp=8,tp=2,sp,pp=2,vpp=2,mb=2,zero=1,"
                                  "recompute=full"));
  std::string text;
  for (auto &[entry, words] : layoutInWords(l))
    text += entry + ": " + words + "\n";
  EXPECT_EQ(text,
            "dp=8: 8 replicas of the model, each with its share of the batch\n"
            "zero=1: optimizer state is divided among the replicas\n"
            "tp=2: the matrices of each layer are split over 2 GPUs\n"
            "sp: between those matrices the tokens are split over the same "
            "GPUs\n"
            "pp=2: the layers are divided into 2 stages\n"
            "mb=2: 2 sequences of a replica pass at a time\n"
            "recompute=full: backward computes each layer again from its "
            "input\n"
            "vpp=2: each stage holds 2 chunks of layers that lie apart, which "
            "shortens the bubble\n");
}
