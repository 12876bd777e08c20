//===- Checker.cpp - The checking mode ------------------------------------===//

#include "Checker.h"

#include "LaunchState.h"
#include "Memory.h"
#include "Worker.h"

#include <cstring>

using namespace tessera::vgpu;

Checker::Checker(Worker &worker, Reports &reports)
    : worker(worker), reports(reports) {
  const LaunchState &launch = *worker.launch;
  const tessera_virtual_kernel &kernel = *launch.kernel;
  for (uint32_t i = 0; i < kernel.num_params; ++i) {
    if (!kernel.param_bytes[i])
      continue;
    const char *base;
    std::memcpy(&base, launch.params[i], sizeof(base));
    extents.push_back({base, kernel.param_bytes[i], i});
  }
  shared = worker.block.shared;
  size_t bytes = static_cast<size_t>(worker.block.dynamic_shared - shared) +
                 launch.dynamicSharedBytes;
  cells.resize(bytes);
  warpEpochs.resize(MaxWarps);
}

void Checker::beginBlock() {
  std::fill(cells.begin(), cells.end(), Cell());
  blockEpoch = 0;
  std::fill(warpEpochs.begin(), warpEpochs.end(), 0);
}

Checker::Event Checker::eventOf(const Thread &thread, uint32_t location) const {
  Event event;
  event.thread = static_cast<uint16_t>(thread.linear);
  event.blockEpoch = blockEpoch;
  event.warpEpoch = warpEpochs[thread.warp];
  event.location = location;
  return event;
}

bool Checker::ordered(const Event &before, const Event &now) const {
  if (!before.exists() || before.thread == now.thread ||
      before.blockEpoch != now.blockEpoch)
    return true;
  return before.thread / WarpSize == now.thread / WarpSize &&
         before.warpEpoch != now.warpEpoch;
}

std::string Checker::offsetText(uint64_t offset) const {
  uint64_t fixed =
      static_cast<uint64_t>(worker.block.dynamic_shared - worker.block.shared);
  if (offset >= fixed)
    return "byte " + std::to_string(offset - fixed) +
           " of dynamic shared memory";
  return "byte " + std::to_string(offset) + " of shared memory";
}

void Checker::race(Thread &thread, const char *what, const Event &before,
                   uint64_t offset, uint32_t location) {
  if (!reports.wants(Defect::SharedRace, location, before.location))
    return;
  const Thread &other =
      worker.threadAt(before.thread / WarpSize, before.thread % WarpSize);
  reports.add(std::string("shared-memory race (") + what + ") on " +
              offsetText(offset) + ": " + worker.describe(thread, location) +
              " and " + worker.describe(other, before.location) +
              " have no barrier between them");
}

void Checker::checkAlignment(Thread &thread, const void *address,
                             uint32_t alignment, uint32_t location) {
  if (alignment < 2 || reinterpret_cast<uintptr_t>(address) % alignment == 0)
    return;
  worker.fail("misaligned access, expected a multiple of " +
              std::to_string(alignment) + " bytes: " +
              worker.describe(thread, location));
}

void Checker::outOfBounds(Thread &thread, const std::string &text,
                          uint32_t location) {
  worker.fail("out of bounds: " + text + ": " +
              worker.describe(thread, location));
}

void Checker::sharedAccess(Thread &thread, const char *address, uint32_t bytes,
                           bool store, bool atomic, uint32_t location) {
  int64_t offset = address - shared;
  if (offset < 0 || static_cast<uint64_t>(offset) + bytes > cells.size()) {
    outOfBounds(thread,
                std::to_string(bytes) + " bytes at byte " +
                    std::to_string(offset) + " of " +
                    std::to_string(cells.size()) + " bytes of shared memory",
                location);
    return;
  }
  Event now = eventOf(thread, location);
  bool reads = !store || atomic;
  for (uint32_t i = 0; i < bytes; ++i) {
    Cell &cell = cells[static_cast<size_t>(offset) + i];
    uint64_t place = static_cast<uint64_t>(offset) + i;
    if (cell.copy.exists()) {
      if (reports.wants(Defect::MissingWait, location, cell.copy.location)) {
        const Thread &issuer = worker.threadAt(cell.copy.thread / WarpSize,
                                               cell.copy.thread % WarpSize);
        reports.add(std::string(store ? "write to " : "read of ") +
                    offsetText(place) +
                    " before the wait for an asynchronous copy to it: " +
                    worker.describe(thread, location) + "; copy issued by " +
                    worker.describe(issuer, cell.copy.location));
      }
    } else if (reads && !cell.initialised &&
               reports.wants(Defect::Uninitialised, location, 0)) {
      reports.add("read of uninitialised " + offsetText(place) + ": " +
                  worker.describe(thread, location));
    }
    // Atomic operations do not race with each other; both are "writes" of the
    // same location here, which only compares with plain ones.
    if (!ordered(cell.write, now) && !(atomic && cell.write.pad))
      race(thread, store ? "write after write" : "read after write", cell.write,
           place, location);
    if (store) {
      if (!ordered(cell.read, now))
        race(thread, "write after read", cell.read, place, location);
      else if (!ordered(cell.otherRead, now))
        race(thread, "write after read", cell.otherRead, place, location);
      cell.write = now;
      cell.write.pad = atomic;
      cell.initialised = true;
      continue;
    }
    if (cell.read.thread == now.thread || ordered(cell.read, now)) {
      cell.read = now;
    } else {
      cell.otherRead = cell.read;
      cell.read = now;
    }
  }
}

