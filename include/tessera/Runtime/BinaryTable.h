//===- BinaryTable.h - What an executable embeds of its kernels -*- C -*-===//
//
// The C contract between the code that the compiler emits and the runtime:
// one table per gpu.binary with every device image (cubin, PTX, virtual-GPU
// code), and one launch entry. Tables are constant data: nothing runs before
// main, and the runtime chooses an image for its device when it first needs
// one.
//
// Virtual-GPU code is host code linked into the executable; the table refers
// to it by symbol (see tessera_virtual_object). A reference to an object that
// was not linked is a link error, never a surprise at run time.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_RUNTIME_BINARYTABLE_H
#define TESSERA_RUNTIME_BINARYTABLE_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TESSERA_BINARY_TABLE_VERSION 1u
#define TESSERA_VIRTUAL_OBJECT_VERSION 1u

struct tessera_virtual_thread;

/// Body of a kernel on the virtual GPU: runs one CUDA thread. `params[i]`
/// points to the value of the i-th argument, as in cuLaunchKernel.
typedef void (*tessera_virtual_entry)(struct tessera_virtual_thread *self,
                                      void *const *params);

/// One kernel of a virtual-GPU object.
typedef struct tessera_virtual_kernel {
  const char *name;
  tessera_virtual_entry entry;
  /// Static shared memory in bytes (dynamic shared memory comes on top).
  uint64_t shared_bytes;
  /// Scratch that each warp needs for its collectives, in bytes.
  uint64_t warp_frame_bytes;
  /// Number of arguments, and for each pointer argument the bytes of the
  /// memref behind it (0: not a pointer, or extent unknown). The checking
  /// mode holds accesses to these extents.
  uint32_t num_params;
  const uint64_t *param_bytes;
  /// Required block shape, all 0 if any will do.
  uint32_t block[3];
  /// 1 if loads and stores call the checker and the counters.
  uint32_t instrumented;
  /// Source operation of each instrumented access ("memref.load at
  /// file:line:column"); indexed by the identifier the code passes.
  uint32_t num_locations;
  const char *const *locations;
} tessera_virtual_kernel;

/// All kernels of one gpu.module as host code. The symbol is
/// `tessera_virtual_object_<module>`.
typedef struct tessera_virtual_object {
  uint32_t version; ///< TESSERA_VIRTUAL_OBJECT_VERSION
  uint32_t num_kernels;
  const tessera_virtual_kernel *kernels;
} tessera_virtual_object;

typedef enum tessera_image_kind {
  TESSERA_IMAGE_CUBIN = 1, ///< ELF for exactly one chip family
  TESSERA_IMAGE_PTX = 2,   ///< zero-terminated text, compiled by the driver
} tessera_image_kind;

/// One device image held as data.
typedef struct tessera_image {
  uint32_t kind;    ///< tessera_image_kind
  uint32_t sm;      ///< 80 for sm_80, 90 for sm_90 and sm_90a
  const char *chip; ///< "sm_90a"
  const void *data; ///< 16-byte aligned
  uint64_t size;    ///< bytes, without the terminating zero of PTX
} tessera_image;

/// Everything a gpu.binary holds.
typedef struct tessera_binary_table {
  uint32_t version; ///< TESSERA_BINARY_TABLE_VERSION
  uint32_t num_kernels;
  const char *name;                 ///< the gpu.binary's symbol
  const char *const *kernel_names;  ///< launch index -> kernel name
  /// Null if the binary holds no virtual-GPU code. Otherwise
  /// `virtual_object->kernels[i].name` equals `kernel_names[i]`.
  const tessera_virtual_object *virtual_object;
  uint32_t num_images;
  uint32_t reserved;
  const tessera_image *images;
  /// Owned by the runtime (loaded module, function handles); starts null.
  void **state;
} tessera_binary_table;

/// Enqueues kernel number `kernel` of `table` on `stream` (lib/Runtime/Device
/// implements it for every backend). Launch failures are fatal to the program:
/// the runtime prints one message that names the kernel and exits non-zero.
void tessera_launch(const tessera_binary_table *table, uint32_t kernel,
                    uint64_t grid_x, uint64_t grid_y, uint64_t grid_z,
                    uint64_t block_x, uint64_t block_y, uint64_t block_z,
                    uint32_t dynamic_shared_bytes, void *stream, void **params);

#ifdef __cplusplus
}
#endif

#endif // TESSERA_RUNTIME_BINARYTABLE_H
