//===- Launches.h - what emit-check-kernels leaves for gpu-check -*- C -*--===//
#ifndef TEST_KERNELCHECK_LAUNCHES_H
#define TEST_KERNELCHECK_LAUNCHES_H

#include "tessera/Runtime/BinaryTable.h"

/// How one case is launched; in the order of allCases().
struct tessera_check_launch {
  const tessera_binary_table *table;
  uint32_t kernel; ///< index in `table`
  uint32_t dynamic_shared_bytes;
  uint64_t grid[3], block[3];
};

extern "C" const tessera_check_launch tessera_check_launches[];
extern "C" const uint64_t tessera_check_num_launches;

#endif // TEST_KERNELCHECK_LAUNCHES_H
