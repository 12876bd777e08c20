//===- Printable.cpp - names of others' making, fit for a terminal --------===//
#include "tessera/Support/Printable.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"

using namespace llvm;

std::string tessera::printable(StringRef text) {
  std::string valid = json::isUTF8(text) ? text.str() : json::fixUTF8(text);
  std::string out;
  for (char c : valid) {
    unsigned char byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7F)
      out += "\\x" + utohexstr(byte, /*LowerCase=*/true, /*Width=*/2);
    else
      out += c;
  }
  return out;
}

std::string tessera::printableName(StringRef text) {
  std::string out;
  for (char c : printable(text))
    out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : std::string(1, c);
  return out;
}

std::string tessera::printableMessage(StringRef text) {
  constexpr size_t kHead = 1500, kTail = 300;
  std::string line = printableName(text);
  if (line.size() <= kHead + kTail)
    return line;
  // The cut may go through a character.
  return json::fixUTF8(StringRef(line).take_front(kHead)) + " ... " +
         json::fixUTF8(StringRef(line).take_back(kTail));
}

void tessera::printError(raw_ostream &os, const Twine &message) {
  std::string line = "error: " + printableMessage(message.str());
  // Whoever reads it from a pipe gets one line.
  if (os.is_displayed())
    printWrapped(os, line, 2);
  else
    os << line << "\n";
}
