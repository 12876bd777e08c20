//===- Ldmatrix.cpp - ldmatrix.sync ---------------------------------------===//
//
// PTX ISA, "ldmatrix": lane 8i+r gives the address of row r (16 bytes) of the
// i-th 8x8 matrix of 16-bit elements. Lane 4r+c receives elements 2c and 2c+1
// of row r; with .trans, of column r. So an untransposed result is the rows
// laid end to end, and a transposed one is the transposed matrix's rows.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include <cstring>

using namespace tessera::vgpu;

namespace {
typedef uint16_t Row __attribute__((vector_size(16)));

Row load(const char *address) {
  Row row;
  std::memcpy(&row, address, sizeof(row));
  return row;
}

/// One round rotates the six bits (row, column) of an element's place by one,
/// so three rounds exchange rows and columns.
void interleave(Row rows[8]) {
  Row round[8];
  for (int i = 0; i < 4; ++i) {
    round[2 * i] =
        __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
    round[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5,
                                               13, 6, 14, 7, 15);
  }
  std::memcpy(rows, round, sizeof(round));
}
} // namespace

extern "C" void tessera_virtual_ldmatrix(char *frame,
                                         tessera_virtual_thread *self,
                                         uint32_t address, uint32_t matrices,
                                         uint32_t transposed,
                                         const uint32_t *results,
                                         uint32_t location) {
  Thread &thread = *static_cast<Thread *>(self);
  Worker &worker = *thread.worker;
  if (!worker.fullWarp(thread.warp))
    worker.fail("ldmatrix needs all 32 lanes of the warp at " +
                worker.describe(thread, location));
  auto *rows = reinterpret_cast<const char *const *>(frame + address);
  if (worker.observer)
    worker.observer->loadMatrix(thread, rows, matrices, location);
  for (uint32_t m = 0; m < matrices; ++m) {
    Row tile[8];
    for (uint32_t r = 0; r < 8; ++r)
      tile[r] = load(rows[8 * m + r]);
    if (transposed) {
      interleave(tile);
      interleave(tile);
      interleave(tile);
    }
    std::memcpy(frame + results[m], tile, sizeof(tile));
  }
}
