//===- KernelAttrs.td - all attributes of the dialect ------*- tablegen -*-===//
include "dialects/Kernel/KernelConfigAttrs.td"
include "dialects/Kernel/KernelTargetAttrs.td"
