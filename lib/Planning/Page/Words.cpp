//===- Words.cpp - a layout in words and in commands ----------------------===//
#include "Words.h"
#include "lib/Planning/Search/NextSteps.h"
#include "tessera/Planning/Export.h"

using namespace llvm;
using namespace tessera;

static std::string count(int64_t n, const char *one, const char *many) {
  return std::to_string(n) + " " + (n == 1 ? one : many);
}

static std::string recomputeInWords(const Layout &l) {
  switch (l.recompute) {
  case RecomputeKind::None:
    return "";
  case RecomputeKind::Selective:
    return "backward computes again what is cheap to compute and large to keep";
  case RecomputeKind::Full:
    if (l.recomputeLayers > 0)
      return "backward computes the first " +
             count(l.recomputeLayers, "layer", "layers") +
             " of each chunk again from its input";
    return "backward computes each layer again from its input";
  }
  return "";
}

static std::string scheduleInWords(const Layout &l) {
  switch (l.schedule) {
  case ScheduleKind::GPipe:
    return "all forward passes, then all backward passes";
  case ScheduleKind::OneFOneB:
    return "";
  case ScheduleKind::Interleaved:
    return "each stage holds " + count(l.vpp, "chunk", "chunks") +
           " of layers that lie apart, which shortens the bubble";
  case ScheduleKind::ZeroBubble:
    return "weight gradients wait and fill the bubble";
  }
  return "";
}

static std::string zeroInWords(const Layout &l) {
  std::string over =
      l.shardGroup > 0 && l.shardGroup < l.dp
          ? "groups of " + std::to_string(l.shardGroup) + " replicas"
          : "the replicas";
  if (l.zeroStage == 1)
    return "optimizer state is divided among " + over;
  if (l.zeroStage == 2)
    return "optimizer state and gradients are divided among " + over;
  return "weights, gradients and optimizer state are divided among " + over +
         "; weights are gathered when a layer needs them";
}

std::vector<std::pair<std::string, std::string>>
tessera::layoutInWords(const Layout &l) {
  std::vector<std::pair<std::string, std::string>> out;
  auto add = [&](StringRef name, int64_t value, std::string words) {
    out.push_back({(name + "=" + Twine(value)).str(), std::move(words)});
  };
  add("dp", l.dp,
      count(l.dp, "replica", "replicas") +
          " of the model, each with its share of the batch");
  if (l.zeroStage > 0)
    add("zero", l.zeroStage, zeroInWords(l));
  if (l.tp > 1)
    add("tp", l.tp,
        "the matrices of each layer are split over " + std::to_string(l.tp) +
            " GPUs");
  if (l.sequenceParallel)
    out.push_back({"sp", "between those matrices the tokens are split over the "
                         "same GPUs"});
  if (l.cp > 1)
    add("cp", l.cp,
        "each sequence is split over " + std::to_string(l.cp) + " GPUs (" +
            nameOf(l.contextKind).str() + ")");
  if (l.pp > 1)
    add("pp", l.pp,
        "the layers are divided into " + std::to_string(l.pp) + " stages");
  if (l.ep > 1)
    add("ep", l.ep,
        "the experts are spread over " + std::to_string(l.ep) +
            " GPUs (dispatch: " + nameOf(l.dispatcher).str() + ")");
  if (l.etp > 1)
    add("etp", l.etp,
        "the matrices of each expert are split over " + std::to_string(l.etp) +
            " GPUs");
  add("mb", l.microBatch,
      count(l.microBatch, "sequence", "sequences") +
          " of a replica pass at a time");
  if (l.recompute != RecomputeKind::None)
    out.push_back(
        {("recompute=" + nameOf(l.recompute)).str(), recomputeInWords(l)});
  if (l.schedule != ScheduleKind::OneFOneB)
    out.push_back({l.schedule == ScheduleKind::Interleaved
                       ? "vpp=" + std::to_string(l.vpp)
                       : ("schedule=" + nameOf(l.schedule)).str(),
                   scheduleInWords(l)});
  return out;
}

std::vector<std::pair<std::string, std::string>>
tessera::exportCommandLines(const PlanSession &s, const Layout &layout) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const FrameworkName &f : frameworkNames())
    out.push_back(
        {f.title.str(), exportCommandLine(s, layout, f.name, f.fileName)});
  return out;
}
