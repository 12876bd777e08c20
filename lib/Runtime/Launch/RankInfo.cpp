//===- RankInfo.cpp - who am I --------------------------------------------===//
//
// One table of starters, tried in order: the more specific one first, since
// mpirun and torchrun are often run inside an srun or salloc, whose variables
// are then still there. Variables as documented by Open MPI (mpirun(1)), MPICH
// Hydra, PyTorch (torchrun) and Slurm (srun(1), "OUTPUT ENVIRONMENT
// VARIABLES").
//
//===----------------------------------------------------------------------===//
#include "tessera/Runtime/Launch.h"

#include <charconv>
#include <cstdlib>
#include <unistd.h>

namespace tessera::rt {

namespace {
struct Starter {
  const char *name;
  const char *rank, *size, *localRank, *localSize;
};
constexpr Starter starters[] = {
    {"tessera run", "TESSERA_RANK", "TESSERA_WORLD_SIZE", "TESSERA_LOCAL_RANK",
     "TESSERA_LOCAL_SIZE"},
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
    {"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
     "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"mpirun", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"srun", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
};

Expected<int> number(const Environment &env, const char *name, int low,
                     int high) {
  auto text = env(name);
  if (!text)
    return failure("environment variable ", name, " is not set");
  int value = 0;
  const char *end = text->data() + text->size();
  auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < low || value > high)
    return failure("environment variable ", name, " is '", *text,
                   "', expected a number from ", low, " to ", high);
  return value;
}

/// The number of tasks on node `node` in Slurm's "2(x3),1" notation.
Expected<int> slurmTasks(const std::string &text, int node) {
  size_t at = 0;
  auto digits = [&]() {
    int value = -1;
    auto r =
        std::from_chars(text.data() + at, text.data() + text.size(), value);
    at = r.ptr - text.data();
    return r.ec == std::errc() ? value : -1;
  };
  for (int first = 0; at < text.size();) {
    int tasks = digits(), repeat = 1;
    if (text.compare(at, 2, "(x") == 0) {
      at += 2;
      repeat = digits();
      if (at >= text.size() || text[at] != ')')
        repeat = -1;
      ++at;
    }
    if (tasks < 1 || repeat < 1)
      break;
    if (node < first + repeat)
      return tasks;
    first += repeat;
    if (at < text.size() && text[at] == ',')
      ++at;
  }
  return failure("environment variable SLURM_STEP_TASKS_PER_NODE is '", text,
                 "', expected a list like 4(x2) covering node ", node);
}

std::string orEmpty(const Environment &env, const char *name) {
  return env(name).value_or("");
}

/// What tells this job from others on the host.
std::string jobOf(const Environment &env, const Starter &starter) {
  std::string name = starter.name;
  if (name == "tessera run")
    return name + orEmpty(env, "TESSERA_RENDEZVOUS");
  if (name == "torchrun")
    return name + orEmpty(env, "TORCHELASTIC_RUN_ID") + "/" +
           orEmpty(env, "MASTER_ADDR") + ":" + orEmpty(env, "MASTER_PORT") +
           "/" + orEmpty(env, "TORCHELASTIC_RESTART_COUNT");
  if (name == "srun")
    return name + orEmpty(env, "SLURM_JOB_ID") + "." +
           orEmpty(env, "SLURM_STEP_ID");
  if (env("PMIX_NAMESPACE"))
    return name + orEmpty(env, "PMIX_NAMESPACE");
  if (env("OMPI_MCA_ess_base_jobid"))
    return name + orEmpty(env, "OMPI_MCA_ess_base_jobid");
  // The ranks of a host are children of one proxy.
  return name + "parent" + std::to_string(getppid());
}
} // namespace

Expected<RankInfo> detectRank(const Environment &env) {
  RankInfo info;
  const int many = 1 << 20;
  for (const Starter &starter : starters) {
    if (!env(starter.rank) || !env(starter.size))
      continue;
    auto size = number(env, starter.size, 1, many);
    if (!size)
      return size.status();
    auto rank = number(env, starter.rank, 0, *size - 1);
    if (!rank)
      return rank.status();
    info.rank = *rank;
    info.worldSize = *size;
    info.starter = starter.name;
    int localSize = *size;
    if (starter.localSize && env(starter.localSize)) {
      auto value = number(env, starter.localSize, 1, *size);
      if (!value)
        return value.status();
      localSize = *value;
    } else if (auto tasks = env("SLURM_STEP_TASKS_PER_NODE");
               tasks && info.starter == "srun") {
      auto node = number(env, "SLURM_NODEID", 0, many);
      if (!node)
        return node.status();
      auto value = slurmTasks(*tasks, *node);
      if (!value)
        return value.status();
      localSize = *value;
    }
    info.localSize = localSize;
    info.localRank = *rank;
    if (env(starter.localRank)) {
      auto value = number(env, starter.localRank, 0, localSize - 1);
      if (!value)
        return value.status();
      info.localRank = *value;
    } else if (localSize != *size) {
      return failure("environment variable ", starter.localRank,
                     " is not set (started by ", starter.name, ")");
    }
    info.job = jobOf(env, starter);
    info.masterAddress = orEmpty(env, "MASTER_ADDR");
    if (env("TESSERA_PORT")) {
      auto port = number(env, "TESSERA_PORT", 1, 65535);
      if (!port)
        return port.status();
      info.masterPort = *port;
    } else if (env("MASTER_PORT")) {
      // torchrun's own store listens on MASTER_PORT.
      auto port = number(env, "MASTER_PORT", 1, 65534);
      if (!port)
        return port.status();
      info.masterPort = *port + 1;
    }
    return info;
  }
  return info;
}

Expected<RankInfo> detectRank() {
  return detectRank([](const std::string &name) -> std::optional<std::string> {
    const char *value = std::getenv(name.c_str());
    if (!value)
      return std::nullopt;
    return std::string(value);
  });
}

} // namespace tessera::rt
