//===- TesseraOps.td - all ops of the dialect --------------*- tablegen -*-===//
include "dialects/Tessera/TesseraModelOps.td"
include "dialects/Tessera/TesseraGraphOps.td"
include "dialects/Tessera/TesseraLocalOps.td"
include "dialects/Tessera/TesseraMoEOps.td"
include "dialects/Tessera/TesseraRelativeOps.td"
