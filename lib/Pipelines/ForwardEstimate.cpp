//===- ForwardEstimate.cpp - what the forward program will do -------------===//
//
// The compiler's own phases up to the one that fixes what is computed, moved
// and held, on a program that is never built: the promise and the compiled
// program cannot differ.
//
//===----------------------------------------------------------------------===//
#include "lib/Pipelines/ForwardEstimate.h"

#include "CommandLine.h"
#include "lib/Pipelines/Emit.h"
#include "tessera/Analysis/Counts.h"
#include "tessera/Pipelines/Compile.h"
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Table.h"
#include "tessera/Support/Units.h"

#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tessera;

int tessera::forwardEstimate(const ForwardEstimateOptions &o) {
  Expected<Layout> layout = parseLayout(o.layout);
  if (!layout)
    return fail(atFlag("--layout", layout.takeError()));
  Expected<CompilerMesh> mesh = compilerMesh(*layout);
  if (!mesh)
    return fail("--layout: " + toString(mesh.takeError()));
  if (!mesh->unused.empty())
    showNotes("only a training step has a use for " +
              join(mesh->unused, " and ") +
              "; the forward pass is counted without");
  ProgramOptions program;
  program.model = o.model;
  program.mesh = mesh->mesh;
  program.sequence = o.sequence;
  program.batch = o.batch ? o.batch : mesh->rows;
  program.dtype = o.dtype;
  program.sequenceParallel = mesh->sequenceParallel ? "on" : "off";
  DriverOptions driver;
  driver.to = Phase::Fuse;
  driver.emit = o.json ? EmitKind::CountsJson : EmitKind::Counts;
  driver.output = "-";
  return compile(program, driver) ? 0 : 1;
}

static void print(const ProgramCounts &c, raw_ostream &out) {
  auto line = [&](StringRef what, const std::string &value) {
    out << what << " " << value << "\n";
  };
  auto exact = [](int64_t n, const std::string &unit) {
    return std::to_string(n) + " (" + unit + ")";
  };
  out << "one rank, one forward pass\n";
  line("matrix FLOPs", exact(c.forward.matmulFlops,
                             formatCount(double(c.forward.matmulFlops))));
  line("other FLOPs", exact(c.forward.vectorFlops,
                            formatCount(double(c.forward.vectorFlops))));
  line("parameters",
       exact(c.parameterBytes, formatBytes(double(c.parameterBytes))));
  line("arena", exact(c.arenaBytes, formatBytes(double(c.arenaBytes))));
  line("alive at most",
       exact(c.peakLiveBytes, formatBytes(double(c.peakLiveBytes))));
  if (c.collectives.empty()) {
    out << "no collectives\n";
    return;
  }
  TextTable table;
  table.column("collective", TextTable::Align::Left)
      .column("axes", TextTable::Align::Left)
      .column("type", TextTable::Align::Left)
      .column("count")
      .column("calls")
      .column("bytes");
  for (const auto &[key, count] : c.collectives) {
    std::string axes;
    for (const std::string &axis : key.axes)
      axes += (axes.empty() ? "" : ",") + axis;
    table.row({key.op, axes, key.dtype, std::to_string(key.count),
               std::to_string(count.calls), std::to_string(count.bytes)});
  }
  table.print(out);
}

std::string tessera::emitCounts(mlir::ModuleOp module, const std::string &path,
                                bool json) {
  mlir::FailureOr<ProgramCounts> counts = countProgram(module);
  if (mlir::failed(counts))
    return "the program could not be counted";
  if (Error error = writeFileAtomically(path, [&](raw_ostream &out) {
        if (json)
          out << formatv("{0:2}\n", counts->toJSON());
        else
          print(*counts, out);
      }))
    return toString(std::move(error));
  return "";
}
