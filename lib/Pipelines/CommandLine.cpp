//===- CommandLine.cpp - flags and failures of the subcommands ------------===//
//
// The command line is checked before LLVM's parser sees it, so that every
// mistake is told in one form and all names that a flag has are known to all
// commands.
//
//===----------------------------------------------------------------------===//
#include "CommandLine.h"

#include "tessera/Support/Error.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"
#include "tessera/Support/Wrap.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"

#include <deque>
#include <map>

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

/// Short names that every command with the flag takes.
static constexpr std::pair<StringLiteral, StringLiteral> kOtherNames[] = {
    {"seq", "sequence"}, {"h", "help"}};

/// A command's flags by name.
using FlagMap = std::map<StringRef, cl::Option *>;

static FlagMap flagsOf(const cl::OptionCategory &category) {
  FlagMap flags;
  for (auto [name, option] : cl::getRegisteredOptions())
    if (is_contained(option->Categories, &category))
      flags[name] = option;
  return flags;
}

static void showHelp(StringRef program, const FlagMap &flags,
                     StringRef overview, StringRef positional) {
  constexpr unsigned kColumn = 30;
  raw_ostream &out = outs();
  out << "usage: " << program << " [OPTION...]"
      << (positional.empty() ? "" : " ") << positional << "\n\n";
  printWrapped(out, overview, 0);
  out << "\noptions:\n";
  auto show = [&](const std::string &head, StringRef description) {
    out.indent(2) << head;
    unsigned used = 2 + head.size();
    if (used + 2 > kColumn) {
      out << "\n";
      used = 0;
    }
    for (const std::string &line :
         wrapText(description, std::max(textWidth(), kColumn + 20) - kColumn)) {
      out.indent(kColumn - used) << line << "\n";
      used = 0;
    }
  };
  for (auto [name, option] : flags) {
    std::string head = flagText(*option), text = option->HelpStr.str();
    if (!option->ValueStr.empty())
      head += (" " + option->ValueStr).str();
    for (auto [other, meant] : kOtherNames)
      if (meant == name)
        text += (" (also --" + other + ")").str();
    show(head, text);
  }
  show("--help", "Show this");
}

namespace {
/// One pass over a command line, before LLVM's.
class ArgumentCheck {
public:
  ArgumentCheck(const FlagMap &flags, StringRef positional)
      : flags(flags), positional(positional) {}

  /// Fails with what is wrong; `out` are the arguments with each flag by its
  /// own name, which live as long as this object.
  Error run(ArrayRef<const char *> arguments,
            SmallVectorImpl<const char *> &out) {
    for (size_t i = 0; i < arguments.size(); ++i) {
      StringRef argument = arguments[i];
      if (!argument.starts_with("-") || argument == "-") {
        if (Error error = readPositional(argument))
          return error;
        out.push_back(arguments[i]);
        continue;
      }
      auto [name, value] = argument.ltrim('-').split('=');
      for (auto [other, meant] : kOtherNames)
        if (name == other)
          name = meant;
      if (name == "help") {
        wantsHelp = true;
        return Error::success();
      }
      auto found = flags.find(name);
      if (found == flags.end())
        return unknown(name, argument);
      const cl::Option &option = *found->second;
      std::string text = flagText(option);
      bool hasValue = argument.contains('=');
      if (option.getValueExpectedFlag() == cl::ValueRequired && !hasValue) {
        if (i + 1 == arguments.size() || isFlag(arguments[i + 1]))
          return makeError(
              text + ": expected a value" + like(option) +
              (i + 1 == arguments.size()
                   ? ", got nothing"
                   : ", got the flag '" + Twine(arguments[i + 1]) + "'"));
        value = arguments[++i];
        hasValue = true;
      }
      if (Error error = readValue(option, text, value, hasValue))
        return error;
      storage.push_back(hasValue ? text + "=" + value.str() : text);
      out.push_back(storage.back().c_str());
    }
    return Error::success();
  }

  bool wantsHelp = false;

private:
  static std::string like(const cl::Option &option) {
    return option.ValueStr.empty() ? "" : (" " + option.ValueStr).str();
  }

  bool isFlag(StringRef argument) const {
    return argument.starts_with("--") &&
           flags.count(argument.ltrim('-').split('=').first);
  }

  Error readPositional(StringRef argument) {
    if (positional.empty())
      return makeError("expected options alone, got '" + argument + "'");
    if (!first.empty())
      return makeError("expected one " + positional + ", got '" + first +
                       "' and '" + argument + "'");
    first = argument;
    return Error::success();
  }

  Error unknown(StringRef name, StringRef argument) const {
    std::vector<StringRef> names;
    for (auto [known, option] : flags)
      names.push_back(known);
    StringRef near = nearestName(name, names);
    std::string hint;
    if (!near.empty())
      hint = "; did you mean '" + flagText(*flags.find(near)->second) + "'?";
    return makeError("unknown option '" + argument.split('=').first + "'" +
                     hint);
  }

  Error readValue(const cl::Option &option, StringRef text, StringRef value,
                  bool hasValue) {
    auto [it, isNew] = given.try_emplace(&option, value);
    if (!isNew && option.getNumOccurrencesFlag() == cl::Optional)
      return makeError(
          text + ": given twice" +
          (hasValue ? ", '" + it->second + "' and '" + value + "'" : Twine()));
    if (option.getValueExpectedFlag() == cl::ValueRequired) {
      if (value.trim().empty())
        return makeError(text + ": expected a value" + like(option) +
                         ", got ''");
    } else if (hasValue && !is_contained({"true", "false", "1", "0"}, value)) {
      return makeError(text + ": expected no value, or true or false, got '" +
                       value + "'");
    }
    return Error::success();
  }

  const FlagMap &flags;
  StringRef positional, first;
  std::map<const cl::Option *, StringRef> given;
  std::deque<std::string> storage;
};
} // namespace

std::optional<int> tessera::parseFlags(cl::OptionCategory &category, int argc,
                                       char **argv, StringRef overview,
                                       StringRef positional) {
  FlagMap flags = flagsOf(category);
  ArgumentCheck check(flags, positional);
  SmallVector<const char *> arguments{argv[0]};
  std::string help =
      " ('" + std::string(argv[0]) + " --help' lists the options)";
  if (Error error = check.run(
          ArrayRef(const_cast<const char **>(argv) + 1, size_t(argc - 1)),
          arguments))
    return usage(toString(std::move(error)) + help);
  if (check.wantsHelp) {
    showHelp(argv[0], flags, overview, positional);
    return 0;
  }
  std::string text;
  raw_string_ostream os(text);
  bool parsed = cl::ParseCommandLineOptions(int(arguments.size()),
                                            arguments.data(), "", &os);
  std::string mistake = takeFlagMistake();
  if (parsed && mistake.empty())
    return std::nullopt;
  return usage(mistake.empty() ? StringRef(text).trim().str() + help : mistake);
}

Error tessera::requireModel(StringRef model) {
  if (!model.empty())
    return Error::success();
  return createStringError(
      "give a model: a folder, a config.json, the .mlir file of a graph or a "
      "name that 'tessera models' lists");
}

void tessera::showNotes(ArrayRef<std::string> notes) {
  for (const std::string &note : notes) {
    std::string line = "note: " + printable(note);
    if (errs().is_displayed() && !StringRef(line).contains('\n'))
      printWrapped(errs(), line, 2);
    else
      errs() << line << "\n";
  }
}
