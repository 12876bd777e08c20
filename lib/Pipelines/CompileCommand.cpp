//===- CompileCommand.cpp - `tessera compile` -----------------------------===//
#include "CommandLine.h"
#include "CompilerChips.h"
#include "Flags.h"
#include "tessera/Pipelines/Commands.h"

#include "tessera/Pipelines/Compile.h"
#include "tessera/Planning/CompilerMesh.h"
#include "tessera/Runtime/ProgramFile.h"
#include "tessera/Support/Error.h"
#include "tessera/Support/Printable.h"
#include "tessera/Support/Units.h"
#include "tessera/Target/VirtualTarget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"

using namespace llvm;
using namespace tessera;

namespace {
struct Flags {
  cl::OptionCategory category{"tessera compile"};
  cl::opt<std::string> model{
      cl::Positional, cl::cat(category),
      cl::desc("MODEL (folder, config.json, .mlir or shipped name)")};
  cl::opt<std::string> mesh{
      "mesh", cl::init("dp=1,tp=1"), cl::cat(category),
      cl::value_desc("dp=2,tp=2"),
      cl::desc("Axes and sizes of the grid of ranks, first slowest")};
  cl::opt<std::string> layout{
      "layout", cl::cat(category), cl::value_desc("\"dp=2 tp=2 mb=1 sp\""),
      cl::desc("Instead of --mesh: a layout as tessera plan prints it; sets "
               "--sequence-parallel and, where it is not given, --batch")};
  SequenceFlag sequence{category, "Tokens of a sequence (default: the model's "
                                  "positions)"};
  WholeFlag<> batch{"batch", cl::init(1), cl::cat(category),
                    cl::value_desc("N"),
                    cl::desc("Sequences, of all ranks together (default: "
                             "1)")};
  cl::opt<std::string> dtype{
      "dtype", cl::cat(category), cl::value_desc("f32|bf16"),
      cl::desc("Element type (default: the checkpoint's)")};
  cl::list<std::string> chips{
      "chip", cl::CommaSeparated, cl::cat(category), cl::value_desc("NAME,..."),
      cl::desc("Chips to compile for, by name (h100-sxm; 'tessera clusters' "
               "lists them) or compute capability (default: sm_80,sm_90)")};
  cl::opt<std::string> sequenceParallel{
      "sequence-parallel", cl::init("auto"), cl::cat(category),
      cl::value_desc("auto|on|off"),
      cl::desc("Split the residual stream over the sequence")};
  cl::opt<bool> virtualGpu{"virtual", cl::init(true), cl::cat(category),
                           cl::desc("Compile for the virtual GPU too (default: "
                                    "true)")};
  cl::opt<std::string> virtualCpu{
      "virtual-cpu", cl::init("native"), cl::cat(category),
      cl::value_desc("native|x86-64-v3|..."),
      cl::desc("CPU that the virtual GPU's code is for (default: this one)")};
  cl::opt<bool> instrument{
      "instrument", cl::cat(category),
      cl::desc("Virtual-GPU code that --check and --count can watch")};
  cl::opt<std::string> output{"o", cl::cat(category), cl::value_desc("FILE"),
                              cl::desc("Output ('-': standard output)")};
  cl::opt<std::string> emit{
      "emit", cl::cat(category), cl::value_desc("mlir|llvm|ptx|cubin|exe"),
      cl::desc("What to write (default exe, mlir with --compile-to)")};
  cl::opt<std::string> to{"compile-to", cl::cat(category),
                          cl::value_desc("PHASE"),
                          cl::desc("Stop when this phase has ended")};
  cl::opt<std::string> from{
      "compile-from", cl::cat(category), cl::value_desc("PHASE"),
      cl::desc("MODEL is the .mlir file of this phase; go on behind it")};
  cl::opt<std::string> dump{"dump-phases-to", cl::cat(category),
                            cl::value_desc("FOLDER"),
                            cl::desc("Write N.phase.mlir after every phase")};
  cl::opt<std::string> runtime{"runtime-lib", cl::cat(category),
                               cl::value_desc("FILE"),
                               cl::desc("libtessera_rt.a to link")};
  cl::opt<bool> timing{"timing", cl::cat(category),
                       cl::desc("Show the time of each phase")};
};
} // namespace

