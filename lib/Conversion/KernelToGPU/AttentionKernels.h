//===- AttentionKernels.h - the two attention builders --------------------===//
#ifndef TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONKERNELS_H
#define TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONKERNELS_H

#include "tessera/Conversion/KernelToGPU/KernelBuilder.h"

namespace tessera::kernels {

/// Fill the body of the kernel that `kb` stands in. Spec and config are legal.
void buildTensorCoreAttention(KernelBuilder &kb, const AttentionSpec &spec,
                              const AttentionConfig &config);
void buildVectorAttention(KernelBuilder &kb, const AttentionSpec &spec,
                          const AttentionConfig &config);

} // namespace tessera::kernels

#endif // TESSERA_LIB_CONVERSION_KERNELTOGPU_ATTENTIONKERNELS_H
