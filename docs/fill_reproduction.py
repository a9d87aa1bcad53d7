"""Puts the text and tables of `goblin reproduce all` into docs/reproduction.md, and its figures beside it.

Usage: python3 docs/fill_reproduction.py REPORT

What the page keeps folded away (the differences behind each verdict, the settings of each cell) stays there.
"""

import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import ClassVar

DOCS = Path(__file__).resolve().parent
IMAGES = "images/reproduction"
BEGIN, END = "<!-- reproduction: begin -->\n", "<!-- reproduction: end -->\n"


class Markdown(HTMLParser):
    """Goes through a report page and collects it as Markdown."""

    # What is left out: navigation, styles, folded parts, and the claims one by one, which a table has as well.
    LEFT_OUT = ("nav", "style", "head", "details", "h1", "div.claim", "span.swatch")
    MARKS: ClassVar[dict[str, str]] = {"strong": "**", "em": "*", "code": "`"}
    BREAK = "<br>"

    def __init__(self) -> None:
        super().__init__()
        self.blocks: list[str] = []
        self.text = ""  # of the paragraph, cell or entry that is open
        self.rows: list[list[str]] = []
        self.bold = False  # whether the open cell is
        self.depth = 0  # of lists
        self.open: list[str] = []  # elements, the innermost last
        self.outside: int | None = None  # how many elements were open where something left out began
        self.figure = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        classes = (found.get("class") or "").split()
        if tag not in ("meta", "br", "rect", "use"):
            self.open.append(tag)
        if self.outside is None and (tag in self.LEFT_OUT or any(f"{tag}.{each}" in self.LEFT_OUT for each in classes)):
            self.outside = len(self.open) - 1
        if tag == "g" and not self.figure and (drawn := re.match(r"(.+)-1-gnuplot_canvas", found.get("id") or "")):
            self.figure = drawn[1]
        if self.outside is not None:
            return
        if tag == "ul":
            self.end_of_text()
            self.depth += 1
        elif tag in ("p", "h2", "h3", "figcaption", "td", "th", "li"):
            self.text = ""
            self.bold = "best" in classes or "verdict" in classes
        elif tag == "tr":
            self.rows.append([])
        elif tag == "figure":
            self.figure = ""
        else:
            self.text += self.MARKS.get(tag, "") or {"sub": "_", "br": self.BREAK}.get(tag, "")

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.open:
            return
        while self.open.pop() != tag:
            pass
        if self.outside is not None:
            if len(self.open) == self.outside:
                self.outside = None
            return
        text = " ".join(self.text.split())
        if tag in ("td", "th"):
            first, line_break, rest = text.replace("|", "\\|").partition(self.BREAK)
            if self.bold and first:
                first = f"**{first.strip()}**"
            self.rows[-1].append(first + line_break + rest)
        elif tag == "table":
            head, *rows = self.rows
            self.blocks.append("\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows]))
            self.rows = []
        elif tag in ("h2", "h3"):
            self.blocks.append({"h2": "## ", "h3": "### "}[tag] + text)
        elif tag == "figcaption":
            text = re.sub(r"( (PDF|SVG|CSV))+$", "", text)
            self.blocks.append(f"![{text}]({IMAGES}/{self.figure}.svg)\n\n{text}")
        elif tag == "p" and text and not text.startswith("csv/"):
            self.blocks.append(text)
        elif tag == "li":
            self.end_of_text()
        elif tag == "ul":
            self.depth -= 1
        else:
            self.text += self.MARKS.get(tag, "")

    def end_of_text(self) -> None:
        """An entry of a list ends, or a list within it begins."""
        if self.depth and self.text.strip():
            entry = "  " * (self.depth - 1) + "- " + " ".join(self.text.split()).removesuffix(":")
            if self.blocks and self.blocks[-1].lstrip().startswith("- "):
                self.blocks[-1] += "\n" + entry
            else:
                self.blocks.append(entry)
        self.text = ""

    def handle_data(self, data: str) -> None:
        if self.outside is None and "svg" not in self.open:
            self.text += data


def main() -> None:
    """Fills the place between the two marks."""
    if len(sys.argv) != 2 or not Path(sys.argv[1], "index.html").exists():
        sys.exit("usage: python3 docs/fill_reproduction.py REPORT (a folder that goblin reproduce all has written)")
    report = Path(sys.argv[1])
    markdown = Markdown()
    markdown.feed((report / "index.html").read_text())
    page = DOCS / "reproduction.md"
    before, rest = page.read_text().split(BEGIN)
    after = rest.split(END)[1]
    page.write_text(before + BEGIN + "\n" + "\n\n".join(markdown.blocks) + "\n\n" + END + after)
    for figure in (report / "figures").glob("*.svg"):
        shutil.copy(figure, DOCS / IMAGES / figure.name)


if __name__ == "__main__":
    main()
