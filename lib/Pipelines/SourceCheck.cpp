//===- SourceCheck.cpp - what upstream's parser must not see --------------===//
//
// Some ops name as many operands as a vector type has elements, and upstream's
// parser makes room for all of them before it looks at any: a wrong digit is
// gigabytes, or the end of the process. So types are read from the text first.
// What is smaller is left to tessera-check-value-sizes, which knows bytes.
//
//===----------------------------------------------------------------------===//
#include "lib/Pipelines/SourceCheck.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;

/// Far more than the 255 registers of a thread hold, far less than hurts.
static constexpr uint64_t kMostElements = 1 << 16;

/// Elements that the dimensions at the head of `text` ("4x[2]xf32>") multiply
/// to, saturating.
static uint64_t elementsOf(StringRef text) {
  uint64_t elements = 1;
  while (true) {
    bool scalable = text.consume_front("[");
    StringRef digits = text.take_while(isDigit);
    text = text.drop_front(digits.size());
    if (scalable)
      text.consume_front("]");
    if (digits.empty() || !text.consume_front("x"))
      return elements;
    uint64_t extent = UINT64_MAX; // also of digits that no integer holds
    (void)digits.getAsInteger(10, extent);
    elements = SaturatingMultiply(elements, extent);
  }
}

bool tessera::checkVectorTypes(const SourceMgr &sources) {
  constexpr StringLiteral word = "vector<";
  StringRef text =
      sources.getMemoryBuffer(sources.getMainFileID())->getBuffer();
  for (size_t at = text.find(word); at != StringRef::npos;
       at = text.find(word, at + 1)) {
    if (elementsOf(text.substr(at + word.size())) <= kMostElements)
      continue;
    StringRef type =
        text.substr(at).take_until([](char c) { return c == '>'; });
    sources.PrintMessage(
        SMLoc::getFromPointer(text.data() + at), SourceMgr::DK_Error,
        type.take_front(60) + "> has more than " + Twine(kMostElements) +
            " elements; the registers of a thread hold 255");
    return false;
  }
  return true;
}
