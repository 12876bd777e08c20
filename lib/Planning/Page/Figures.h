//===- Figures.h - pictures of layouts --------------------------*- C++ -*-===//
//
// Each returns one `<svg>` element that takes the colours of text from the page
// around it.
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_PAGE_FIGURES_H
#define TESSERA_LIB_PLANNING_PAGE_FIGURES_H

#include "Detail.h"

namespace tessera {

/// Stages x time: forward, backward, recomputation, transfers, what waits, and
/// the end of the step.
std::string timelineFigure(const LayoutDetail &detail);

/// Where the time of each step goes, one bar for each.
struct NamedStep {
  std::string name;
  const StepTime *step;
};
std::string timeFigure(const std::vector<NamedStep> &steps);

/// What a rank of each stage holds, against the limit in bytes.
std::string memoryFigure(const LayoutDetail &detail, double limit);

/// Kernels that a table beside the roofline lists, the first by time; the
/// picture has their numbers in that list.
constexpr size_t kListedKernels = 8;

/// Every kernel's rate over its arithmetic intensity, under the chip's roofs.
std::string rooflineFigure(const LayoutDetail &detail);

/// Step time against memory.
std::string frontFigure(const std::vector<Candidate> &front);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_FIGURES_H
