//===- CommandLine.cpp - flags and failures of the subcommands ------------===//
#include "CommandLine.h"

#include "tessera/Support/Printable.h"
#include "tessera/Support/Units.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace tessera;

int tessera::fail(const Twine &message) {
  printError(errs(), message);
  return 1;
}

int tessera::fail(Error error) { return fail(toString(std::move(error))); }

int tessera::usage(const Twine &message) {
  fail(message);
  return kUsageError;
}

/// What LLVM says of a command line, in the way of all other messages: its
/// first line without the program's name, and a suggestion where it has one.
static std::string plainMessage(StringRef text, StringRef program) {
  SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  std::string out;
  for (StringRef line : lines) {
    line.consume_front(program);
    line.consume_front(": ");
    line = line.split("  Try: ").first.rtrim(".! ");
    if (out.empty())
      out = line.str();
    else if (line.starts_with("Did you mean"))
      out += "; did" + line.drop_front(3).str();
  }
  if (!out.empty())
    out[0] = toLower(out[0]);
  return out + " ('" + program.str() + " --help' lists the options)";
}

bool tessera::parseFlags(cl::OptionCategory &category, int argc, char **argv,
                         StringRef overview) {
  cl::HideUnrelatedOptions(category);
  std::string text;
  raw_string_ostream os(text);
  if (cl::ParseCommandLineOptions(argc, argv, overview, &os))
    return true;
  // LLVM says itself what is wrong with a value.
  if (!text.empty())
    usage(plainMessage(text, argv[0]));
  return false;
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
    errs() << "note: " << printable(note) << "\n";
}
