//===- Export.cpp - registry, what a file loses, reading of any file ------===//
#include "tessera/Planning/Export.h"

#include "Format.h"
#include "tessera/CostModel/Step.h"
#include "tessera/Planning/Framework.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Suggest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <limits>
#include <numeric>

using namespace llvm;
using namespace tessera;
using namespace tessera::exports;

static const Format *const kFormats[] = {
    &kMegatron,  &kMegatronBridge, &kNemo,      &kTorchTitan,
    &kDeepSpeed, &kNanotron,       &kAccelerate};

std::vector<FrameworkName> tessera::frameworkNames() {
  std::vector<FrameworkName> names;
  for (const Format *format : kFormats)
    names.push_back({format->name, format->title, format->fileName});
  return names;
}

static Expected<const Format *> findFormat(StringRef name) {
  SmallVector<StringRef> names;
  for (const Format *format : kFormats) {
    if (name == format->name)
      return format;
    names.push_back(format->name);
  }
  return makeError("unknown framework '" + name + "'" +
                   didYouMean(name, names) + "; the frameworks are " +
                   join(names, ", "));
}

//===----------------------------------------------------------------------===//
// Fields
//===----------------------------------------------------------------------===//

int64_t exports::product(std::initializer_list<int64_t> factors) {
  int64_t result = 1;
  for (int64_t factor : factors)
    if (MulOverflow(result, factor, result))
      return std::numeric_limits<int64_t>::max();
  return result;
}

SmallVector<int, 8> exports::frontLoadedChunks(int64_t layers, int64_t chunks) {
  if (chunks == 0)
    return {};
  SmallVector<int, 8> out(chunks, static_cast<int>(layers / chunks));
  for (int64_t i = 0; i < layers % chunks; ++i)
    ++out[i];
  return out;
}

SmallVector<int, 8> exports::unevenChunks(const ExportInput &input) {
  const Layout &l = input.layout;
  int64_t chunks = product({l.pp, l.vpp});
  if (!l.chunkLayers.empty() || l.pp == 1 || input.layers == 0 ||
      input.layers % chunks == 0)
    return l.chunkLayers;
  return evenChunks(static_cast<int>(input.layers), static_cast<int>(chunks));
}

Layout tessera::withoutMootFields(const Layout &layout, int64_t modelLayers) {
  Layout l = layout;
  const Layout usual;
  if (l.pp == 1) {
    l.vpp = 1;
    l.schedule = usual.schedule;
    l.overlapPipeline = usual.overlapPipeline;
  }
  // 1F1B with virtual stages is the interleaved schedule.
  if (l.vpp == 1 && l.schedule == ScheduleKind::Interleaved)
    l.schedule = ScheduleKind::OneFOneB;
  if (l.vpp > 1 && l.schedule == ScheduleKind::OneFOneB)
    l.schedule = ScheduleKind::Interleaved;
  int layers = std::accumulate(l.chunkLayers.begin(), l.chunkLayers.end(), 0);
  if (l.pp == 1 || (!l.chunkLayers.empty() &&
                    l.chunkLayers == evenChunks(layers, l.chunkLayers.size())))
    l.chunkLayers.clear();
  int64_t chunks = product({l.pp, l.vpp});
  int64_t longest = modelLayers > 0 ? (modelLayers + chunks - 1) / chunks
                                    : std::numeric_limits<int64_t>::max();
  if (!l.chunkLayers.empty())
    longest = *llvm::max_element(l.chunkLayers);
  if (l.recompute != RecomputeKind::Full || l.recomputeLayers >= longest)
    l.recomputeLayers = 0;
  if (l.tp == 1)
    l.sequenceParallel = usual.sequenceParallel;
  if (l.tp == 1)
    l.overlapTensorParallel = usual.overlapTensorParallel;
  if (l.cp == 1)
    l.contextKind = usual.contextKind;
  if (l.ep == 1) {
    l.dispatcher = usual.dispatcher;
    l.overlapExperts = usual.overlapExperts;
  }
  bool replicated = l.dp * l.cp > 1;
  if (!replicated)
    l.overlapGradients = usual.overlapGradients;
  if (l.shardRanks() == 1)
    l.zeroStage = 0;
  if (l.zeroStage == 0) {
    l.shardGroup = 0;
    l.overlapParameters = usual.overlapParameters;
  }
  if (l.shardGroup == l.dp)
    l.shardGroup = 0;
  return l;
}

