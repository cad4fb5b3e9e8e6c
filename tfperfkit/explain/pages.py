"""Contents of the pages of findings and probes, and of the glossary."""

from __future__ import annotations

import re
from pathlib import Path

from tfperfkit.explain.front_matter import read_front_matter, without_front_matter
from tfperfkit.rule_pages import GLOSSARY, by_name, findings, is_code, root

__all__ = ["GLOSSARY", "findings", "is_code", "root"]

#: Text after "How to verify" on the page of a finding.
_MORE = re.compile(r"^(?=<!-- collected: detection |## See also$)", re.MULTILINE)
#: A page that goes through a whole report, and what it is asked for by.
REPORT, REPORT_NAMES = "reading-a-report.md", ("report", "reading a report")


def probes() -> dict[str, Path]:
    """Return the pages of probes by their names."""
    return by_name(root() / "probes")


def title(page: Path) -> str:
    """Return the title that the page's front matter states, else its first heading without the code before it."""
    text = page.read_text(encoding="utf-8", errors="replace")
    stated = read_front_matter(text)
    if stated is not None:
        return stated.title
    first = text.lstrip().partition("\n")[0]
    return first.lstrip("# ").removeprefix(f"{page.stem}: ").strip()


def read(page: Path) -> str:
    """Return the text of a page without its front matter; raises OSError."""
    return without_front_matter(page.read_text(encoding="utf-8", errors="replace"))


def shorten(page: str) -> str:
    """Return a finding's page up to how to verify the change, without how the finding is detected."""
    return _MORE.split(page, maxsplit=1)[0].rstrip() + "\n"


def find_page(code: str) -> str:
    """Return the page of a finding's code up to how to verify the change; "" without one. Raises OSError."""
    page = findings().get(code)
    return shorten(read(page)) if page is not None else ""


_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^## (?:Use instead|Fix)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def examples(code: str) -> tuple[tuple[str, str], ...]:
    """(language, code) of each block under "Use instead" on the page of a finding; () without one. Raises OSError."""
    page = findings().get(code)
    section = _SECTION.search(read(page)) if page is not None else None
    return tuple(_BLOCK.findall(section.group(1))) if section else ()
