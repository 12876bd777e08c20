//===- Flags.h - kinds of flags, the same over all commands -----*- C++ -*-===//
//
// What a flag's value may be is part of its type. A value that is none is
// reported by parseFlags in the one form of all flags,
// "--flag: expected ..., got '...'".
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PIPELINES_FLAGS_H
#define TESSERA_LIB_PIPELINES_FLAGS_H

#include "llvm/Support/CommandLine.h"

#include <cstdint>
#include <limits>
#include <string>

namespace tessera {

/// Keeps `message` about the value of `option` for parseFlags, the first of a
/// command line. Returns true, what LLVM's parsers return after an error.
bool badValue(const llvm::cl::Option &option, const llvm::Twine &message);

/// Readers of the kinds below; true after badValue.
bool readWhole(const llvm::cl::Option &option, llvm::StringRef text,
               int64_t least, int64_t most, long long &value);
enum class NumberRange { Positive, Share, AtLeastOne };
bool readNumber(const llvm::cl::Option &option, llvm::StringRef text,
                NumberRange range, double &value);
bool readCount(const llvm::cl::Option &option, llvm::StringRef text,
               double least, char unit, double &value);
bool readSeconds(const llvm::cl::Option &option, llvm::StringRef text,
                 double &value);

/// A whole number from `least` to `most`.
template <int64_t least, int64_t most>
class WholeParser : public llvm::cl::parser<long long> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             long long &value) {
    return readWhole(option, text, least, most, value);
  }
};

template <NumberRange range>
class NumberParser : public llvm::cl::parser<double> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             double &value) {
    return readNumber(option, text, range, value);
  }
};

/// A count like 7B; one below `least` is a number whose unit was forgotten,
/// most likely `unit`.
template <int64_t least, char unit>
class CountParser : public llvm::cl::parser<double> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             double &value) {
    return readCount(option, text, double(least), unit, value);
  }
};

class SecondsParser : public llvm::cl::parser<double> {
public:
  using parser::parser;
  bool parse(llvm::cl::Option &option, llvm::StringRef, llvm::StringRef text,
             double &value) {
    return readSeconds(option, text, value);
  }
};

/// Not given, a number is 0, unless llvm::cl::init says otherwise.
template <int64_t least = 1, int64_t most = std::numeric_limits<int64_t>::max()>
using WholeFlag = llvm::cl::opt<long long, false, WholeParser<least, most>>;
template <NumberRange range = NumberRange::Positive>
using NumberFlag = llvm::cl::opt<double, false, NumberParser<range>>;
template <int64_t least, char unit>
using CountFlag = llvm::cl::opt<double, false, CountParser<least, unit>>;
using SecondsFlag = llvm::cl::opt<double, false, SecondsParser>;

/// --sequence, also written --seq.
struct SequenceFlag : WholeFlag<> {
  SequenceFlag(llvm::cl::OptionCategory &category, const char *description)
      : WholeFlag<>("sequence", llvm::cl::init(0), llvm::cl::cat(category),
                    llvm::cl::value_desc("N"), llvm::cl::desc(description)) {}
};

} // namespace tessera

#endif // TESSERA_LIB_PIPELINES_FLAGS_H
