//===- Compile.cpp - from a model to an executable ------------------------===//
#include "tessera/Pipelines/Compile.h"

#include "dialects/Tessera/TesseraDialect.h"
#include "lib/Pipelines/Emit.h"
#include "lib/Pipelines/Progress.h"
#include "lib/Pipelines/SourceCheck.h"
#include "tessera/Import/Import.h"
#include "tessera/Pipelines/Registration.h"
#include "tessera/Support/File.h"
#include "tessera/Support/Printable.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tessera;

static bool fail(const llvm::Twine &message) {
  printError(llvm::errs(), message);
  return false;
}

/// The name that a location without a file has: the op of the model graph it
/// came from.
static StringRef nameOf(Location location) {
  if (auto name = dyn_cast<NameLoc>(location))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(location))
    for (Location part : fused.getLocations())
      if (StringRef name = nameOf(part); !name.empty())
        return name;
  return "";
}

/// Messages about imported models, which no line of a file is to blame for.
static LogicalResult printPlain(Diagnostic &diagnostic) {
  if (diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    return failure(); // the next handler shows the line
  auto kind = [](DiagnosticSeverity severity) -> StringRef {
    switch (severity) {
    case DiagnosticSeverity::Note:
      return "note: ";
    case DiagnosticSeverity::Warning:
      return "warning: ";
    case DiagnosticSeverity::Error:
      return "error: ";
    case DiagnosticSeverity::Remark:
      return "remark: ";
    }
    return "";
  };
  auto print = [&](Diagnostic &message) {
    llvm::errs() << kind(message.getSeverity());
    if (StringRef name = nameOf(message.getLocation()); !name.empty())
      llvm::errs() << name << ": ";
    llvm::errs() << message.str() << "\n";
  };
  print(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    print(note);
  return success();
}

namespace {
class Compilation {
public:
  Compilation(const ProgramOptions &program, const DriverOptions &driver)
      : program(program), driver(driver), registry(makeRegistry()),
        context(registry), handler(sources, &context),
        progress(driver.progress, allPhases().size() + 1) {
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
      progress.clear();
      return printPlain(diagnostic);
    });
  }

  bool run();

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerAllDialects(registry);
    return registry;
  }
  bool checkOutputs();
  bool load(Phase &done);
  bool runPhase(Phase phase);
  bool dump(Phase phase);
  bool emit();

  const ProgramOptions &program;
  const DriverOptions &driver;
  DialectRegistry registry;
  MLIRContext context;
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  Progress progress;
  OwningOpRef<ModuleOp> module;
};
} // namespace

/// The path of the checkpoint goes into the executable, which may be run from
/// any folder.
static void rememberWeights(ModuleOp module) {
  auto facts = module->getAttrOfType<DictionaryAttr>(kModelAttrName);
  auto weights = facts ? facts.getAs<StringAttr>("weights") : StringAttr();
  if (!weights)
    return;
  llvm::SmallString<128> path(weights.getValue());
  llvm::sys::fs::make_absolute(path);
  NamedAttrList changed(facts);
  changed.set("weights", StringAttr::get(module.getContext(), path));
  module->setAttr(kModelAttrName, changed.getDictionary(module.getContext()));
}

/// Makes the first module; `done` is the phase that it is the result of.
bool Compilation::load(Phase &done) {
  if (llvm::sys::path::extension(program.model) == ".mlir") {
    done = driver.from.value_or(Phase::Import);
    if (!llvm::sys::fs::exists(program.model))
      return fail("no file '" + program.model + "'");
    auto buffer = llvm::MemoryBuffer::getFile(program.model);
    if (!buffer)
      return fail("cannot read '" + program.model +
                  "': " + buffer.getError().message());
    sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
    if (!checkVectorTypes(sources))
      return false;
    module = parseSourceFile<ModuleOp>(sources, &context);
    return static_cast<bool>(module);
  }
  if (driver.from)
    return fail("--compile-from takes the .mlir file of a phase, got '" +
                program.model + "'");
  done = Phase::Import;
  ImportOptions options;
  options.model = program.model;
  options.batch = program.batch;
  options.sequence = program.sequence;
  options.dtype = program.dtype;
  FailureOr<OwningOpRef<ModuleOp>> imported = importModel(
      context, options, [](const llvm::Twine &message) { fail(message); });
  if (failed(imported))
    return false;
  module = std::move(*imported);
  rememberWeights(*module);
  return true;
}

