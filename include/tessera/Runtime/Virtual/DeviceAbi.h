//===- DeviceAbi.h - What virtual-GPU code sees of the runtime --*- C++ -*-===//
//
// The binary interface between code that lib/Target/Virtual emits and this
// runtime: the start of the thread and block contexts, read at fixed offsets,
// and the functions that the code calls. Everything here is duplicated nowhere:
// the compiler includes this file for the offsets and names.
//
// A warp collective is a rendezvous. Each lane stores the values that it
// brings into the warp's frame, structure-of-arrays (`slot[lane]`), and calls
// tessera_virtual_collective with a *segment*: a compiled function that holds
// a run of collectives and the arithmetic between them for all 32 lanes. The
// last lane to arrive runs it; then every lane loads its results.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_VIRTUAL_DEVICEABI_H
#define TESSERA_RUNTIME_VIRTUAL_DEVICEABI_H

#include "tessera/Runtime/BinaryTable.h"

#include <stddef.h>
#include <stdint.h>

extern "C" {

/// One block (CTA). Constant while its threads run.
struct tessera_virtual_block {
  uint32_t ntid[3];
  uint32_t ctaid[3];
  uint32_t nctaid[3];
  uint32_t reserved;
  char *shared;         ///< static shared memory of the kernel
  char *dynamic_shared; ///< behind it
};

/// One CUDA thread.
struct tessera_virtual_thread {
  uint32_t tid[3];
  uint32_t lane;
  uint32_t warp;   ///< index in the block
  uint32_t linear; ///< x fastest
  const tessera_virtual_block *block;
  /// The warp's frame, 64-byte aligned, for the next collective: load it before
  /// each; results are in the frame that was loaded.
  char *frame;
};

/// A run of collectives for the whole warp. `self` is the lane that runs it.
typedef void (*tessera_virtual_segment)(char *frame,
                                        tessera_virtual_thread *self);

/// Location identifiers index tessera_virtual_kernel::locations.
void tessera_virtual_collective(tessera_virtual_thread *self,
                                tessera_virtual_segment segment,
                                uint32_t location);
/// Member masks that are not the constant -1 come here first.
void tessera_virtual_member_mask(tessera_virtual_thread *self, uint32_t mask,
                                 uint32_t location);
/// bar.sync `id`, `count`; count 0 means every thread of the block.
void tessera_virtual_barrier(tessera_virtual_thread *self, uint32_t id,
                             uint32_t count, uint32_t location);

/// Called from segments. Offsets are bytes into the frame.
void tessera_virtual_ldmatrix(char *frame, tessera_virtual_thread *self,
                              uint32_t address, uint32_t matrices,
                              uint32_t transposed, const uint32_t *results,
                              uint32_t location);
/// Runs a list of mma.sync, see MmaProgram below.
void tessera_virtual_mma(char *frame, tessera_virtual_thread *self,
                         const uint32_t *program, uint32_t location);
/// shfl.sync on 32-bit values with lane-varying offsets. `kind` is the PTX
/// mode: 0 bfly, 1 up, 2 down, 3 idx. `valid` is ~0u or a slot of bytes.
void tessera_virtual_shuffle(char *frame, tessera_virtual_thread *self,
                             uint32_t kind, uint32_t value, uint32_t offset,
                             uint32_t clamp, uint32_t result, uint32_t valid);
/// vote.sync: 0 any, 1 all, 2 ballot, 3 uni. `predicate` is a slot of bytes,
/// `result` a slot of bytes or, for ballot, of 32-bit words.
void tessera_virtual_vote(char *frame, tessera_virtual_thread *self,
                          uint32_t kind, uint32_t predicate, uint32_t result);
/// __syncwarp: orders shared-memory accesses of the warp.
void tessera_virtual_warp_sync(char *frame, tessera_virtual_thread *self);

/// cp.async of `bytes` (4, 8 or 16); the first `from_bytes` come from `from`,
/// the rest is zero. Lands at the wait.
void tessera_virtual_async_copy(tessera_virtual_thread *self, void *to,
                                const void *from, uint32_t bytes,
                                uint32_t from_bytes, uint32_t location);
void tessera_virtual_async_commit(tessera_virtual_thread *self);
/// Lands all but the newest `pending` groups of this thread.
void tessera_virtual_async_wait(tessera_virtual_thread *self, uint32_t pending);
/// cp.async.wait_all: committed or not.
void tessera_virtual_async_wait_all(tessera_virtual_thread *self);

/// cf.assert.
void tessera_virtual_assert_fail(tessera_virtual_thread *self,
                                 const char *message, uint32_t location);

/// Instrumented code only, before the access. `flags` are AccessFlags plus the
/// required alignment; `argument` is the kernel argument that the address was
/// computed from, or ~0u.
void tessera_virtual_access(tessera_virtual_thread *self, const void *address,
                            uint32_t bytes, uint32_t flags, uint32_t argument,
                            uint32_t location);
void tessera_virtual_count(tessera_virtual_thread *self, uint32_t pipe,
                           uint32_t operations);
}

namespace tessera {
namespace vgpu {

/// Flags of tessera_virtual_access.
enum AccessFlags : uint32_t {
  AccessStore = 1,
  AccessAtomic = 2,
  AccessShared = 4, ///< the pointer was in address space 3
  AccessGlobal = 8, ///< the pointer was in address space 1
};
/// The alignment in bytes stands in the upper bits of the flags.
constexpr uint32_t AccessAlignmentShift = 8;

/// Pipes of tessera_virtual_count.
enum class Pipe : uint32_t { F32, F64, F16, Special, Integer, Shuffle };

/// Element types of tensor-core operands. Accumulators are f32.
enum class MmaKind : uint32_t {
  BF16K16 = 0, ///< m16n8k16, A 4 registers, B 2
  F16K16 = 1,
  BF16K8 = 2, ///< m16n8k8, A 2 registers, B 1
  F16K8 = 3,
  TF32K8 = 4, ///< m16n8k8, A 4 registers, B 2
  TF32K4 = 5, ///< m16n8k4, A 2 registers, B 1
};

/// Layout of the program of tessera_virtual_mma, all 32-bit words:
///   kind, #A, #B, #mma,
///   4 frame offsets per A operand (registers; unused ones 0),
///   2 frame offsets per B operand,
///   per mma: index of A, index of B, 4 offsets of C, 4 offsets of D.
struct MmaProgram {
  static constexpr uint32_t Header = 4, WordsPerA = 4, WordsPerB = 2,
                            WordsPerMma = 10;
  /// Most operands of each kind that one program may hold (scratch memory).
  static constexpr uint32_t MaxA = 32, MaxB = 32;
};

constexpr uint32_t WarpSize = 32;

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_RUNTIME_VIRTUAL_DEVICEABI_H
