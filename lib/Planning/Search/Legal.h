//===- Legal.h - the rules of PlanProblem::verify as a predicate ----------===//
#ifndef TESSERA_LIB_PLANNING_SEARCH_LEGAL_H
#define TESSERA_LIB_PLANNING_SEARCH_LEGAL_H

#include "Problem.h"

namespace tessera {

/// False where a rule is broken; says which in `why` if that is given.
bool isLegal(const PlanProblem &problem, const Layout &layout,
             std::string *why = nullptr);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_SEARCH_LEGAL_H
