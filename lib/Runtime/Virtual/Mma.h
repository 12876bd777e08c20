//===- Mma.h - Tensor-core bodies of the virtual GPU ------------*- C++ -*-===//
//
// One body, MmaBody.h, compiled three times for different CPUs and chosen at
// run time.
//
//===----------------------------------------------------------------------===//

#ifndef TESSERA_LIB_RUNTIME_VIRTUAL_MMA_H
#define TESSERA_LIB_RUNTIME_VIRTUAL_MMA_H

#include "tessera/Runtime/Virtual/DeviceAbi.h"

#include <cstdint>

namespace tessera {
namespace vgpu {

/// Operands of one program expanded to f32, in matrix order.
struct MmaScratch {
  alignas(64) float a[MmaProgram::MaxA][16][16]; ///< [row][k]
  alignas(64) float b[MmaProgram::MaxB][16][8];  ///< [k][column]
};

/// Runs a program (see MmaProgram) on the frame of a full warp.
using MmaFunction = void (*)(char *frame, const uint32_t *program,
                             MmaScratch &scratch);

void mmaPortable(char *frame, const uint32_t *program, MmaScratch &scratch);
void mmaAvx2(char *frame, const uint32_t *program, MmaScratch &scratch);
void mmaAvx512(char *frame, const uint32_t *program, MmaScratch &scratch);

/// `simd` as in tessera_virtual_options. Null if this CPU (or this build)
/// lacks it.
MmaFunction selectMma(uint32_t simd);

/// Depth of one mma of the kind: 16, 8 or 4.
constexpr uint32_t mmaDepth(MmaKind kind) {
  return kind == MmaKind::BF16K16 || kind == MmaKind::F16K16 ? 16
         : kind == MmaKind::TF32K4                           ? 4
                                                             : 8;
}

} // namespace vgpu
} // namespace tessera

#endif // TESSERA_LIB_RUNTIME_VIRTUAL_MMA_H