void Checker::globalAccess(Thread &thread, const char *address, uint32_t bytes,
                           bool store, uint32_t argument, uint32_t location) {
  const Extent *own = nullptr;
  bool inside = false;
  for (const Extent &extent : extents) {
    bool here = address >= extent.base &&
                address + bytes <= extent.base + extent.bytes;
    if (extent.argument == argument)
      own = &extent;
    inside |= here;
    if (own == &extent && here)
      break;
  }
  if (own) {
    int64_t offset = address - own->base;
    if (offset < 0 || static_cast<uint64_t>(offset) + bytes > own->bytes) {
      outOfBounds(thread,
                  std::to_string(bytes) + " bytes at byte " +
                      std::to_string(offset) + " of argument #" +
                      std::to_string(argument) + ", which has " +
                      std::to_string(own->bytes) + " bytes",
                  location);
      return;
    }
  } else if (!inside) {
    Allocation allocation = findAllocation(address);
    if (!allocation.base ||
        address + bytes > allocation.base + allocation.bytes) {
      outOfBounds(thread,
                  std::to_string(bytes) +
                      " bytes in no argument of the kernel and in no "
                      "allocation",
                  location);
      return;
    }
  }
  if (store) {
    noteInitialised(address, bytes);
  } else if (!isInitialised(address, bytes) &&
             reports.wants(Defect::Uninitialised, location, 1)) {
    std::string where =
        own ? "byte " + std::to_string(address - own->base) + " of argument #" +
                  std::to_string(argument)
            : std::string("device memory");
    reports.add("read of uninitialised global memory (" + where + "): " +
                worker.describe(thread, location));
  }
}

void Checker::access(Thread &thread, const void *address, uint32_t bytes,
                     uint32_t flags, uint32_t argument, uint32_t location) {
  if (!bytes)
    return;
  checkAlignment(thread, address, flags >> AccessAlignmentShift, location);
  auto *place = static_cast<const char *>(address);
  bool store = flags & AccessStore, atomic = flags & AccessAtomic;
  // A generic pointer is shared if it points there.
  bool isShared =
      (flags & AccessShared) ||
      (!(flags & AccessGlobal) && place >= shared &&
       place < shared + cells.size());
  if (isShared)
    sharedAccess(thread, place, bytes, store, atomic, location);
  else
    globalAccess(thread, place, bytes, store, argument, location);
}

void Checker::loadMatrix(Thread &runner, const char *const *rows,
                         uint32_t matrices, uint32_t location) {
  for (uint32_t lane = 0; lane < 8 * matrices; ++lane) {
    Thread &thread = worker.threadAt(runner.warp, lane);
    checkAlignment(thread, rows[lane], 16, location);
    sharedAccess(thread, rows[lane], 16, /*store=*/false, /*atomic=*/false,
                 location);
  }
}

void Checker::copyIssued(Thread &thread, const AsyncCopy &copy) {
  checkAlignment(thread, copy.to, copy.bytes, copy.location);
  checkAlignment(thread, copy.from, copy.fromBytes ? copy.bytes : 1,
                 copy.location);
  // From here to the wait the bytes may change at any time.
  sharedAccess(thread, static_cast<const char *>(copy.to), copy.bytes,
               /*store=*/true, /*atomic=*/false, copy.location);
  Event now = eventOf(thread, copy.location);
  size_t offset =
      static_cast<size_t>(static_cast<const char *>(copy.to) - shared);
  for (uint32_t i = 0; i < copy.bytes; ++i)
    cells[offset + i].copy = now;
}

void Checker::copyLanded(Thread &thread, const AsyncCopy &copy) {
  size_t offset =
      static_cast<size_t>(static_cast<const char *>(copy.to) - shared);
  Event now = eventOf(thread, copy.location);
  for (uint32_t i = 0; i < copy.bytes; ++i) {
    Cell &cell = cells[offset + i];
    cell.copy = Event();
    cell.write = now;
    cell.initialised = true;
  }
}
