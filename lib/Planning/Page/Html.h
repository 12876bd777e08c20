//===- Html.h - one self-contained page -------------------------*- C++ -*-===//
//
// Headings, tables, figures and texts of a report. Nothing on the page comes
// from elsewhere: no script, no font, no picture (a content security policy
// says so to the browser). It prints, and follows light and dark. Everything
// that is handed in as text is escaped.
//
// A number that is shown rounded carries its exact value and its path in the
// JSON of the same command: data-key="ranked.0.step_seconds" data-value="...".
//
//===----------------------------------------------------------------------===//
#ifndef TESSERA_LIB_PLANNING_PAGE_HTML_H
#define TESSERA_LIB_PLANNING_PAGE_HTML_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace tessera {

/// A text, or a number as people read it with what it is exactly.
struct Shown {
  Shown(std::string text) : text(std::move(text)) {}
  Shown(llvm::StringRef text) : text(text) {}
  Shown(const char *text) : text(text) {}
  Shown(std::string text, std::string key, double value)
      : text(std::move(text)), key(std::move(key)), value(value) {}
  std::string text, key;
  double value = 0;
};

class HtmlPage {
public:
  HtmlPage(llvm::raw_ostream &os, llvm::StringRef title);
  /// Ends the page.
  ~HtmlPage();
  HtmlPage(const HtmlPage &) = delete;
  HtmlPage &operator=(const HtmlPage &) = delete;

  /// The page's own heading and what stands small above it.
  void heading(llvm::StringRef kicker, llvm::StringRef title);
  void section(llvm::StringRef title);
  /// A part of a section.
  void part(llvm::StringRef title);

  /// A paragraph put together from pieces: plain, strong, code.
  struct Piece {
    enum { Plain, Strong, Code } look;
    Shown shown;
  };
  void lead(const std::vector<Piece> &pieces);
  void paragraph(const std::vector<Piece> &pieces);
  void note(llvm::StringRef text);
  /// A paragraph of a line of the terminal's report: with a capital and a stop.
  void sentence(llvm::StringRef line);
  /// What makes the answer trustworthy; `good` where nothing is open.
  void seal(bool good, const std::vector<Piece> &pieces);

  /// Large numbers side by side.
  struct Card {
    std::string name;
    Shown shown;
    std::string note;
  };
  void cards(const std::vector<Card> &cards);

  struct Column {
    std::string name;
    enum { Text, Number, Code } look = Text;
  };
  /// `marked`: the row that stands out; -1 for none. A compact table is as wide
  /// as its contents.
  void table(const std::vector<Column> &columns,
             const std::vector<std::vector<Shown>> &rows, int marked = -1,
             bool compact = false);
  /// `svg` is written as it is.
  void figure(llvm::StringRef svg, llvm::StringRef caption);
  void list(const std::vector<std::string> &items);
  /// A command line to be copied, broken where it is long; `title` stands above
  /// it as the shell's comment.
  void command(llvm::StringRef line, llvm::StringRef title = "");

private:
  void show(const Shown &shown);
  void pieces(const std::vector<Piece> &pieces);
  void closeSection();

  llvm::raw_ostream &os;
  bool inSection = false;
};

} // namespace tessera

#endif // TESSERA_LIB_PLANNING_PAGE_HTML_H
