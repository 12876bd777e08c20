//===- ValidateCommand.cpp - `tessera validate` ---------------------------===//
#include "CommandLine.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Forecast/GraphSource.h"
#include "tessera/Planning/Validate.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

namespace {
struct ValidateFlags {
  cl::OptionCategory category{"tessera validate"};
  cl::opt<std::string> points{cl::Positional, cl::cat(category),
                              cl::desc("POINTS.csv")};
  cl::opt<std::string> constants{"constants", cl::cat(category),
                                 cl::value_desc("FILE"),
                                 cl::desc("Constants to try (JSON)")};
  cl::opt<std::string> source{"source", cl::cat(category),
                              cl::value_desc("TEXT"),
                              cl::desc("Only sources whose name has this")};
  cl::opt<bool> form{"template", cl::cat(category),
                     cl::desc("Print a POINTS.csv to fill with measurements "
                              "of your own")};
  cl::opt<bool> runs{"runs", cl::cat(category), cl::desc("Show every run")};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("As JSON")};
  cl::opt<bool> details{"details", cl::cat(category),
                        cl::desc("With --json: also a figure as SVG")};
};
} // namespace

int tessera::validateCommand(int argc, char **argv) {
  static ValidateFlags flags;
  if (auto code = parseFlags(flags.category, argc, argv,
                             "Compares predictions with published measurements "
                             "(test/Data/published/points.csv is such a file).",
                             "POINTS.csv"))
    return *code;
  if (flags.form) {
    outs() << validateTemplate();
    return 0;
  }
  if (flags.points.empty())
    return fail("give the file of measurements: tessera validate POINTS.csv "
                "('tessera validate --template' prints one to fill)");
  ValidateOptions options;
  options.points = flags.points;
  options.constants = flags.constants;
  options.source = flags.source;
  options.runs = flags.runs;
  options.json = flags.json;
  options.features = makeGraphSource;
  options.details = flags.details;
  if (flags.details && !flags.json)
    return fail("--details adds to --json; give both");
  return runValidate(options, outs(), errs());
}
