//===- Worlds.h - the kinds of world ----------------------------*- C++ -*-===//
//
// Private to Launch: how World::join makes each kind.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_RUNTIME_LAUNCH_WORLDS_H
#define TESSERA_LIB_RUNTIME_LAUNCH_WORLDS_H

#include "tessera/Runtime/World.h"

namespace tessera::rt {

Expected<std::unique_ptr<World>> joinSharedMemory(const RankInfo &info,
                                                  double timeoutSeconds);
Expected<std::unique_ptr<World>> joinTcp(const RankInfo &info,
                                         double timeoutSeconds);

uint64_t randomNonce();

/// Start of the segment names of a job, without the leading "/".
std::string jobSegmentStem(const std::string &job);

} // namespace tessera::rt

#endif // TESSERA_LIB_RUNTIME_LAUNCH_WORLDS_H
