//===- MmaAvx512.cpp - mma.sync compiled for AVX512
//--------------------------===//

#define TESSERA_MMA_NAME mmaAvx512
#include "MmaBody.h"
