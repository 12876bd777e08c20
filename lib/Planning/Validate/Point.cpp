//===- Point.cpp - reading published measurements -------------------------===//
#include "Point.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Suggest.h"
#include "llvm/ADT/StringExtras.h"
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

/// Ways to leave a field open.
static bool isOpen(StringRef s) {
  static constexpr StringLiteral open[] = {
      "",        "-",          "\xE2\x80\x94", "na",  "n/a",
      "n.a.",    "none",       "null",         "nan", "?",
      "unknown", "not stated", "default"};
  return llvm::any_of(open,
                      [&](StringRef o) { return s.equals_insensitive(o); });
}

/// Are the commas those between thousands? "1,5" is another country's 1.5.
static bool commasAreThousands(StringRef s) {
  SmallVector<StringRef> groups;
  s.split(groups, ',');
  for (size_t i = 0; groups.size() > 1 && i < groups.size(); ++i) {
    size_t digits =
        groups[i].take_while([](char c) { return isDigit(c); }).size();
    bool whole = digits == groups[i].size() || i + 1 == groups.size();
    if (!whole || (i ? digits != 3 : digits < 1 || digits > 3))
      return false;
  }
  return true;
}

/// "8", "1,024", "2.0"; sequences also "4k" (4,096).
static bool readCount(StringRef s, bool thousands, double &v) {
  if (!commasAreThousands(s))
    return false;
  std::string digits;
  for (char c : s)
    if (c != ',' && c != '_')
      digits += c;
  StringRef d = digits;
  double factor = 1;
  if (thousands && (d.consume_back("k") || d.consume_back("K")))
    factor = 1024;
  if (d.trim().getAsDouble(v) || !std::isfinite(v))
    return false;
  v *= factor;
  return true;
}

/// ZeRO's stage in words: "ZeRO-2", "stage 3", "FSDP", "SHARD_GRAD_OP",
/// "distributed optimizer", "optimizer states and gradients"; -1 where they
/// mean nothing.
static int stageOf(StringRef written) {
  std::string lower = written.lower();
  StringRef s = lower;
  auto has = [&](StringRef w) { return s.contains(w); };
  for (auto [digit, stage] : {std::pair{"1", 1}, {"2", 2}, {"3", 3}, {"0", 0}})
    if ((has("zero") || has("stage")) && has(digit))
      return stage;
  if (has("no_shard") || s == "ddp" || s == "no" || s == "off" || s == "false")
    return 0;
  if (has("shard_grad_op"))
    return 2;
  if (has("fsdp") || has("full_shard") || has("hybrid_shard") || has("hsdp"))
    return 3;
  if (has("dist") || s == "os")
    return 1;
  // What is sharded, by name.
  if (has("weights") || has("parameters"))
    return 3;
  if (has("grad"))
    return 2;
  if (has("optimizer"))
    return 1;
  return -1;
}

/// "yes", "no" or "" where the source says something else.
static std::string yesOrNo(StringRef s) {
  for (StringRef yes : {"yes", "true", "1", "on", "y", "enabled", "sp"})
    if (s.equals_insensitive(yes))
      return "yes";
  for (StringRef no : {"no", "false", "0", "off", "n", "disabled", "none"})
    if (s.equals_insensitive(no))
      return "no";
  return "";
}

/// What is known of a run where its row does not say whether that is all.
static bool knowsAll(const Point &p) {
  return !p.chip.empty() && p.layers > 0 && p.hidden > 0 && p.sequence > 0 &&
         p.globalBatch > 0 && (p.gpus > 0 || p.dp > 0);
}

