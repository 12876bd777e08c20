//===- RunScale.cpp - `tessera scale` -------------------------------------===//
#include "tessera/Planning/ScalingLaws.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Svg.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <cmath>

namespace tessera::scaling {

static void printJson(const Budget &budget, llvm::ArrayRef<Recommendation> rows,
                      const SvgPlot *plot, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, 2);
  json.object([&] {
    json.attribute("flops", budget.flops);
    json.attribute("inference_tokens", budget.inferenceTokens);
    json.attributeArray("recommendations", [&] {
      for (const Recommendation &row : rows)
        json.object([&] {
          json.attribute("law", row.law);
          json.attribute("source", row.source);
          json.attribute("parameters", row.parameters);
          json.attribute("tokens", row.tokens);
          if (row.loss)
            json.attribute("loss", *row.loss);
          json.attribute("training_flops", row.trainingFlops);
          json.attribute("lifetime_flops", row.lifetimeFlops);
        });
    });
    if (plot) {
      std::string svg;
      llvm::raw_string_ostream text(svg);
      plot->write(text);
      json.attributeObject("figures", [&] { json.attribute("loss", svg); });
    }
  });
  os << '\n';
}

/// Loss against model size at the budget's compute, one curve per fit, the
/// recommendations as points on it.
static SvgPlot plotOf(const Budget &budget,
                      llvm::ArrayRef<Recommendation> rows) {
  SvgPlot plot;
  plot.title = "Predicted loss at " +
               llvm::formatv("{0:e2}", budget.flops).str() + " FLOPs";
  plot.x = {"parameters", /*log=*/true};
  plot.y = {"loss (nats per token)", /*log=*/false};
  double low = INFINITY, high = 0;
  for (const Recommendation &row : rows) {
    low = std::min(low, row.parameters / 4);
    high = std::max(high, row.parameters * 4);
  }
  auto curve = [&](llvm::StringRef name, auto loss) {
    SvgPlot::Series series;
    series.name = name.str();
    for (int i = 0; i <= 80; ++i) {
      double n = low * std::pow(high / low, i / 80.0);
      series.points.push_back({n, loss(n, budget.flops / (6 * n))});
    }
    plot.series.push_back(series);
  };
  curve("Hoffmann et al. 2022",
        [](double n, double d) { return hoffmannLoss().loss(n, d); });
  curve("Besiroglu et al. 2024",
        [](double n, double d) { return besirogluLoss().loss(n, d); });
  curve("Kaplan et al. 2020", kaplanLoss);
  SvgPlot::Series points, others;
  points.name = "recommended, at the law's loss";
  others.name = "recommended, on Hoffmann's curve";
  points.markers = others.markers = true;
  for (const Recommendation &row : rows)
    // Laws that predict no loss of their own.
    if (row.loss)
      points.points.push_back({row.parameters, *row.loss, row.law});
    else
      others.points.push_back({row.parameters,
                               hoffmannLoss().loss(row.parameters, row.tokens),
                               row.law});
  plot.series.push_back(points);
  if (!others.points.empty())
    plot.series.push_back(others);
  return plot;
}

llvm::Error runScale(const ScaleOptions &options, llvm::raw_ostream &os) {
  llvm::Expected<std::vector<Recommendation>> rows = recommend(options.budget);
  if (!rows)
    return rows.takeError();
  if (options.details && !options.json)
    return makeError("--details adds to --json; give both");
  if (!options.plot.empty()) {
    SvgPlot plot = plotOf(options.budget, *rows);
    if (llvm::Error error = writeFileAtomically(
            options.plot, [&](llvm::raw_ostream &file) { plot.write(file); }))
      return error;
  }
  if (options.json) {
    SvgPlot plot = plotOf(options.budget, *rows);
    plot.background = false;
    printJson(options.budget, *rows, options.details ? &plot : nullptr, os);
    return llvm::Error::success();
  }
  const bool inference = options.budget.inferenceTokens > 0;
  std::string budget =
      llvm::formatv("compute budget: {0:e3} FLOPs", options.budget.flops);
  if (inference)
    budget +=
        ", serving " + formatCount(options.budget.inferenceTokens) + " tokens";
  if (!options.budgetFrom.empty())
    budget += " (" + options.budgetFrom + ")";
  printWrapped(os, budget);
  os << "\n";
  TextTable table;
  table.column("law", TextTable::Align::Left, /*mayShrink=*/false)
      .column("params")
      .column("tokens")
      .column("tokens/\nparam")
      .column("loss");
  if (inference)
    table.column("training\nFLOPs").column("lifetime\nFLOPs");
  table.column("source", TextTable::Align::Left, /*mayShrink=*/false);
  for (const Recommendation &row : *rows) {
    std::vector<std::string> cells{
        row.law, formatCount(row.parameters), formatCount(row.tokens),
        formatNumber(row.tokens / row.parameters, 1),
        row.loss ? formatNumber(*row.loss, 3) : std::string("-")};
    if (inference) {
      cells.push_back(llvm::formatv("{0:e2}", row.trainingFlops).str());
      cells.push_back(llvm::formatv("{0:e2}", row.lifetimeFlops).str());
    }
    cells.push_back(row.source);
    table.row(cells);
  }
  table.print(os);
  os << "\n";
  printWrapped(os, "losses are each paper's own fit on its own data: compare "
                   "within a row's law, not between laws");
  return llvm::Error::success();
}

} // namespace tessera::scaling
