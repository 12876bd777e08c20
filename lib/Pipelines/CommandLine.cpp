//===- CommandLine.cpp - flags and failures of the subcommands ------------===//
#include "CommandLine.h"

#include "tessera/Support/Units.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

int tessera::fail(const Twine &message) {
  errs() << "error: " << message << "\n";
  return 1;
}

int tessera::fail(Error error) { return fail(toString(std::move(error))); }

int tessera::usage(const Twine &message) {
  fail(message);
  return kUsageError;
}

bool tessera::parseFlags(cl::OptionCategory &category, int argc, char **argv,
                         StringRef overview) {
  cl::HideUnrelatedOptions(category);
  return cl::ParseCommandLineOptions(argc, argv, overview, &errs());
}

Error tessera::requireModel(StringRef model) {
  if (!model.empty())
    return Error::success();
  return createStringError(
      "give a model: a folder, a config.json, the .mlir file of a graph or a "
      "name that 'tessera models' lists");
}

Error tessera::readCountFlag(StringRef flag, StringRef text,
                             std::optional<double> &out) {
  if (text.empty())
    return Error::success();
  Expected<double> value = parseCount(text);
  if (!value)
    return createStringError("--" + flag + ": " + toString(value.takeError()));
  out = *value;
  return Error::success();
}

void tessera::showNotes(ArrayRef<std::string> notes) {
  for (const std::string &note : notes)
    errs() << "note: " << note << "\n";
}
