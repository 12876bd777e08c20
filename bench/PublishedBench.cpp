//===- PublishedBench.cpp - published layouts against the best ------------===//
//
// published-bench POINTS.csv [SOURCE] searches the layout of every complete run
// of the file and prints where the published one is not beaten, by source; and
// apart, the layouts that the rules of the space, or the table of what the run's
// software can do, exclude.
//
//===----------------------------------------------------------------------===//
#include "lib/Planning/Search/Published.h"
#include "tessera/Forecast/GraphSource.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>
#include <ctime>

using namespace llvm;
using namespace tessera;

namespace {
struct Counts {
  int runs = 0, slower = 0, raised = 0, outside = 0;
  double worst = 0, speedup = 0, seconds = 0, slowest = 0;
};
} // namespace

int main(int argc, char **argv) {
  if (argc < 2) {
    errs() << "usage: published-bench POINTS.csv [SOURCE]\n";
    return 2;
  }
  ExitOnError check("error: ");
  std::string text = check(readFile(argv[1]));
  std::vector<Point> points = check(readPoints(text, argv[1]));
  StringRef only = argc > 2 ? argv[2] : "";
  MapVector<StringRef, std::vector<const Point *>> runs;
  for (const Point &p : points)
    if (p.complete && StringRef(p.source).contains(only))
      runs[p.run].push_back(&p);
  RowSources models(makeGraphSource);
  MapVector<StringRef, Counts> sources;
  for (auto &[name, rows] : runs) {
    Expected<Case> c = makeCase(rows, models);
    if (!c) {
      outs() << name << ": " << toString(c.takeError()) << "\n";
      continue;
    }
    std::clock_t begin = std::clock();
    PublishedComparison r = comparePublished(*c);
    double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
    Counts &n = sources[rows.front()->source];
    ++n.runs;
    n.seconds += seconds;
    n.slowest = std::max(n.slowest, seconds);
    n.raised += r.raisedLimit;
    n.outside += !r.outside.empty();
    double ratio = r.best ? r.best->step.seconds / r.ownSeconds : INFINITY;
    n.speedup += r.best ? std::log(ratio) : 0;
    n.worst = std::max(n.worst, ratio);
    if (!r.outside.empty())
      outs() << name << ": outside, " << r.own.str() << ": " << r.outside
             << "\n";
    if (!r.denied.empty())
      outs() << name << ": " << c->stack << " is said not to run "
             << r.own.str() << ": " << r.denied << "\n";
    if (r.noSlower())
      continue;
    ++n.slower;
    outs() << name << ": SLOWER by " << formatPercent(ratio - 1) << ": "
           << r.own.str() << " / "
           << (r.best ? r.best->layout.str() : "nothing fits") << "\n";
  }
  TextTable table;
  table.column("source", TextTable::Align::Left)
      .column("runs")
      .column("slower")
      .column("memory raised")
      .column("outside")
      .column("worst best/own")
      .column("mean best/own")
      .column("CPU s")
      .column("slowest");
  for (auto &[source, n] : sources)
    table.row({source.str(), std::to_string(n.runs), std::to_string(n.slower),
               std::to_string(n.raised), std::to_string(n.outside),
               formatNumber(n.worst, 3),
               formatNumber(std::exp(n.speedup / n.runs), 3),
               formatNumber(n.seconds, 2), formatNumber(n.slowest, 2)});
  table.print(outs(), 200);
  return 0;
}