static std::optional<EmitKind> parseEmit(StringRef name) {
  return StringSwitch<std::optional<EmitKind>>(name)
      .Case("mlir", EmitKind::Mlir)
      .Case("llvm", EmitKind::Llvm)
      .Case("ptx", EmitKind::Ptx)
      .Case("cubin", EmitKind::Cubin)
      .Case("exe", EmitKind::Exe)
      .Default(std::nullopt);
}

/// A flag that was given though the phase that reads it lies behind the input:
/// it would change nothing. "" if there is none.
static std::string flagWithoutEffect(const Flags &flags,
                                     std::optional<Phase> from) {
  if (!StringRef(flags.model).ends_with(".mlir"))
    return "";
  Phase done = from.value_or(Phase::Import);
  struct {
    const cl::Option &option;
    Phase reader;
  } readers[] = {
      {flags.sequence, Phase::Import},    {flags.batch, Phase::Import},
      {flags.dtype, Phase::Import},       {flags.mesh, Phase::Plan},
      {flags.layout, Phase::Plan},        {flags.sequenceParallel, Phase::Plan},
      {flags.chips, Phase::Kernels},      {flags.virtualGpu, Phase::Kernels},
      {flags.virtualCpu, Phase::Kernels}, {flags.instrument, Phase::Kernels}};
  for (auto &[option, reader] : readers)
    if (option.getNumOccurrences() && reader <= done)
      return ("--" + option.ArgStr + " is read by phase '" +
              infoOf(reader).name + "', which '" + flags.model +
              "' has behind it")
          .str();
  return "";
}

/// What is wrong with --virtual-cpu; "" if nothing.
static std::string checkVirtualCpu(const Flags &flags,
                                   const ProgramOptions &program) {
  if (!flags.virtualCpu.getNumOccurrences())
    return "";
  if (!program.virtualGpu)
    return "--virtual-cpu changes nothing without virtual-GPU code";
  std::string why;
  if (!findHostCpu(program.virtualCpu, "", why))
    return "--virtual-cpu: " + why;
  return "";
}

/// Mesh, sequence parallelism and rows of tokens from --layout.
static Error readLayout(const Flags &flags, ProgramOptions &program) {
  for (const cl::Option *other : {(const cl::Option *)&flags.mesh,
                                  (const cl::Option *)&flags.sequenceParallel})
    if (other->getNumOccurrences())
      return createStringError("--layout says what --" + other->ArgStr +
                               " would; give one of them");
  Expected<Layout> layout = parseLayout(flags.layout);
  if (!layout)
    return layout.takeError();
  Expected<CompilerMesh> mesh = compilerMesh(*layout);
  if (!mesh)
    return mesh.takeError();
  program.mesh = mesh->mesh;
  program.sequenceParallel = mesh->sequenceParallel ? "on" : "off";
  if (!flags.batch.getNumOccurrences())
    program.batch = mesh->rows;
  if (!mesh->unused.empty())
    showNotes("only a training step has a use for " +
              join(mesh->unused, " and ") +
              "; the forward pass is built without");
  return Error::success();
}

