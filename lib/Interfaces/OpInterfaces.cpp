//===- OpInterfaces.cpp - generated interface definitions -----------------===//
#include "tessera/Interfaces/OpInterfaces.h"

#include "lib/Interfaces/OpInterfaces.cpp.inc"