/// The row's fields; what is wrong in them becomes the point's `problem`.
static Point readPoint(const CsvTable &table, size_t row, StringRef name) {
  Point p;
  p.line = table.lines[row];
  auto at = [&](StringRef column) { return table.field(row, column).trim(); };
  auto fail = [&](StringRef column, const Twine &what) {
    if (p.problem.empty())
      p.problem =
          (name + ":" + Twine(p.line) + ": column '" + column + "': " + what)
              .str();
  };
  std::pair<StringRef, std::string *> texts[] = {
      {"id", &p.id},
      {"stack", &p.stack},
      {"source", &p.source},
      {"table", &p.table},
      {"model", &p.model},
      {"gpu", &p.chip},
      {"interconnect", &p.interconnect},
      {"precision", &p.precision},
      {"recompute", &p.recompute},
      {"notes", &p.notes}};
  for (auto &[column, out] : texts)
    *out = at(column).str();
  if (p.source.empty())
    p.source = "not named";
  p.sequenceParallel = yesOrNo(at("sequence_parallel"));
  if (p.sequenceParallel.empty() && !isOpen(at("sequence_parallel")))
    fail("sequence_parallel",
         "expected yes or no, got '" + at("sequence_parallel") + "'");
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
  for (auto &[column, out] : integers) {
    StringRef written = at(column);
    bool stage = column == "zero_stage";
    if (isOpen(written))
      continue;
    double v = 0;
    if (stage && stageOf(written) >= 0) {
      *out = stageOf(written);
      continue;
    }
    // "interleaved", "yes", "1F1B": whether, not how finely.
    if (column == "vpp_or_interleave") {
      std::string answer = yesOrNo(written);
      if (written.starts_with_insensitive("interleaved") ||
          (answer == "yes" && written != "1")) {
        p.interleaved = true;
        continue;
      }
      if (answer == "no" || written.equals_insensitive("1f1b") ||
          written.equals_insensitive("gpipe"))
        continue;
    }
    if (!readCount(written, column == "seq", v)) {
      fail(column, "expected a number, got '" + written + "'");
      continue;
    }
    // A stage of -1 is one that the source does not state.
    if (!(v >= (stage ? -1 : 0) && v <= 1e12) || v != std::floor(v))
      fail(column, "expected a count, got '" + written + "'");
    else
      *out = int64_t(v);
  }
  auto number = [&](StringRef column, double &out) {
    StringRef s = at(column);
    if (!isOpen(s) && !readCount(s, false, out))
      fail(column, "expected a number, got '" + s + "'");
  };
  number("params_B", p.paramsB);
  number("active_params_B", p.activeB);
  StringRef metric = at("metric");
  auto *found = llvm::find(kMetrics, metric);
  if (found == std::end(kMetrics))
    fail("metric",
         "unknown metric '" + metric + "'" +
             didYouMean(metric, std::vector<StringRef>(std::begin(kMetrics),
                                                       std::end(kMetrics))));
  else
    p.metric = static_cast<Metric>(found - std::begin(kMetrics));
  if (at("value").empty())
    fail("value", "is empty");
  else if (!readCount(at("value"), false, p.value))
    fail("value", "expected a number, got '" + at("value") + "'");
  else if (p.value <= 0)
    fail("value", "should be positive, got '" + at("value") + "'");
  else if (p.value < 1e-9 || p.value > 1e15)
    fail("value", "cannot be meant: '" + at("value") + "'");
  std::string cfg = noteText(p.notes, "cfg");
  p.complete = cfg == "complete" || (cfg.empty() && knowsAll(p));
  p.run = noteText(p.notes, "run");
  if (p.run.empty())
    p.run = p.id.empty() ? "line " + std::to_string(p.line) : p.id;
  return p;
}

std::string tessera::pointsTemplate() {
  // The shape is Llama 3 8B's; the measured value is the user's.
  return "model,layers,hidden,heads,kv_heads,ffn_hidden,vocab,seq,params_B,"
         "experts,topk,gpu,n_gpus,gpus_per_node,precision,dp,tp,pp,ep,cp,"
         "zero_stage,vpp_or_interleave,sequence_parallel,recompute,micro_batch,"
         "global_batch,metric,value,stack,notes\n"
         "my-8b,32,4096,32,8,14336,128256,8192,8.03,,,h100-sxm,16,8,bf16,8,2,1,"
         ",1,1,,yes,none,1,128,step_time_s,7.5,megatron-core,\n";
}

Expected<std::vector<Point>> tessera::readPoints(StringRef text,
                                                 StringRef name) {
  Expected<CsvTable> table = parseCsv(text, name);
  if (!table)
    return table.takeError();
  static constexpr StringLiteral needed[] = {
      "model",       "layers",       "hidden", "heads", "seq",
      "gpu",         "n_gpus",       "tp",     "pp",    "dp",
      "micro_batch", "global_batch", "metric", "value"};
  std::vector<StringRef> present(table->header.begin(), table->header.end());
  std::string missing, hints;
  for (StringRef column : needed)
    if (!table->columns.count(column)) {
      missing += (missing.empty() ? "'" : ", '") + column.str() + "'";
      if (StringRef near = nearestName(column, present); !near.empty())
        hints +=
            "; did you mean '" + column.str() + "' by '" + near.str() + "'?";
    }
  if (!missing.empty()) {
    bool one = !StringRef(missing).contains(',');
    return makeError(name + (one ? ": column " : ": columns ") + missing +
                     (one ? " is missing" : " are missing") + hints +
                     " ('tessera validate --template' prints a file to fill)");
  }
  std::vector<Point> points;
  bool some = table->rows.empty();
  for (size_t row = 0; row < table->rows.size(); ++row) {
    points.push_back(readPoint(*table, row, name));
    some |= points.back().problem.empty();
  }
  if (!some)
    return makeError(points.front().problem);
  return points;
}
