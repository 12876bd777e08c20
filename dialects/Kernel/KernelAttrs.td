//===- KernelAttrs.td - all attributes of the dialect ------*- tablegen -*-===//
include "dialects/Kernel/KernelConfigAttrs.td"
