//===- Watch.h - Chooses the observer of a worker ---------------*- C++ -*-===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_WATCH_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_WATCH_H

#include "Observer.h"

#include <memory>

namespace tessera {
namespace vgpu {

class Worker;

/// The observer that the launch's options ask for; null if neither checking
/// nor counting. The worker's shared memory has to be in place.
std::unique_ptr<Observer> createObserver(Worker &worker);

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_WATCH_H
