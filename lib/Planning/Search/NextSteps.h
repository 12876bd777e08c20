//===- NextSteps.h - what to do with a plan ---------------------*- C++ -*-===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_NEXTSTEPS_H
#define TESSERA_LIB_PLANNING_SEARCH_NEXTSTEPS_H

#include "Session.h"

namespace tessera {

/// A command line that carries on from a plan, and what it is for.
struct NextStep {
  std::string purpose, command;
};
/// Commands to copy: the best layout as the file of the plan's software, its
/// forward pass as an executable where the compiler can build it, and a
/// comparison with a layout of one's own, for which the runner-up stands.
std::vector<NextStep> nextSteps(const PlanSession &session,
                                const PlanResult &result);

/// The layout as the file of the session's software, where that has one.
std::optional<NextStep> trainingStep(llvm::StringRef purpose,
                                     const PlanSession &session,
                                     const Layout &layout);

/// Makes the --cluster of later commands say that many nodes: where it is a
/// file, its JSON with another number in it.
llvm::Error setNodes(PlanSession &session, int nodes);

/// `tessera export` of a layout of the session, to a file.
std::string exportCommandLine(const PlanSession &session, const Layout &layout,
                              llvm::StringRef format, llvm::StringRef file);

/// `text` as a shell takes it for one word.
std::string shellWord(llvm::StringRef text);
/// Builds the layout's forward pass; "" where the compiler cannot.
std::string compileCommandLine(const PlanSession &session,
                               const Layout &layout);
/// Compares the layout with the best of the same question.
std::string explainCommandLine(const PlanSession &session,
                               const Layout &layout);

/// Why `tessera compile` cannot build the layout; "" where it can.
std::string whyNotCompiled(const PlanSession &session, const Layout &layout);

void printNextSteps(llvm::ArrayRef<NextStep> steps, llvm::raw_ostream &out);
/// Both, for the end of a plan.
void printNextSteps(const PlanSession &session, const PlanResult &result,
                    llvm::raw_ostream &out);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_NEXTSTEPS_H
