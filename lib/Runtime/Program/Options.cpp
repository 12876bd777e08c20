//===- Options.cpp - an executable's command line -------------------------===//
//
// One table of options drives parsing, --help and the suggestion for a
// misspelt name.
//
//===----------------------------------------------------------------------===//
#include "Options.h"
#include "../EditDistance.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <vector>

namespace tessera::rt {

namespace {
struct Option {
  const char *name;
  const char *value; ///< null for a switch
  const char *help;
  std::function<Status(ProgramOptions &, const std::string &)> apply;
};

template <typename T>
Status parseNumber(const char *option, const std::string &text, T low, T &out) {
  const char *end = text.data() + text.size();
  auto [stop, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || stop != end || out < low)
    return failure(option, " is '", text, "', expected a number of at least ",
                   low);
  return Status::success();
}

Option text(const char *name, const char *value, const char *help,
            std::string ProgramOptions::*member) {
  return {name, value, help,
          [=](ProgramOptions &o, const std::string &v) -> Status {
            if (v.empty())
              return failure(name, " needs a ", value);
            o.*member = v;
            return Status::success();
          }};
}
Option flag(const char *name, const char *help, bool ProgramOptions::*member) {
  return {name, nullptr, help, [=](ProgramOptions &o, const std::string &) {
            o.*member = true;
            return Status::success();
          }};
}

Status applyDevice(ProgramOptions &o, const std::string &v) {
  if (v == "auto")
    o.device = DeviceChoice::Auto;
  else if (v == "virtual")
    o.device = DeviceChoice::Virtual;
  else if (v == "cuda")
    o.device = DeviceChoice::Cuda;
  else
    return failure("--device is '", v, "', expected auto, virtual or cuda");
  return Status::success();
}

Status applyInit(ProgramOptions &o, const std::string &v) {
  const std::string kind = "random:";
  if (v.rfind(kind, 0) != 0)
    return failure("--init is '", v, "', expected random:SEED");
  uint64_t seed = 0;
  if (Status s = parseNumber<uint64_t>("--init random:SEED",
                                       v.substr(kind.size()), 0, seed))
    return s;
  o.initSeed = seed;
  return Status::success();
}

Status applySeed(ProgramOptions &o, const std::string &v) {
  uint64_t seed = 0;
  if (Status s = parseNumber<uint64_t>("--seed", v, 0, seed))
    return s;
  o.virtualSeed = seed;
  return Status::success();
}

const std::vector<Option> &table() {
  static const std::vector<Option> options = {
      text("--tokens", "FILE",
           "token ids: text, .npy or .safetensors ('tokens')",
           &ProgramOptions::tokens),
      text("--weights", "PATH", "safetensors checkpoint: folder, file or index",
           &ProgramOptions::weights),
      {"--init", "random:SEED", "draw the weights instead of reading them",
       applyInit},
      {"--device", "auto|virtual|cuda", "where to run (auto)", applyDevice},
      text("--output", "FILE",
           "write the per-token losses: .npy, or .safetensors with all outputs",
           &ProgramOptions::output),
      {"--seed", "N", "virtual GPU: random order of lanes, warps and blocks",
       applySeed},
      flag("--check",
           "virtual GPU: find races, bad accesses, missing waits (slow)",
           &ProgramOptions::check),
      {"--repeat", "N", "run the forward pass N times (1)",
       [](ProgramOptions &o, const std::string &v) {
         return parseNumber<int64_t>("--repeat", v, 1, o.repeat);
       }},
      flag("--time", "print the time of the forward pass",
           &ProgramOptions::time),
      flag("--report-collectives", "print the collectives that were counted",
           &ProgramOptions::reportCollectives),
      flag("--json", "print the results as one JSON object",
           &ProgramOptions::json),
      flag("--describe", "print what this program is and end",
           &ProgramOptions::describe),
      flag("--help", "print this text and end", &ProgramOptions::help),
  };
  return options;
}

std::string nearest(const std::string &name) {
  const Option *best = nullptr;
  for (const Option &o : table())
    if (!best || editDistance(name, o.name) < editDistance(name, best->name))
      best = &o;
  return best->name;
}
} // namespace

Expected<ProgramOptions> parseOptions(int argc, const char *const *argv) {
  ProgramOptions options;
  options.program = argc > 0 ? argv[0] : "program";
  for (int i = 1; i < argc; ++i) {
    std::string name = argv[i], value;
    bool attached = false;
    if (size_t equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
      attached = true;
    }
    const Option *found = nullptr;
    for (const Option &o : table())
      if (name == o.name)
        found = &o;
    if (!found)
      return name.rfind("--", 0) == 0
                 ? failure("unknown option '", name, "'; did you mean ",
                           nearest(name), "?")
                 : failure("unexpected argument '", name,
                           "'; options begin with --, see --help");
    if (!found->value && attached)
      return failure(name, " takes no value, got '", value, "'");
    if (found->value && !attached) {
      if (i + 1 >= argc)
        return failure(name, " needs a value: ", found->value);
      value = argv[++i];
    }
    if (Status s = found->apply(options, value))
      return s;
  }
  if (options.initSeed && !options.weights.empty())
    return failure("--init and --weights exclude each other");
  if (options.device == DeviceChoice::Cuda &&
      (options.check || options.virtualSeed))
    return failure(options.check ? "--check" : "--seed",
                   " is for the virtual GPU, but --device is cuda");
  auto ends = [&](const std::string &suffix) {
    return options.output.size() > suffix.size() &&
           options.output.compare(options.output.size() - suffix.size(),
                                  suffix.size(), suffix) == 0;
  };
  if (!options.output.empty() && !ends(".npy") && !ends(".safetensors"))
    return failure("--output is '", options.output,
                   "', expected a name ending in .npy or .safetensors");
  return options;
}

std::string helpText(const std::string &program) {
  std::string out = "usage: " + program + " --tokens FILE [options]\n" +
                    "       tessera run -n RANKS " + program +
                    " --tokens FILE [options]\n\noptions:\n";
  for (const Option &o : table()) {
    std::string left = std::string("  ") + o.name;
    if (o.value)
      left += std::string(" ") + o.value;
    left.resize(std::max<size_t>(left.size() + 2, 30), ' ');
    out += left + o.help + "\n";
  }
  return out;
}

} // namespace tessera::rt
