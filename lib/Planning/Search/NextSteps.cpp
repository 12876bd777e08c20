//===- NextSteps.cpp - what to do with a plan -----------------------------===//
#include "NextSteps.h"
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Planning/Export.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Units.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace llvm;
using namespace tessera;

std::string tessera::shellWord(StringRef text) {
  bool plain = !text.empty() && llvm::all_of(text, [](char c) {
    return isAlnum(c) || StringRef("-_./:=,+@%").contains(c);
  });
  if (plain)
    return text.str();
  // What a terminal would obey is written out.
  if (llvm::any_of(text, [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
      })) {
    std::string out = "$'";
    raw_string_ostream os(out);
    os.write_escaped(text, /*UseHexEscapes=*/true);
    for (size_t at = out.find('\'', 2); at != std::string::npos;
         at = out.find('\'', at + 2))
      out.insert(at, "\\");
    return out + "'";
  }
  std::string out = "'";
  for (char c : text)
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

Error tessera::setNodes(PlanSession &s, int nodes) {
  std::string text = s.clusterText;
  if (StringRef(text).ends_with(".json")) {
    Expected<std::string> file = readFile(text);
    if (!file)
      return file.takeError();
    text = std::move(*file);
  }
  if (!StringRef(text).ltrim().starts_with("{"))
    return Error::success(); // CHIP:NODESxGPUS is written anew
  Expected<json::Value> cluster = json::parse(text);
  if (!cluster)
    return cluster.takeError();
  if (json::Object *fields = cluster->getAsObject())
    (*fields)["nodes"] = nodes;
  s.clusterText = formatv("{0}", *cluster).str();
  return Error::success();
}

/// As --cluster takes it: the user's file, or the cluster that was chosen.
static std::string clusterOf(const PlanSession &s) {
  StringRef text = s.clusterText;
  return text.ends_with(".json") || text.starts_with("{")
             ? s.clusterText
             : s.problem.model.cluster.str();
}

/// The export format of the software that a plan is for, and its file, if it
/// has one.
static std::optional<FrameworkName> formatOf(const PlanProblem &p) {
  for (const FrameworkName &name : frameworkNames())
    if (p.framework && name.name == p.framework->format)
      return name;
  return std::nullopt;
}

std::string tessera::whyNotCompiled(const PlanSession &s, const Layout &l) {
  if (!s.config.planOnly.empty())
    return s.config.planOnly;
  if (s.config.experts)
    return "the compiler has no kernels for experts yet";
  if (s.config.latent)
    return "the compiler has no kernels for latent attention yet";
  Expected<CompilerMesh> mesh = compilerMesh(l);
  return mesh ? ""
              : toString(mesh.takeError()) +
                    " (plan with --fix pp=1,cp=1,zero=1 to keep to that)";
}

std::string tessera::compileCommandLine(const PlanSession &s, const Layout &l) {
  if (!whyNotCompiled(s, l).empty())
    return "";
  return "tessera compile " + shellWord(s.modelText) + " --layout \"" +
         l.str() + "\" --sequence " +
         std::to_string(s.problem.workload.sequence) +
         " --dtype bf16 -o model.exe";
}

/// " --precision fp8", "" for the usual one.
static std::string precisionFlag(const PlanProblem &p) {
  return p.precision.linear == DataType::BF16
             ? ""
             : " --precision " + nameOf(p.precision.linear).lower();
}

std::string tessera::explainCommandLine(const PlanSession &s, const Layout &l) {
  const PlanProblem &p = s.problem;
  std::string line = "tessera explain " + shellWord(s.modelText) +
                     " --cluster " + shellWord(clusterOf(s)) + " --sequence " +
                     std::to_string(p.workload.sequence) + " --global-batch " +
                     std::to_string(p.workload.globalBatch);
  line += precisionFlag(p);
  if (p.stack != "nemo")
    line += " --stack " + p.stack;
  if (p.memoryRoom > 0 && p.memoryMargin == 0)
    line += " --memory " + formatNumber(p.memoryRoom, 0) + "B";
  if (p.expertSkew > 1.0)
    line += " --expert-skew " + formatNumber(p.expertSkew, 6);
  return line + " --layout \"" + l.str() + "\"";
}

std::string tessera::exportCommandLine(const PlanSession &s, const Layout &l,
                                       StringRef format, StringRef file) {
  const Workload &w = s.problem.workload;
  return ("tessera export --to " + format + " --model ").str() +
         shellWord(s.modelText) + " --cluster " + shellWord(clusterOf(s)) +
         " --global-batch " + std::to_string(w.globalBatch) + " --sequence " +
         std::to_string(w.sequence) + precisionFlag(s.problem) +
         (s.problem.stack == stackOfFormat(format)
              ? std::string()
              : " --stack " + s.problem.stack) +
         " --layout \"" + l.str() + "\" -o " + file.str();
}

std::optional<NextStep> tessera::trainingStep(StringRef purpose,
                                              const PlanSession &s,
                                              const Layout &l) {
  std::optional<FrameworkName> format = formatOf(s.problem);
  if (!format)
    return std::nullopt;
  return NextStep{purpose.str(),
                  exportCommandLine(s, l, format->name, format->fileName)};
}

std::vector<NextStep> tessera::nextSteps(const PlanSession &s,
                                         const PlanResult &result) {
  const Layout &l = result.ranked.front().layout;
  const Layout &other = result.ranked[result.ranked.size() > 1].layout;
  std::vector<NextStep> steps;
  if (std::optional<NextStep> step = trainingStep("train with it", s, l))
    steps.push_back(std::move(*step));
  if (std::string line = compileCommandLine(s, l); !line.empty())
    steps.push_back({"build its forward pass", line});
  steps.push_back({"compare your own", explainCommandLine(s, other)});
  return steps;
}

void tessera::printNextSteps(ArrayRef<NextStep> steps, raw_ostream &out) {
  if (steps.empty())
    return;
  out << "\nnext:\n";
  for (const NextStep &step : steps) {
    out << "  " << step.purpose << ":\n";
    printCommand(out, step.command, 4);
  }
}

void tessera::printNextSteps(const PlanSession &s, const PlanResult &result,
                             raw_ostream &out) {
  printNextSteps(nextSteps(s, result), out);
  if (std::string why = whyNotCompiled(s, result.ranked.front().layout);
      !why.empty())
    printWrapped(out, "not compiled: " + why);
}
