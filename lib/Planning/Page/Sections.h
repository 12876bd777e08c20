//===- Sections.h - parts that pages have in common -------------*- C++ -*-===//
//
// `key` is where the JSON of the same command has the layout: "ranked.0".
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_PAGE_SECTIONS_H
#define TESSERA_LIB_PLANNING_PAGE_SECTIONS_H

#include "Figures.h"
#include "Html.h"
#include "lib/Planning/Search/Report.h"

namespace tessera {

/// A layout with its name on the page and its place in the JSON.
struct NamedCandidate {
  std::string name;
  std::string key;
  const Candidate *candidate;
};

/// "llama-7b on 32 x h100-sxm"
std::string subject(const PlanSession &session);
/// Sizes of the model, sequence, batch: what stands small above the title.
std::string kicker(const PlanSession &session);

/// Step, tokens per second, utilisation, memory, and a trillion tokens.
void writeCards(HtmlPage &page, const PlanSession &session,
                const NamedCandidate &c);
/// Where the time goes, in bars and numbers; the first is compared with the
/// others.
void writeTime(HtmlPage &page, const std::vector<NamedCandidate> &candidates);
void writeTimeline(HtmlPage &page, const LayoutDetail &detail);
/// Stages against the limit, and the fullest in numbers.
void writeMemory(HtmlPage &page, const LayoutDetail &detail,
                 const PlanProblem &problem, const NamedCandidate &c);
/// `key` of the detail: "detail".
void writeRoofline(HtmlPage &page, const LayoutDetail &detail,
                   const PlanProblem &problem, llvm::StringRef key);
/// What the layout means, and the commands that take it.
void writeLayout(HtmlPage &page, const PlanSession &session,
                 const Layout &layout);
void writeAssumptions(HtmlPage &page, const PlanSession &session);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_SECTIONS_H