/// One line for a person at a terminal: what was made, and what it is good for.
static void sayWritten(const DriverOptions &driver) {
  bool isExecutable = driver.emit == EmitKind::Exe;
  // Of several chips each has a file of its own name.
  if (driver.output == "-" || driver.emit == EmitKind::Ptx ||
      driver.emit == EmitKind::Cubin)
    return;
  errs() << "wrote " << printable(driver.output);
  std::optional<rt::ProgramFacts> facts;
  if (isExecutable)
    facts = rt::programFacts(driver.output);
  uint64_t bytes = 0;
  if (facts && !sys::fs::file_size(driver.output, bytes))
    errs() << " (" << facts->kernels << " kernels, " << facts->ranks
           << (facts->ranks == 1 ? " rank, " : " ranks, ")
           << formatBytes(double(bytes)) << "); run: tessera run "
           << printable(driver.output) << " --tokens FILE";
  errs() << "\n";
}

int tessera::compileCommand(int argc, char **argv) {
  static Flags flags;
  if (auto code = parseFlags(
          flags.category, argc, argv,
          "Compiles a model to a sharded executable. MODEL is a folder, a "
          "config.json, a .mlir file or a name that 'tessera models' lists.",
          "MODEL"))
    return *code;
  if (flags.model.empty())
    return usage("no model to compile: give a Hugging Face folder, a "
                 "config.json or a .mlir file");

  DriverOptions driver;
  std::string why;
  if (!flags.from.empty() && !(driver.from = parsePhase(flags.from, why)))
    return usage("--compile-from: " + why);
  if (std::string unused = flagWithoutEffect(flags, driver.from);
      !unused.empty())
    return usage(unused);

  ProgramOptions program;
  program.model = flags.model;
  program.mesh = flags.mesh;
  program.sequence = flags.sequence;
  program.batch = flags.batch;
  program.dtype = flags.dtype;
  program.sequenceParallel = flags.sequenceParallel;
  if (!flags.layout.empty())
    if (Error error = readLayout(flags, program))
      return usage(toString(atFlag("--layout", std::move(error))));
  program.virtualGpu = flags.virtualGpu;
  program.virtualCpu = flags.virtualCpu;
  program.instrument = flags.instrument;
  if (!flags.chips.empty()) {
    std::vector<std::string> notes;
    Expected<std::vector<std::string>> chips =
        compilerChips(std::vector<std::string>(flags.chips), notes);
    if (!chips)
      return usage("--chip: " + toString(chips.takeError()));
    program.chips.assign(chips->begin(), chips->end());
    showNotes(notes);
  }

  if (!flags.to.empty()) {
    std::optional<Phase> to = parsePhase(flags.to, why);
    if (!to)
      return usage("--compile-to: " + why);
    driver.to = *to;
    driver.emit = EmitKind::Mlir;
  }
  if (!flags.emit.empty()) {
    std::optional<EmitKind> kind = parseEmit(flags.emit);
    if (!kind)
      return usage("--emit: expected mlir, llvm, ptx, cubin or exe, got '" +
                   flags.emit + "'");
    driver.emit = *kind;
    if (driver.to != Phase::Binary && driver.emit != EmitKind::Mlir)
      return usage("--emit=" + flags.emit +
                   " needs the whole way, but "
                   "--compile-to stops at '" +
                   infoOf(driver.to).name + "'");
  }
  bool text = driver.emit != EmitKind::Exe && driver.emit != EmitKind::Cubin;
  driver.output = flags.output;
  if (driver.output.empty()) {
    if (!text)
      return usage("no output: say -o FILE");
    driver.output = "-";
  } else if (driver.output == "-" && !text) {
    return usage("binary output needs a file: say -o FILE");
  }
  // Kernels alone are wanted.
  if (driver.emit == EmitKind::Ptx || driver.emit == EmitKind::Cubin)
    program.virtualGpu = false;
  if (std::string error = checkVirtualCpu(flags, program); !error.empty())
    return usage(error);
  driver.dumpPhasesTo = flags.dump;
  driver.runtimeArchive = flags.runtime;
  driver.timing = flags.timing;
  driver.progress = sys::Process::StandardErrIsDisplayed();
  if (!compile(program, driver))
    return 1;
  if (sys::Process::StandardErrIsDisplayed())
    sayWritten(driver);
  return 0;
}
