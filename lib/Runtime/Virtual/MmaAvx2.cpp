//===- MmaAvx2.cpp - mma.sync compiled for AVX2 --------------------------===//

#define TESSERA_MMA_NAME mmaAvx2
#include "MmaBody.h"
