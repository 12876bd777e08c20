//===- Launch.h - who am I, and starting ranks ------------------*- C++ -*-===//
//
// Finds this process's rank in the environment of the program that started it,
// and starts the ranks of `tessera run -n N`.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_RUNTIME_LAUNCH_H
#define TESSERA_RUNTIME_LAUNCH_H

#include "tessera/Runtime/Status.h"
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::rt {

/// Exit codes of executables.
inline constexpr int exitFailure = 1;
inline constexpr int exitUsage = 2;
/// This rank ended because another rank failed, which has said why.
inline constexpr int exitPeerFailed = 3;

struct RankInfo {
  int rank = 0, worldSize = 1;
  /// Among the ranks of this host.
  int localRank = 0, localSize = 1;
  /// "tessera run", "torchrun", "mpirun", "srun"; "" for a single process.
  std::string starter;
  /// Equal on all ranks of the job on this host, and no other job's.
  std::string job;
  /// Where rank 0 listens when the job spans hosts; "" if nobody said.
  std::string masterAddress;
  int masterPort = 0;

  bool oneHost() const { return localSize == worldSize; }
};

/// A variable of the environment, or nothing.
using Environment =
    std::function<std::optional<std::string>(const std::string &name)>;

/// The rank from, in this order: TESSERA_RANK, TESSERA_WORLD_SIZE,
/// TESSERA_LOCAL_RANK, TESSERA_LOCAL_SIZE, TESSERA_RENDEZVOUS (`tessera run`);
/// RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE (torchrun);
/// OMPI_COMM_WORLD_* (Open MPI); PMI_RANK, PMI_SIZE, MPI_LOCALRANKID,
/// MPI_LOCALNRANKS (MPICH); SLURM_PROCID, SLURM_STEP_NUM_TASKS, SLURM_LOCALID
/// (srun). None of them: a single process. A value that is no number, or a rank
/// that is not below the size, is an error naming the variable.
Expected<RankInfo> detectRank(const Environment &environment);
/// The same from the process's environment.
Expected<RankInfo> detectRank();

/// More processes are not started on one host.
inline constexpr int maxRanks = 4096;

/// Starts `ranks` processes of `command` (a path and its arguments) on this
/// host and waits. Rank 0's output passes through; lines of other ranks are
/// prefixed with "[rank] ". SIGINT, SIGTERM and SIGHUP are passed on. When a
/// rank fails, the others are ended within seconds and one message on standard
/// error names the rank and its exit code or signal. Leftover shared memory is
/// removed. `tellsItself`: a rank that ends with exitFailure or exitUsage has
/// said why, and nothing is added. Returns the exit code for the caller: 0 if
/// every rank returned 0, else that of the rank at fault (128 + signal if it
/// was killed).
int launchRanks(int ranks, const std::vector<std::string> &command,
                bool tellsItself = false);

} // namespace tessera::rt

#endif // TESSERA_RUNTIME_LAUNCH_H
