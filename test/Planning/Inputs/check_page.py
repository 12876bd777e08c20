"""Checks a report's page: well-formed, self-contained, small, and every number
on it the one that the command's JSON has.

    check_page.py PAGE.html [OUTPUT.json]
"""

import html.parser
import json
import re
import sys
import xml.etree.ElementTree as ET

VOID = {"meta", "br", "hr", "img", "link", "input", "source", "wbr"}
SVG_NAMESPACE = "http://www.w3.org/2000/svg"
LARGEST = 300_000


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.stack, self.problems, self.numbers = [], [], []
        self.tags, self.titles, self.text = set(), [], []

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        values = dict(attributes)
        for name, value in attributes:
            value = value or ""
            if name in ("href", "src", "srcset", "action", "data", "xlink:href"):
                self.problems.append(f"<{tag} {name}={value}> points elsewhere")
            if name.startswith("on"):
                self.problems.append(f"<{tag} {name}> is a script")
            if "://" in value and not (name == "xmlns" and value == SVG_NAMESPACE):
                self.problems.append(f"<{tag} {name}={value}> holds an address")
        if "data-key" in values:
            self.numbers.append((values["data-key"], float(values["data-value"])))
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.stack.pop()

    def handle_endtag(self, tag):
        if not self.stack or self.stack[-1] != tag:
            self.problems.append(f"</{tag}> closes {self.stack[-1:]} at {self.getpos()}")
        else:
            self.stack.pop()

    def handle_data(self, data):
        if self.stack and self.stack[-1] == "h2":
            self.titles.append(data)
        if "://" in data and self.stack[-1] != "style":
            self.problems.append(f"address in text: {data}")
        self.text.append(data)


def lookup(value, key):
    for step in key.split("."):
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def main():
    text = open(sys.argv[1], encoding="utf-8").read()
    page = Page()
    page.feed(text)
    page.close()
    problems = page.problems
    if page.stack:
        problems.append(f"never closed: {page.stack}")
    for tag in page.tags & {"script", "link", "iframe", "object", "embed", "img", "base"}:
        problems.append(f"a <{tag}> is on the page")
    for style in re.findall(r"<style>(.*?)</style>", text, re.S):
        if "url(" in style or "@import" in style:
            problems.append("the style sheet loads something")
    pictures = re.findall(r"<svg .*?</svg>", text, re.S)
    for picture in pictures:
        ET.fromstring(picture)  # XML, too
    if re.search(r"\bnan\b|\binf\b", text):
        problems.append("a number is not a number")
    if len(text.encode()) > LARGEST:
        problems.append(f"{len(text.encode())} bytes")
    if len(sys.argv) > 2:
        data = json.load(open(sys.argv[2], encoding="utf-8"))
        for key, value in page.numbers:
            if lookup(data, key) != value:
                problems.append(f"{key} is {lookup(data, key)}, the page has {value}")
        # What is said of the step's error is the sentence of the JSON.
        if data["expected_error"]["text"] not in "".join(page.text):
            problems.append("the expected error is missing")
        if len(page.numbers) < 20:
            problems.append(f"only {len(page.numbers)} numbers")
    for problem in problems:
        print(problem)
    print(f"{len(pictures)} pictures; {'; '.join(page.titles)}")
    sys.exit(1 if problems else 0)


main()
