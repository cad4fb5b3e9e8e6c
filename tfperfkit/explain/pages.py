"""Where the pages are: in the package where it was installed from a wheel, in ``docs/`` in a checkout.

A package that brings probes or rules ships the pages of its codes in its own folder ``pages/``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from tfperfkit.explain.front_matter import read_front_matter, without_front_matter
from tfperfkit.registry import GROUP as PROBES
from tfperfkit.registry import installed

RULES = "tfperfkit.rules"
_CODE = re.compile(r"[A-Z]{2,5}\d{3}")
_OWN = Path(__file__).resolve().parent / "pages"
_CHECKOUT = Path(__file__).resolve().parents[2] / "docs"
#: What follows "How to verify" on the page of a finding.
_MORE = re.compile(r"^(?=<!-- collected: detection |## See also$)", re.MULTILINE)
GLOSSARY = "glossary.md"
#: A page that goes through a whole report, and what it is asked for by.
REPORT, REPORT_NAMES = "reading-a-report.md", ("report", "reading a report")


def root() -> Path:
    """The folder with ``findings/``, ``probes/`` and the glossary."""
    return _OWN if (_OWN / GLOSSARY).is_file() else _CHECKOUT


def is_code(text: str) -> bool:
    """Whether the text could be the code of a finding."""
    return bool(_CODE.fullmatch(text))


def findings() -> dict[str, Path]:
    """The pages of findings by their codes; those of other packages after ours."""
    found = _by_name(root() / "findings")
    for folder in _foreign():
        found = {**_by_name(folder), **found}
    return {code: page for code, page in sorted(found.items()) if is_code(code)}


def probes() -> dict[str, Path]:
    """The pages of probes by their names."""
    return _by_name(root() / "probes")


def title(page: Path) -> str:
    """The title that the page's front matter states, else its first heading without the code before it."""
    text = page.read_text(encoding="utf-8", errors="replace")
    stated = read_front_matter(text)
    if stated is not None:
        return stated.title
    first = text.lstrip().partition("\n")[0]
    return first.lstrip("# ").removeprefix(f"{page.stem}: ").strip()


def read(page: Path) -> str:
    """The text of a page without its front matter; raises OSError."""
    return without_front_matter(page.read_text(encoding="utf-8", errors="replace"))


def shorten(page: str) -> str:
    """A finding's page up to how to verify the change, without how the finding is detected."""
    return _MORE.split(page, maxsplit=1)[0].rstrip() + "\n"


def _by_name(folder: Path) -> dict[str, Path]:
    return {page.stem: page for page in sorted(folder.glob("*.md"))}


def _foreign() -> Iterator[Path]:
    packages = {
        point.value.partition(":")[0].partition(".")[0] for group in (PROBES, RULES) for point in installed(group)
    }
    for name in sorted(packages):
        try:
            spec = find_spec(name)  # of a top-level name: imports nothing
        except (ImportError, ValueError):
            continue
        for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
            yield Path(folder) / "pages"


_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^## (?:Use instead|Fix)\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def examples(code: str) -> tuple[tuple[str, str], ...]:
    """(language, code) of each block under "Use instead" on the page of a finding; () without one. Raises OSError."""
    page = findings().get(code)
    section = _SECTION.search(read(page)) if page is not None else None
    return tuple(_BLOCK.findall(section.group(1))) if section else ()
