//===- SearchBench.cpp - how fast layouts are searched --------------------===//
//
// The five searches that the planner is measured by; prints the size of the
// space, what was looked at, and the CPU time of each. With arguments MODEL
// CLUSTER it runs that search alone.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Search/Session.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include <ctime>

using namespace llvm;
using namespace tessera;

int main(int argc, char **argv) {
  std::vector<std::pair<std::string, std::string>> cases = {
      {"llama-65b", "a100-80g-sxm:256x8"},
      {"gpt3-175b", "a100-80g-sxm:128x8"},
      {"mixtral-8x22b", "h100-sxm:128x8"},
      {"llama3-405b", "h100-sxm:2048x8"},
      {"deepseek-v3", "h800:256x8"}};
  if (argc == 3)
    cases = {{argv[1], argv[2]}};
  TextTable table;
  table.column("model", TextTable::Align::Left)
      .column("cluster", TextTable::Align::Left)
      .column("layouts")
      .column("meshes")
      .column("bounded")
      .column("expanded")
      .column("mem cut")
      .column("bound cut")
      .column("timelines")
      .column("CPU s")
      .column("layouts/s")
      .column("best step");
  for (auto &[model, cluster] : cases) {
    PlanInput input;
    input.model = model;
    input.cluster = cluster;
    input.features = makeGraphSource;
    Expected<PlanSession> session = makeSession(input);
    if (!session) {
      errs() << "error: " << toString(session.takeError()) << "\n";
      return 1;
    }
    SolverOptions options;
    options.top = 6;
    std::clock_t begin = std::clock();
    PlanResult r =
        solve(session->problem, ModelProvider(session->problem), options);
    double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    const Certificate &c = r.certificate;
    table.row({model, cluster, formatCount(c.space), std::to_string(c.meshes),
               std::to_string(c.bounded), std::to_string(c.expanded),
               std::to_string(c.memoryCut), std::to_string(c.boundCut),
               std::to_string(c.evaluated), formatNumber(seconds, 3),
               formatCount(c.space / seconds),
               r.ranked.empty()
                   ? "does not fit"
                   : r.ranked.front().layout.str() + " " +
                         formatDuration(r.ranked.front().step.seconds)});
  }
  table.print(outs(), 220);
  return 0;
}
