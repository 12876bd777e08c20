//===- Compile.h - from a model to an executable ----------------*- C++ -*-===//
#ifndef TESSERA_PIPELINES_COMPILE_H
#define TESSERA_PIPELINES_COMPILE_H

#include "tessera/Pipelines/Phase.h"

#include "mlir/Pass/PassManager.h"

#include <string>
#include <vector>

namespace tessera {

/// What is written when compilation ends.
enum class EmitKind {
  Mlir,  ///< the module after the last phase
  Llvm,  ///< the host module as LLVM IR
  Ptx,   ///< the kernels as PTX
  Cubin, ///< the kernels as cubin
  Exe,   ///< the executable
  Counts,
  CountsJson, ///< what one rank's program does, before it has kernels
};

/// What of a compilation changes the program.
struct ProgramOptions {
  std::string model; ///< folder, config.json or .mlir file
  std::string mesh = "dp=1,tp=1";
  int64_t sequence = 0; ///< tokens; 0: the model's number of positions
  int64_t batch = 1;    ///< of all ranks together
  std::string dtype;    ///< "f32", "bf16" or "" for the checkpoint's
  std::vector<std::string> chips = {"sm_80", "sm_90"};
  std::string sequenceParallel = "auto"; ///< auto, on, off
  bool virtualGpu = true;
  std::string virtualCpu = "native"; ///< CPU that runs the virtual GPU's code
  bool instrument = false; ///< virtual-GPU code for --check and --count
};

/// What of a compilation does not.
struct DriverOptions {
  std::string output; ///< "-": standard output (text only)
  EmitKind emit = EmitKind::Exe;
  std::optional<Phase> from; ///< the input is what this phase gives
  Phase to = Phase::Binary;
  std::string dumpPhasesTo; ///< folder for N.phase.mlir, "" for none
  std::string runtimeArchive;
  bool timing = false;
  bool progress = false;
};

/// The passes of one phase. False and `why` if an option does not fit.
bool buildPhase(mlir::OpPassManager &pm, Phase phase,
                const ProgramOptions &program, bool ptxOnly, std::string &why);

/// Compiles; messages go to standard error. True on success, otherwise no
/// output file is left.
bool compile(const ProgramOptions &program, const DriverOptions &driver);

} // namespace tessera

#endif // TESSERA_PIPELINES_COMPILE_H
