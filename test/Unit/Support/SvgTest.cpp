//===- SvgTest.cpp - charts say what they are given -----------------------===//
#include "tessera/Support/Svg.h"
#include "gtest/gtest.h"
#include <cmath>
#include <regex>

using namespace llvm;
using namespace tessera;

template <typename Chart>
static std::string draw(const Chart &chart) {
  std::string text;
  raw_string_ostream os(text);
  chart.write(os);
  EXPECT_TRUE(StringRef(text).starts_with("<svg "));
  EXPECT_TRUE(StringRef(text).ends_with("</svg>\n"));
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf'"), std::string::npos);
  return text;
}

/// All numbers that the first group of `pattern` finds.
static std::vector<double> valuesOf(const std::string &text,
                                    const std::string &pattern) {
  std::vector<double> out;
  std::regex regex(pattern);
  for (auto it = std::sregex_iterator(text.begin(), text.end(), regex);
       it != std::sregex_iterator(); ++it)
    out.push_back(std::stod((*it)[1]));
  return out;
}

TEST(Svg, EscapesAndReplaces) {
  EXPECT_EQ(escapeXml("a<b>&\"'"), "a&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(escapeXml("caf\xC3\xA9\n"), "caf\xC3\xA9\n");
  const std::string replaced = "\xEF\xBF\xBD";
  EXPECT_EQ(escapeXml(StringRef("\0\x1b", 2)), replaced + replaced);
  EXPECT_EQ(escapeXml("\xC3"), replaced); // cut short
  EXPECT_EQ(escapeXml("\xff"), replaced); // never legal
  EXPECT_EQ(escapeXml("\xEF\xBF\xBF"), replaced + replaced + replaced);
}

static SvgBars twoBars() {
  SvgBars chart;
  chart.kinds = {{"used", "#112233"}, {"kept", "#445566"}, {"none", "#778899"}};
  chart.bars = {{"a", {10, 30, 0}, "40"}, {"<b>", {20, 0, 0}, "20"}};
  return chart;
}

TEST(SvgBars, LengthsAreInProportion) {
  std::string text = draw(twoBars());
  // The legend's square comes first; neighbours are a hair apart.
  std::vector<double> used =
      valuesOf(text, "width='([0-9.]+)' height='[0-9.]+' fill='#112233'");
  std::vector<double> kept =
      valuesOf(text, "width='([0-9.]+)' height='[0-9.]+' fill='#445566'");
  ASSERT_EQ(used.size(), 3u);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_NEAR((kept[1] + 0.75) / (used[1] + 0.75), 3.0, 0.01);
  EXPECT_NEAR((used[2] + 0.75) / (used[1] + 0.75), 2.0, 0.01);
  // What no bar has is not in the legend; labels are escaped.
  EXPECT_EQ(text.find("#778899"), std::string::npos);
  EXPECT_NE(text.find("&lt;b&gt;"), std::string::npos);
}

TEST(SvgBars, LimitLiesWhereABarOfThatLengthEnds) {
  SvgBars chart = twoBars();
  chart.limit = SvgBars::Limit{40, "limit"};
  std::string text = draw(chart);
  std::vector<double> start =
      valuesOf(text, "<rect x='([0-9.]+)' y='[0-9.]+' width='[0-9.]+' "
                     "height='[0-9.]+' fill='#445566'");
  std::vector<double> width =
      valuesOf(text, "width='([0-9.]+)' height='[0-9.]+' fill='#445566'");
  std::vector<double> line = valuesOf(
      text, "<path d='M([0-9.]+) [^']*' fill='none' stroke='currentColor' "
            "opacity='0.9'");
  ASSERT_EQ(line.size(), 1u);
  EXPECT_NEAR(line[0], start[1] + width[1] + 0.75, 0.05);
}

TEST(SvgPlot, LeavesOutWhatCannotBeDrawn) {
  SvgPlot plot;
  plot.x.log = true;
  SvgPlot::Series series;
  series.markers = true;
  series.points = {{1, 1, "", 4, ""},
                   {10, 2, "", 4, ""},
                   {0, 1, "", 4, ""},
                   {5, std::nan(""), "", 4, ""},
                   {INFINITY, 1, "", 4, ""}};
  plot.series = {series};
  EXPECT_EQ(valuesOf(draw(plot), "<circle cx='([0-9.]+)'").size(), 2u);
  draw(SvgPlot()); // nothing at all is a legal plot too
}

TEST(SvgPlot, LabelsDoNotCoverEachOther) {
  SvgPlot plot;
  SvgPlot::Series series;
  series.markers = true;
  for (int i = 0; i < 12; ++i)
    series.points.push_back({1 + i * 1e-6, 1, "crowded", 4, ""});
  series.points.push_back({2, 2, "free", 4, ""});
  plot.series = {series};
  std::string text = draw(plot);
  std::regex label("<text x='([0-9.]+)' y='([0-9.]+)'[^>]*>crowded<");
  std::vector<std::pair<double, double>> at;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), label);
       it != std::sregex_iterator(); ++it)
    at.push_back({std::stod((*it)[1]), std::stod((*it)[2])});
  EXPECT_GE(at.size(), 8u);
  for (size_t i = 0; i < at.size(); ++i)
    for (size_t j = 0; j < i; ++j)
      EXPECT_TRUE(std::abs(at[i].first - at[j].first) > 35 ||
                  std::abs(at[i].second - at[j].second) > 10);
  EXPECT_NE(text.find(">free<"), std::string::npos);
}

static SvgLanes lanes() {
  SvgLanes chart;
  chart.lanes = {"one", "two"};
  chart.kinds = {{"work", "#112233"}, {"rest", "#445566"}};
  chart.boxes = {{0, 0, 0, 10, ""}, {1, 0, 10, 40, ""}, {0, 1, 40, 100, "7"}};
  return chart;
}

TEST(SvgLanes, BoxesLieInTimeAndLane) {
  std::string text = draw(lanes());
  std::vector<double> work =
      valuesOf(text, "stroke='#112233'[^>]*d='M[0-9.]+ [0-9.]+h([0-9.]+)M");
  std::vector<double> rest =
      valuesOf(text, "stroke='#445566'[^>]*d='M[0-9.]+ [0-9.]+h([0-9.]+)'");
  ASSERT_EQ(work.size(), 1u);
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_NEAR((rest[0] + 0.6) / (work[0] + 0.6), 6.0, 0.01);
  EXPECT_NE(text.find(">7<"), std::string::npos);
}

TEST(SvgLanes, ACutTakesTimeOut) {
  SvgLanes chart = lanes();
  chart.boxes.push_back({1, 0, 50, 60, ""});
  chart.cut = SvgLanes::Cut{45, 95, "cut here"};
  std::string text = draw(chart);
  // Of 100 only 50 are drawn, so the first box is about twice as wide as
  // before; the one inside the cut is not drawn.
  double before = valuesOf(
      draw(lanes()), "stroke='#112233'[^>]*d='M[0-9.]+ [0-9.]+h([0-9.]+)M")[0];
  std::vector<double> work =
      valuesOf(text, "stroke='#112233'[^>]*d='M[0-9.]+ [0-9.]+h([0-9.]+)M");
  ASSERT_EQ(work.size(), 1u);
  EXPECT_NEAR(work[0] / before, 2.0, 0.1);
  std::string all = text.substr(text.find("stroke='#112233'"));
  all = all.substr(0, all.find("'", all.find(" d='") + 4));
  EXPECT_EQ(std::count(all.begin(), all.end(), 'M'), 2);
  EXPECT_NE(text.find(">cut here<"), std::string::npos);
}
