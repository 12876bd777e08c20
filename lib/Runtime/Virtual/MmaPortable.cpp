//===- MmaPortable.cpp - mma.sync on any CPU ------------------------------===//

#define TESSERA_MMA_NAME mmaPortable
#include "MmaBody.h"

MmaFunction tessera::vgpu::selectMma(uint32_t simd) {
#if defined(__x86_64__)
  bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
              __builtin_cpu_supports("f16c");
  bool avx512 = avx2 && __builtin_cpu_supports("avx512f") &&
                __builtin_cpu_supports("avx512vl") &&
                __builtin_cpu_supports("avx512bw") &&
                __builtin_cpu_supports("avx512dq");
  switch (simd) {
  case 0:
    return avx512 ? mmaAvx512 : avx2 ? mmaAvx2 : mmaPortable;
  case 2:
    return avx2 ? mmaAvx2 : nullptr;
  case 3:
    return avx512 ? mmaAvx512 : nullptr;
  default:
    break;
  }
#endif
  return simd <= 1 ? mmaPortable : nullptr;
}
