//===- Html.cpp - one self-contained page ---------------------------------===//
#include "Html.h"
#include "tessera/Support/Svg.h"
#include "tessera/Support/Wrap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace llvm;
using namespace tessera;

static constexpr StringLiteral kStyle = R"css(
:root{color-scheme:light dark;--ink:#1c2127;--soft:#5b6570;--paper:#fff;
--panel:#f5f7f9;--line:#dbe1e7;--accent:#0072b2;--good:#00785a;--open:#b34700}
@media (prefers-color-scheme:dark){:root{--ink:#e4e8ec;--soft:#9ba6b1;
--paper:#15181c;--panel:#1e2329;--line:#353d46;--accent:#56b4e9;--good:#35c79b;
--open:#ff9a4d}}
*{box-sizing:border-box}
body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.55 system-ui,-apple-system,"Segoe UI",Helvetica,Arial,sans-serif}
main{max-width:1060px;margin:0 auto;padding:2.75rem 1.5rem 4rem}
.kicker{color:var(--soft);font-size:.85rem;letter-spacing:.04em;margin:0}
h1{font-size:2rem;line-height:1.2;letter-spacing:-.015em;margin:.15rem 0 1.1rem;
overflow-wrap:anywhere}
h2{font-size:1.3rem;letter-spacing:-.01em;margin:0 0 .7rem}
h3{font-size:1rem;margin:1.5rem 0 .4rem}
section{margin-top:2.75rem;padding-top:1.6rem;border-top:1px solid var(--line)}
p{margin:.5rem 0;max-width:75ch}
.lead{font-size:1.18rem;line-height:1.5}
.note{color:var(--soft);font-size:.92rem}
.seal{border-left:4px solid var(--good);background:var(--panel);
padding:.6rem .9rem;border-radius:0 6px 6px 0;max-width:none}
.seal.open{border-color:var(--open)}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));
gap:.75rem;margin:1.3rem 0}
.card{background:var(--panel);border-radius:8px;padding:.7rem .9rem}
.card i{display:block;font-style:normal;color:var(--soft);font-size:.82rem}
.card b{display:block;font-size:1.35rem;line-height:1.3;font-weight:650;
font-variant-numeric:tabular-nums;white-space:nowrap}
.wide{overflow-x:auto;margin:.8rem 0}
table{border-collapse:collapse;width:100%;font-size:.92rem;
font-variant-numeric:tabular-nums}
th{font-weight:600;color:var(--soft);text-align:left;vertical-align:bottom}
th,td{padding:.38rem .8rem .38rem 0;border-bottom:1px solid var(--line)}
th:last-child,td:last-child{padding-right:0}
.n{text-align:right;white-space:nowrap}
.compact{width:auto}.compact th,.compact td{padding-right:2.2rem}
tr.best td{font-weight:650;background:var(--panel)}
tr.best td:first-child{box-shadow:-8px 0 var(--panel)}
tr.best td:last-child{box-shadow:8px 0 var(--panel)}
code,pre{font:.9em/1.5 ui-monospace,"SF Mono",Menlo,Consolas,"DejaVu Sans Mono",monospace}
p code{background:var(--panel);border-radius:3px;box-shadow:0 0 0 .18em var(--panel)}
pre{background:var(--panel);border-radius:8px;padding:.8rem 1rem;overflow-x:auto;
font-size:.84rem;margin:.6rem 0}
figure{margin:1rem 0}
figure svg{display:block;width:100%;height:auto}
figcaption{color:var(--soft);font-size:.88rem;margin-top:.35rem;max-width:80ch}
ul{padding-left:1.2rem;margin:.5rem 0}
footer{margin-top:3rem;color:var(--soft);font-size:.85rem}
@media print{:root{--ink:#000;--soft:#444;--paper:#fff;--panel:#f3f3f3;
--line:#bbb;--accent:#0072b2;--good:#00785a;--open:#b34700}
body{font-size:10.5pt}main{max-width:none;padding:0}
section{margin-top:1.5rem;padding-top:1rem}
figure,tr,.card,.seal{break-inside:avoid}h2,h3{break-after:avoid}
pre{white-space:pre-wrap;overflow-wrap:anywhere}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
)css";

HtmlPage::HtmlPage(raw_ostream &os, StringRef title) : os(os) {
  os << "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
        "<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
        "'none'; style-src 'unsafe-inline'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, "
        "initial-scale=1\">\n<meta name=\"generator\" content=\"Tessera\">\n"
        "<title>"
     << escapeXml(title) << "</title>\n<style>" << kStyle
     << "</style>\n</head>\n<body>\n<main>\n";
}

HtmlPage::~HtmlPage() {
  closeSection();
  os << "<footer>Made by Tessera. All numbers are predictions of its cost "
        "model on the assumptions above.</footer>\n"
        "</main>\n</body>\n</html>\n";
}

void HtmlPage::closeSection() {
  if (inSection)
    os << "</section>\n";
  inSection = false;
}

void HtmlPage::heading(StringRef kicker, StringRef title) {
  os << "<p class=\"kicker\">" << escapeXml(kicker) << "</p>\n<h1>"
     << escapeXml(title) << "</h1>\n";
}

void HtmlPage::section(StringRef title) {
  closeSection();
  os << "<section>\n<h2>" << escapeXml(title) << "</h2>\n";
  inSection = true;
}

void HtmlPage::part(StringRef title) {
  os << "<h3>" << escapeXml(title) << "</h3>\n";
}

void HtmlPage::show(const Shown &s) {
  if (s.key.empty()) {
    os << escapeXml(s.text);
    return;
  }
  os << "<span data-key=\"" << escapeXml(s.key) << "\" data-value=\""
     << format("%.17g", s.value) << "\">" << escapeXml(s.text) << "</span>";
}

void HtmlPage::pieces(const std::vector<Piece> &pieces) {
  for (const Piece &p : pieces) {
    StringRef tag = p.look == Piece::Strong ? "b"
                    : p.look == Piece::Code ? "code"
                                            : "";
    if (!tag.empty())
      os << "<" << tag << ">";
    show(p.shown);
    if (!tag.empty())
      os << "</" << tag << ">";
  }
}

void HtmlPage::lead(const std::vector<Piece> &p) {
  os << "<p class=\"lead\">";
  pieces(p);
  os << "</p>\n";
}

void HtmlPage::paragraph(const std::vector<Piece> &p) {
  os << "<p>";
  pieces(p);
  os << "</p>\n";
}

void HtmlPage::note(StringRef text) {
  os << "<p class=\"note\">" << escapeXml(text) << "</p>\n";
}

void HtmlPage::sentence(StringRef line) {
  os << "<p>" << escapeXml(line.take_front().upper())
     << escapeXml(line.drop_front()) << ".</p>\n";
}

void HtmlPage::seal(bool good, const std::vector<Piece> &p) {
  os << "<p class=\"seal" << (good ? "" : " open") << "\">";
  pieces(p);
  os << "</p>\n";
}

void HtmlPage::cards(const std::vector<Card> &cards) {
  os << "<div class=\"cards\">\n";
  for (const Card &c : cards) {
    os << "<div class=\"card\"><i>" << escapeXml(c.name) << "</i><b>";
    show(c.shown);
    os << "</b>";
    if (!c.note.empty())
      os << "<i>" << escapeXml(c.note) << "</i>";
    os << "</div>\n";
  }
  os << "</div>\n";
}

void HtmlPage::table(const std::vector<Column> &columns,
                     const std::vector<std::vector<Shown>> &rows, int marked,
                     bool compact) {
  auto number = [](const Column &c) {
    return c.look == Column::Number ? " class=\"n\"" : "";
  };
  os << "<div class=\"wide\"><table" << (compact ? " class=\"compact\"" : "")
     << ">\n<thead><tr>";
  for (const Column &c : columns)
    os << "<th" << number(c) << ">" << escapeXml(c.name) << "</th>";
  os << "</tr></thead>\n<tbody>\n";
  int index = 0;
  for (const std::vector<Shown> &row : rows) {
    os << (index++ == marked ? "<tr class=\"best\">" : "<tr>");
    for (size_t i = 0; i < columns.size(); ++i) {
      bool code = columns[i].look == Column::Code;
      os << "<td" << number(columns[i]) << ">" << (code ? "<code>" : "");
      if (i < row.size())
        show(row[i]);
      os << (code ? "</code>" : "") << "</td>";
    }
    os << "</tr>\n";
  }
  os << "</tbody>\n</table></div>\n";
}

void HtmlPage::figure(StringRef svg, StringRef caption) {
  os << "<figure>\n" << svg;
  if (!caption.empty())
    os << "<figcaption>" << escapeXml(caption) << "</figcaption>\n";
  os << "</figure>\n";
}

void HtmlPage::list(const std::vector<std::string> &items) {
  os << "<ul>\n";
  for (const std::string &item : items)
    os << "<li>" << escapeXml(item) << "</li>\n";
  os << "</ul>\n";
}

void HtmlPage::command(StringRef line, StringRef title) {
  // As many columns as the page has room for.
  constexpr unsigned kColumns = 110;
  os << "<pre>";
  if (!title.empty())
    os << escapeXml(("# " + title).str()) << "\n";
  os << escapeXml(join(commandLines(line, kColumns), "\n")) << "</pre>\n";
}
