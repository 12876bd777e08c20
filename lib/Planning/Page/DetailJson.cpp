//===- DetailJson.cpp - a layout's detail as JSON -------------------------===//
#include "Detail.h"
#include "lib/Planning/Search/Breakdown.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;
using namespace tessera;

/// The segments by column, as data frames want them.
static json::Object segmentColumns(const Timeline &t) {
  json::Array stage, chunk, microBatch, kind, start, end;
  for (const Segment &s : segmentsOf(t)) {
    stage.push_back(s.stage);
    chunk.push_back(s.chunk);
    microBatch.push_back(s.microBatch);
    kind.push_back(nameOf(s.kind));
    start.push_back(s.start);
    end.push_back(s.end);
  }
  return json::Object{
      {"stage", std::move(stage)},           {"chunk", std::move(chunk)},
      {"microbatch", std::move(microBatch)}, {"kind", std::move(kind)},
      {"start", std::move(start)},           {"end", std::move(end)}};
}

static json::Object timelineJson(const Timeline &t) {
  json::Object o{{"stages", t.problem.stages},
                 {"virtual_stages", t.problem.virtualStages},
                 {"microbatches", t.problem.microBatches},
                 {"schedule", nameOf(t.problem.schedule)},
                 {"seconds", t.seconds},
                 {"segments", segmentColumns(t)}};
  if (t.cut)
    o["cut"] = json::Object{
        {"from", t.cut->from}, {"to", t.cut->to}, {"passes", t.cut->passes}};
  return o;
}

static json::Object rooflineJson(const LayoutDetail &d) {
  json::Object peaks;
  for (auto [type, peak] : d.peaks)
    peaks[nameOf(type)] = peak;
  json::Array kernels;
  for (const KernelPoint &k : d.kernels)
    kernels.push_back(
        json::Object{{"block", k.block},
                     {"kernel", nameOf(k.kernel)},
                     {"name", k.str()},
                     {"direction", k.backward ? "backward" : "forward"},
                     {"dtype", nameOf(k.type)},
                     {"flops", k.flops},
                     {"bytes", k.bytes},
                     {"seconds", k.seconds},
                     {"intensity", k.intensity()},
                     {"flops_per_second", k.rate()},
                     {"calls", k.calls},
                     {"share", k.share}});
  return json::Object{{"memory_bandwidth", d.memoryBandwidth},
                      {"peaks", std::move(peaks)},
                      {"kernels", std::move(kernels)}};
}

json::Object tessera::toJson(const LayoutDetail &d, bool timeline) {
  json::Array stages;
  for (const MemoryUse &m : d.stages) {
    json::Object o = sharesJson(memoryShares(m));
    o["stage"] = m.stage;
    o["total"] = m.needed();
    stages.push_back(std::move(o));
  }
  json::Object o{{"memory_by_stage", std::move(stages)},
                 {"roofline", rooflineJson(d)}};
  if (timeline)
    o["timeline"] = timelineJson(d.timeline);
  return o;
}
