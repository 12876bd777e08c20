//===- VirtualDevice.h - C API of the virtual GPU ---------------*- C -*-===//
//
// A GPU made of host threads and fibers. Device memory is host memory, so a
// kernel also takes plain host pointers. Everything is synchronous: a call
// returns when its work is done, so stream order holds trivially and there is
// no stream argument. All functions may be called from any thread; launches
// of one process are serialised.
//
// A function that can fail returns 0 or a non-zero code; the text is then in
// tessera_virtual_last_error().
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_VIRTUAL_VIRTUALDEVICE_H
#define TESSERA_RUNTIME_VIRTUAL_VIRTUALDEVICE_H

#include "tessera/Runtime/BinaryTable.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tessera_virtual_options {
  /// OS threads that run blocks. 0: hardware cores divided by the ranks on
  /// this node (TESSERA_LOCAL_SIZE, OMPI_COMM_WORLD_LOCAL_SIZE,
  /// SLURM_NTASKS_PER_NODE or LOCAL_WORLD_SIZE), at least 1.
  uint32_t threads;
  /// 0: lanes and warps in index order. Otherwise the seed of a random order,
  /// which also permutes the blocks.
  uint64_t seed;
  /// Non-zero: report races, out-of-bounds, misaligned and uninitialised
  /// accesses, reads before an asynchronous copy is waited for. Needs kernels
  /// compiled with instrumentation; a launch of any other kernel fails.
  uint32_t check;
  /// Non-zero: count FLOPs, bytes, sectors and bank conflicts. Needs
  /// instrumented kernels, like `check`.
  uint32_t count;
  /// Largest number of defects reported per launch (0: 16).
  uint32_t max_reports;
  /// Tensor-core implementation: 0 picks the fastest that the CPU has, 1 plain
  /// portable C, 2 AVX2, 3 AVX-512. A launch fails if the CPU lacks it.
  uint32_t simd;
} tessera_virtual_options;

/// Counts of everything launched since tessera_virtual_reset_counters().
typedef struct tessera_virtual_counters {
  uint64_t launches, blocks, threads;
  uint64_t flops_tensor;   ///< multiply and add each count once
  uint64_t flops_f32, flops_f64, flops_f16; ///< CUDA-core pipes (fma is 2)
  uint64_t ops_special;    ///< exp, rsqrt, ... (special-function unit)
  uint64_t ops_integer;
  uint64_t global_load_bytes, global_store_bytes;   ///< requested by threads
  uint64_t global_load_requests, global_store_requests; ///< warp-wide
  uint64_t global_load_sectors, global_store_sectors;   ///< 32-byte sectors
  uint64_t shared_load_bytes, shared_store_bytes;
  uint64_t shared_load_requests, shared_store_requests;
  /// Wavefronts beyond the first of each warp-wide shared-memory request.
  uint64_t shared_bank_conflicts;
  uint64_t async_copy_bytes, barriers, shuffles;
} tessera_virtual_counters;

/// Options start from the environment: TESSERA_VIRTUAL_THREADS, _SEED, _CHECK,
/// _COUNT, _SIMD. A value that is not a number is an error at the first launch.
void tessera_virtual_get_options(tessera_virtual_options *options);
void tessera_virtual_set_options(const tessera_virtual_options *options);

/// Device memory, 256-byte aligned. Contents start undefined (filled with 0xff
/// bytes, which are NaNs in every float format). Null on failure.
void *tessera_virtual_malloc(uint64_t bytes);
int tessera_virtual_free(void *pointer);
int tessera_virtual_memcpy(void *to, const void *from, uint64_t bytes);
int tessera_virtual_memset(void *to, int byte, uint64_t bytes);

/// For the checker: bytes written by something other than a kernel or the
/// functions above (a collective, a file read into device memory) are
/// initialised. Cheap when checking is off.
void tessera_virtual_note_write(const void *pointer, uint64_t bytes);

/// Runs one kernel to its end. Fails with a text that names the kernel if the
/// launch is illegal (block over 1024 threads, shared memory over the limit of
/// 227 KiB, ...), deadlocks, or the checker found defects.
int tessera_virtual_launch(const tessera_virtual_object *object,
                           uint32_t kernel, const uint64_t grid[3],
                           const uint64_t block[3],
                           uint32_t dynamic_shared_bytes, void **params);

/// Everything is synchronous; present so that a backend can call it. Returns
/// the code of the last failed launch, and 0 if there was none.
int tessera_virtual_synchronize(void);

/// Text of this thread's last failure; "" if there was none. Checker reports
/// come one per line.
const char *tessera_virtual_last_error(void);

void tessera_virtual_get_counters(tessera_virtual_counters *counters);
void tessera_virtual_reset_counters(void);

/// The functions that virtual-GPU code calls, by name: what a loader of
/// objects at run time has to resolve. A static link needs none of this.
typedef struct tessera_virtual_symbol {
  const char *name;
  void *address;
} tessera_virtual_symbol;
const tessera_virtual_symbol *tessera_virtual_symbols(size_t *count);

#ifdef __cplusplus
}
#endif

#endif // TESSERA_RUNTIME_VIRTUAL_VIRTUALDEVICE_H
