//===- Page.h - reports as one self-contained page --------------*- C++ -*-===//
#ifndef TESSERA_LIB_PLANNING_PAGE_PAGE_H
#define TESSERA_LIB_PLANNING_PAGE_PAGE_H

#include "lib/Planning/Search/Report.h"

namespace tessera {

/// Fails, before the work is done, where the outputs asked for contradict each
/// other or the page cannot be written: no such folder, a folder of that name,
/// no permission. `report` "" is none.
llvm::Error checkOutputs(llvm::StringRef report, bool json, bool details);

/// Writes whole HTML pages; the reports carry their details.
void writePage(const PlanReport &report, llvm::raw_ostream &out);
void writePage(const ExplainReport &report, llvm::raw_ostream &out);

/// The figures of the page by name, each one `<svg>` element.
llvm::json::Object figuresJson(const PlanReport &report);
llvm::json::Object figuresJson(const ExplainReport &report);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_PAGE_H
