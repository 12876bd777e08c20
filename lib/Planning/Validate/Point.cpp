//===- Point.cpp - reading published measurements -------------------------===//
#include "Point.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Suggest.h"
#include <cmath>

using namespace llvm;
using namespace tessera;

static constexpr StringLiteral kMetrics[] = {
    "step_time_s", "tokens_per_s_per_gpu", "tflops_per_gpu",
    "mfu_pct",     "mem_GB_per_gpu",       "gpu_hours",
    "days"};

StringRef tessera::nameOf(Metric metric) {
  return kMetrics[static_cast<int>(metric)];
}

int64_t tessera::noteNumber(StringRef notes, StringRef key) {
  size_t at = notes.find((key + "=").str());
  if (at == StringRef::npos)
    return 0;
  StringRef digits =
      notes.drop_front(at + key.size() + 1).take_while([](char c) {
        return c >= '0' && c <= '9';
      });
  int64_t v = 0;
  return digits.getAsInteger(10, v) ? 0 : v;
}

/// The text after "key=" up to the next ";".
static std::string noteText(StringRef notes, StringRef key) {
  size_t at = notes.find((key + "=").str());
  if (at == StringRef::npos)
    return "";
  return notes.drop_front(at + key.size() + 1).split(';').first.trim().str();
}

Expected<std::vector<Point>> tessera::readPoints(StringRef text,
                                                 StringRef name) {
  Expected<CsvTable> table = parseCsv(text, name);
  if (!table)
    return table.takeError();
  static constexpr StringLiteral needed[] = {
      "id",     "source", "model", "layers", "hidden",      "heads",
      "seq",    "gpu",    "dp",    "tp",     "pp",          "micro_batch",
      "n_gpus", "metric", "value", "notes",  "global_batch"};
  std::vector<StringRef> present(table->header.begin(), table->header.end());
  for (StringRef column : needed)
    if (!table->columns.count(column))
      return makeError(name + ": column '" + column + "' is missing" +
                       didYouMean(column, present));
  std::vector<Point> points;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    Point p;
    p.line = table->lines[row];
    auto at = [&](StringRef column) { return table->field(row, column); };
    auto fail = [&](StringRef column, const Twine &what) {
      return makeError(name + ":" + Twine(p.line) + ": column '" + column +
                       "': " + what);
    };
    std::pair<StringRef, std::string *> texts[] = {
        {"id", &p.id},
        {"source", &p.source},
        {"table", &p.table},
        {"model", &p.model},
        {"gpu", &p.chip},
        {"interconnect", &p.interconnect},
        {"precision", &p.precision},
        {"sequence_parallel", &p.sequenceParallel},
        {"recompute", &p.recompute},
        {"notes", &p.notes}};
    for (auto &[column, out] : texts)
      *out = at(column).trim().str();
    std::pair<StringRef, int64_t *> integers[] = {
        {"layers", &p.layers},
        {"hidden", &p.hidden},
        {"heads", &p.heads},
        {"kv_heads", &p.kvHeads},
        {"ffn_hidden", &p.ffn},
        {"vocab", &p.vocab},
        {"seq", &p.sequence},
        {"experts", &p.experts},
        {"topk", &p.topk},
        {"n_gpus", &p.gpus},
        {"gpus_per_node", &p.gpusPerNode},
        {"dp", &p.dp},
        {"tp", &p.tp},
        {"pp", &p.pp},
        {"ep", &p.ep},
        {"cp", &p.cp},
        {"zero_stage", &p.zeroStage},
        {"vpp_or_interleave", &p.vpp},
        {"micro_batch", &p.microBatch},
        {"global_batch", &p.globalBatch}};
    auto number = [&](StringRef column, double &out) -> Error {
      StringRef s = at(column).trim();
      if (!s.empty() && (s.getAsDouble(out) || !std::isfinite(out)))
        return fail(column, "expected a number, got '" + s + "'");
      return Error::success();
    };
    for (auto &[column, out] : integers) {
      double v = double(*out);
      if (Error e = number(column, v))
        return e;
      // A stage of -1 is one that the source does not state.
      double least = column == "zero_stage" ? -1 : 0;
      if (!(v >= least && v <= 1e12) || v != std::floor(v))
        return fail(column,
                    "expected a count, got '" + at(column).trim() + "'");
      *out = int64_t(v);
    }
    if (Error e = number("params_B", p.paramsB))
      return e;
    if (Error e = number("active_params_B", p.activeB))
      return e;
    StringRef metric = at("metric").trim();
    auto *found = llvm::find(kMetrics, metric);
    if (found == std::end(kMetrics))
      return fail("metric", "unknown metric '" + metric + "'" +
                                didYouMean(metric, std::vector<StringRef>(
                                                       std::begin(kMetrics),
                                                       std::end(kMetrics))));
    p.metric = static_cast<Metric>(found - std::begin(kMetrics));
    if (at("value").trim().empty())
      return fail("value", "is empty");
    if (Error e = number("value", p.value))
      return e;
    if (p.value <= 0)
      return fail("value", "should be positive, got '" + at("value") + "'");
    p.complete = noteText(p.notes, "cfg") == "complete";
    p.run = noteText(p.notes, "run");
    if (p.run.empty())
      p.run = p.id;
    points.push_back(std::move(p));
  }
  return points;
}