std::vector<std::pair<StringLiteral, std::string>>
exports::fieldTexts(const Layout &l) {
  auto number = [](int64_t n) { return std::to_string(n); };
  auto yes = [](bool b) { return std::string(b ? "yes" : "no"); };
  auto on = [](bool b) { return std::string(b ? "on" : "off"); };
  std::string layers;
  for (int n : l.chunkLayers)
    layers += (layers.empty() ? "" : "+") + std::to_string(n);
  return {{"dp", number(l.dp)},
          {"shard", l.shardGroup ? number(l.shardGroup) : "all of dp"},
          {"zero", number(l.zeroStage)},
          {"tp", number(l.tp)},
          {"sp", yes(l.sequenceParallel)},
          {"cp", number(l.cp)},
          {"cp-kind", nameOf(l.contextKind).str()},
          {"pp", number(l.pp)},
          {"vpp", number(l.vpp)},
          {"layers", layers.empty() ? "even" : layers},
          {"ep", number(l.ep)},
          {"etp", number(l.etp)},
          {"recompute", nameOf(l.recompute).str()},
          {"recompute-layers",
           l.recomputeLayers ? number(l.recomputeLayers) : "all"},
          {"mb", number(l.microBatch)},
          {"schedule", nameOf(l.schedule).str()},
          {"dispatcher", nameOf(l.dispatcher).str()},
          {"grad-overlap", on(l.overlapGradients)},
          {"param-overlap", on(l.overlapParameters)},
          {"tp-overlap", on(l.overlapTensorParallel)},
          {"ep-overlap", on(l.overlapExperts)},
          {"pp-overlap", on(l.overlapPipeline)}};
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

void exports::settleDataParallel(SettingsReader &reader,
                                 const FrameworkReadOptions &options,
                                 int64_t stated, StringRef how,
                                 FrameworkRun &run) {
  if (reader.failed())
    return;
  int64_t gpus = options.gpus ? options.gpus : stated;
  if (gpus == 0)
    return reader.failWhole("the file does not state the number of GPUs (" +
                            how + "); give it (--gpus N)");
  if (options.gpus && stated && options.gpus != stated)
    run.notes.push_back("the file is for " + std::to_string(stated) +
                        " GPUs; it is read for " + std::to_string(gpus));
  if (gpus > std::numeric_limits<int>::max())
    return reader.failWhole("the parallel sizes make more GPUs than can be "
                            "counted");
  Layout &l = run.layout;
  int64_t others = product({l.tp, l.cp, l.pp});
  if (gpus % others != 0)
    return reader.failWhole("tp*cp*pp = " + Twine(others) +
                            " does not divide the " + Twine(gpus) + " GPUs");
  l.dp = static_cast<int>(gpus / others);
}

void exports::applyMethod(bool block, std::optional<int64_t> layers,
                          FrameworkRun &run) {
  if (run.layout.recompute != RecomputeKind::Full || !layers)
    return;
  if (!block && *layers > 1)
    run.notes.push_back("full recomputation in units of " +
                        std::to_string(*layers) +
                        " layers is read as that of each layer by itself");
  if (!block)
    return;
  if (*layers == 0)
    run.layout.recompute = RecomputeKind::None;
  else
    run.layout.recomputeLayers = static_cast<int>(*layers);
}

bool exports::checkChunks(SettingsReader &reader, const Layout &layout) {
  constexpr int64_t kMost = 1 << 16;
  int64_t chunks = product({layout.pp, layout.vpp});
  if (chunks > kMost)
    reader.failWhole("there are " + Twine(chunks) +
                     " virtual stages, at most " + Twine(kMost) + " are read");
  return chunks <= kMost && !reader.failed();
}

static Expected<FrameworkRun> readAs(const Format &format,
                                     ArrayRef<Setting> settings,
                                     StringRef where,
                                     const FrameworkReadOptions &options) {
  SettingsReader reader(settings, where);
  FrameworkRun run;
  run.format = format.name.str();
  run.workload.globalBatch = 0;
  run.workload.sequence = 0;
  run.stack = stackOfFormat(format.name).str();
  format.read(reader, options, run);
  if (!reader.failed())
    noteRest(format, reader, run);
  if (Error error = reader.takeError())
    return std::move(error);
  if (Error error = run.layout.check())
    return makeError(where + ": " + toString(std::move(error)));
  return run;
}

/// The syntax that a file's name, or else its text, speaks for.
static Syntax guessSyntax(StringRef text, StringRef where) {
  StringRef ending = sys::path::extension(where);
  if (ending == ".toml")
    return Syntax::Toml;
  if (ending == ".json")
    return Syntax::Json;
  if (ending == ".yaml" || ending == ".yml")
    return Syntax::Yaml;
  StringRef start = text.ltrim();
  if (start.starts_with("{"))
    return Syntax::Json;
  if (ending == ".sh" || start.starts_with("#!") || text.contains("--"))
    return Syntax::Arguments;
  if (start.starts_with("[") || text.contains("\n["))
    return Syntax::Toml;
  return Syntax::Yaml;
}

static Expected<FrameworkRun> readText(StringRef text, StringRef where,
                                       const FrameworkReadOptions &options) {
  size_t offset = text.find('\0');
  if (offset != StringRef::npos || !json::isUTF8(text, &offset))
    return makeError(where + ":" +
                     Twine(text.take_front(offset).count('\n') + 1) +
                     ": is no text in UTF-8");
  if (!options.format.empty()) {
    Expected<const Format *> format = findFormat(options.format);
    if (!format)
      return format.takeError();
    Expected<Settings> settings = readSettings((*format)->syntax, text, where);
    if (!settings)
      return settings.takeError();
    return readAs(**format, *settings, where, options);
  }
  Syntax syntax = guessSyntax(text, where);
  Expected<Settings> settings = readSettings(syntax, text, where);
  if (!settings)
    return settings.takeError();
  SmallVector<StringRef> names;
  for (const Format *format : kFormats) {
    names.push_back(format->name);
    if (format->syntax == syntax && format->recognises(*settings))
      return readAs(*format, *settings, where, options);
  }
  return makeError(where +
                   ": this is no file of a framework that is known; if "
                   "it is, name the framework (" +
                   join(names, ", ") + ")");
}

/// In the head of a file that was planned for another stack than its format's.
static constexpr StringLiteral kPlannedFor = "planned for: --stack ";

/// The stack that a comment of the file names.
static StringRef plannedFor(StringRef text) {
  size_t at = text.find(kPlannedFor);
  if (at == StringRef::npos)
    return "";
  StringRef line = text.take_front(at);
  line = line.substr(line.rfind('\n') + 1);
  return line.trim() == "#"
             ? text.drop_front(at + kPlannedFor.size()).take_until([](char c) {
                 return c == '\n' || c == '\r' || c == ' ';
               })
             : "";
}

Expected<FrameworkRun>
tessera::readFrameworkText(StringRef text, StringRef where,
                           const FrameworkReadOptions &options) {
  Expected<FrameworkRun> run = readText(text, where, options);
  // Messages quote the file, whatever stands in it.
  if (!run)
    return makeError(printableMessage(toString(run.takeError())));
  if (StringRef stack = plannedFor(text); frameworkOfStack(stack))
    run->stack = stack.str();
  return run;
}

Expected<FrameworkRun>
tessera::readFrameworkFile(StringRef path,
                           const FrameworkReadOptions &options) {
  Expected<std::string> text = readFile(path);
  if (!text)
    return text.takeError();
  return readFrameworkText(*text, path, options);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

static Error checkInput(const ExportInput &input) {
  const Layout &l = input.layout;
  if (Error error = l.check())
    return error;
  int64_t each = l.dp * l.microBatch, global = input.workload.globalBatch;
  if (global < 0 || (global > 0 && global % each != 0))
    return makeError("the global batch must be a multiple of dp*mb = " +
                     Twine(each) + ", got " + Twine(global));
  int64_t chunks = int64_t(l.pp) * l.vpp;
  // The first chunk may hold the embedding alone, the last one the head.
  if (input.layers > 0 && chunks > input.layers + 2)
    return makeError("layout: pp*vpp = " + Twine(chunks) +
                     " chunks, but the model has " + Twine(input.layers) +
                     " layers; each chunk but the first and the last needs "
                     "one");
  int64_t layers =
      std::accumulate(l.chunkLayers.begin(), l.chunkLayers.end(), int64_t(0));
  if (!l.chunkLayers.empty() && input.layers > 0 && layers != input.layers)
    return makeError("layout: 'layers' adds up to " + Twine(layers) +
                     ", but the model has " + Twine(input.layers));
  return Error::success();
}

/// A sentence for each field that `run` has otherwise than `input`: because the
/// framework cannot run it, or else because the file cannot say it.
static std::vector<std::string> losses(const Format &format,
                                       const Framework &framework,
                                       const ExportInput &input,
                                       const FrameworkRun &run) {
  std::vector<std::string> out;
  auto lose = [&](StringRef field, const std::string &wanted,
                  const std::string &got) {
    std::string reason = reasonAgainst(framework, input.layout,
                                       {input.layers, input.experts}, field);
    if (reason.empty())
      reason = format.whyNot(field, input.layout).str();
    if (reason.empty())
      reason = (format.title + " has no setting for it").str();
    out.push_back(
        (field + " = " + wanted + ": " + reason + "; the file means " + got)
            .str());
  };
  auto wanted = fieldTexts(input.layout);
  auto got = fieldTexts(withoutMootFields(run.layout, input.layers));
  for (auto [w, g] : zip(wanted, got))
    if (w.second != g.second)
      lose(w.first, w.second, g.second);
  auto number = [](int64_t n) {
    return n ? std::to_string(n) : std::string("nothing");
  };
  const Workload &a = input.workload, &b = run.workload;
  if (a.globalBatch > 0 && a.globalBatch != b.globalBatch)
    lose("global batch", number(a.globalBatch), number(b.globalBatch));
  if (a.sequence > 0 && a.sequence != b.sequence)
    lose("sequence length", number(a.sequence), number(b.sequence));
  if (!input.precision.empty() && input.precision != run.precision)
    lose("precision", input.precision,
         run.precision.empty() ? "what the training code says" : run.precision);
  return out;
}

Expected<ExportedFile> tessera::exportLayout(StringRef name,
                                             const ExportInput &given) {
  Expected<const Format *> format = findFormat(name);
  if (!format)
    return format.takeError();
  if (Error error = checkInput(given))
    return std::move(error);
  ExportInput input = given;
  input.layout = withoutMootFields(given.layout, given.layers);
  const Framework &framework = *frameworkOfFormat(name);
  ExportInput running = input;
  running.layout = withoutMootFields(
      nearestRunning(framework, input.layout, {input.layers, input.experts}),
      given.layers);
  Settings settings;
  (*format)->write(running, settings);
  std::string bare = writeSettings((*format)->syntax, settings, {});

  FrameworkReadOptions options;
  options.format = name.str();
  options.layers = input.layers;
  options.experts = input.experts;
  options.latent = input.latent;
  // Only where the file cannot say; a number of its own is left to it.
  Expected<FrameworkRun> run =
      readFrameworkText(bare, (*format)->fileName, options);
  if (!run) {
    consumeError(run.takeError());
    options.gpus = running.layout.numGPUs();
    run = readFrameworkText(bare, (*format)->fileName, options);
    if (!run)
      return run.takeError();
  }
  ExportedFile file;
  file.notExpressed = losses(**format, framework, input, *run);
  std::vector<std::string> comments = {"layout: " + input.layout.str()};
  // Of two stacks with files of one format the one is named.
  const Framework *planned = frameworkOfStack(input.stack);
  if (planned && planned->format == name && input.stack != stackOfFormat(name))
    comments.push_back((kPlannedFor + input.stack).str());
  comments.push_back(("to add: " + (*format)->toAdd).str());
  for (const std::string &loss : file.notExpressed)
    comments.push_back("not expressed: " + loss);
  file.text = writeSettings((*format)->syntax, settings, comments);
  return file;
}