bool Compilation::dump(Phase phase) {
  if (driver.dumpPhasesTo.empty())
    return true;
  llvm::SmallString<128> path(driver.dumpPhasesTo);
  llvm::sys::path::append(path, llvm::Twine(static_cast<unsigned>(phase) + 1) +
                                    "." + infoOf(phase).name + ".mlir");
  if (llvm::Error error =
          writeFileAtomically(path, [&](llvm::raw_ostream &out) {
            module->print(out);
            out << "\n";
          }))
    return fail(llvm::toString(std::move(error)));
  return true;
}

bool Compilation::runPhase(Phase phase) {
  PassManager pm(&context);
  std::string why;
  if (!buildPhase(pm, phase, program, driver.emit == EmitKind::Ptx, why))
    return fail(why);
  return succeeded(pm.run(*module));
}

/// What would only be noticed when all work is done.
bool Compilation::checkOutputs() {
  if (llvm::Error error = checkWritable(driver.output))
    return fail(llvm::toString(std::move(error)));
  if (driver.dumpPhasesTo.empty())
    return true;
  if (std::error_code code =
          llvm::sys::fs::create_directories(driver.dumpPhasesTo))
    return fail("cannot create folder '" + driver.dumpPhasesTo +
                "': " + code.message());
  llvm::SmallString<128> inside(driver.dumpPhasesTo);
  llvm::sys::path::append(inside, "1.mlir");
  if (llvm::Error error = checkWritable(inside))
    return fail(llvm::toString(std::move(error)));
  return true;
}

bool Compilation::run() {
  if (!checkOutputs())
    return false;
  Phase done;
  progress.begin(infoOf(driver.from.value_or(Phase::Import)).name);
  if (!load(done))
    return false;
  progress.end();
  if (driver.to < done)
    return fail("cannot compile from '" + infoOf(done).name + "' to '" +
                infoOf(driver.to).name + "', which comes before it");
  if (!dump(done))
    return false;
  for (const PhaseInfo &info : allPhases()) {
    if (info.phase <= done || info.phase > driver.to)
      continue;
    progress.begin(info.name);
    if (!runPhase(info.phase) || !dump(info.phase))
      return false;
    progress.end();
  }
  if (!emit())
    return false;
  progress.clear();
  if (driver.timing)
    progress.printTimes(llvm::errs());
  return true;
}

bool Compilation::emit() {
  std::string error;
  if (driver.emit == EmitKind::Mlir) {
    progress.begin("write");
    error = emitModule(*module, driver.output);
  } else if (driver.emit == EmitKind::Counts ||
             driver.emit == EmitKind::CountsJson) {
    progress.begin("count");
    error =
        emitCounts(*module, driver.output, driver.emit == EmitKind::CountsJson);
  } else if (driver.emit == EmitKind::Llvm) {
    progress.begin("write");
    error = emitLlvm(*module, driver.output);
  } else if (driver.emit == EmitKind::Exe) {
    progress.begin("link");
    error = emitExecutable(*module, driver.output, driver.runtimeArchive);
  } else {
    progress.begin("write");
    error = emitImages(*module, driver.output, driver.emit == EmitKind::Cubin);
  }
  progress.end();
  return error.empty() || fail(error);
}

bool tessera::compile(const ProgramOptions &program,
                      const DriverOptions &driver) {
  return Compilation(program, driver).run();
}
