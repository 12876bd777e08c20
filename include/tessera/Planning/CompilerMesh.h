//===- CompilerMesh.h - the part of a layout that is compiled ---*- C++ -*-===//
//
// A layout describes a training step. The compiler builds the forward pass
// under data, tensor and sequence parallelism; this is where the two meet.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_PLANNING_COMPILERMESH_H
#define TESSERA_PLANNING_COMPILERMESH_H

#include "tessera/CostModel/Layout.h"
#include <vector>

namespace tessera {

struct CompilerMesh {
  std::string mesh; ///< "dp=2,tp=4", as --mesh takes it
  bool sequenceParallel = false;
  int64_t rows = 1; ///< sequences of one forward pass: dp * mb
  /// Entries of the layout that only mean something in a training step
  /// ("zero=1", "recompute=full").
  std::vector<std::string> unused;
};

/// Fails where the forward pass is spread in a way that the compiler cannot
/// build; the message names every such entry.
llvm::Expected<CompilerMesh> compilerMesh(const Layout &layout);

} // namespace tessera

#endif // TESSERA_PLANNING_COMPILERMESH_H
