//===- Session.h - one run of a program on one rank -------------*- C++ -*-===//
//
// Private to Program. The stages of a run, in order; each returns a Status that
// the ranks then agree on (Program.cpp), so that all end when one fails.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_PROGRAM_SESSION_H
#define TESSERA_LIB_RUNTIME_PROGRAM_SESSION_H

#include "Options.h"
#include "Output.h"
#include "Report.h"
#include "Tokens.h"
#include "tessera/Runtime/Device.h"
#include "tessera/Runtime/World.h"

namespace tessera::rt {

class Session {
public:
  Session(const Manifest &manifest, const ProgramOptions &options, World &world)
      : manifest(manifest), options(options), world(world),
        coords(manifest.coordinates(world.rank())) {}
  ~Session();

  /// Tokens, checkpoint headers, the output's folder: what a user gets wrong.
  Status checkInputs();
  /// Whether this rank could use CUDA; "" or why not.
  std::string whyNoCuda();
  Status openDevice(DeviceKind kind);
  Status createCommunicators();
  Status allocate();
  Status fillParameters();
  Status fillInputs();
  Status run(ForwardFunction forward);
  Status collectOutputs();
  /// Rank 0 only.
  Status writeOutput();

  const RunResult &result() const { return found; }

private:
  const Manifest &manifest;
  const ProgramOptions &options;
  World &world;
  std::vector<int64_t> coords;
  TokenBatch batch;
  std::optional<Checkpoint> checkpoint;
  std::unique_ptr<Device> device;
  std::vector<ncclComm_t> communicators;
  void *stream = nullptr;
  char *params = nullptr, *arena = nullptr;
  std::vector<GlobalOutput> outputs;
  RunResult found;
};

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_PROGRAM_SESSION_H
