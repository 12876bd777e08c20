//===- Words.h - a layout in words and in commands --------------*- C++ -*-===//
#ifndef TESSERA_LIB_PLANNING_PAGE_WORDS_H
#define TESSERA_LIB_PLANNING_PAGE_WORDS_H

#include "lib/Planning/Search/Session.h"

namespace tessera {

/// {"tp=8", "the matrices of each layer are split over 8 GPUs"}, ...: every
/// entry that is not the default, and dp and mb.
std::vector<std::pair<std::string, std::string>>
layoutInWords(const Layout &layout);

/// One command for each framework that layouts are exported to.
std::vector<std::pair<std::string, std::string>>
exportCommandLines(const PlanSession &session, const Layout &layout);

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_WORDS_H
