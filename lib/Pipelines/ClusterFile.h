//===- ClusterFile.h - clusters written as MLIR -----------------*- C++ -*-===//
#ifndef TESSERA_LIB_PIPELINES_CLUSTERFILE_H
#define TESSERA_LIB_PIPELINES_CLUSTERFILE_H

#include "llvm/Support/Error.h"
#include <string>

namespace tessera {

/// Replaces the path of a `.mlir` file by the cluster in it, as JSON text that
/// `parseCluster` takes; leaves anything else alone. The cluster is the
/// module's `tessera.cluster`, a dictionary with the fields of a cluster's JSON
/// file:
///   module attributes {tessera.cluster = {chip = "h100-sxm", nodes = 16}} {}
llvm::Error readClusterFile(std::string &cluster);

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_CLUSTERFILE_H
