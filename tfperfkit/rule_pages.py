"""The codes of all rules, by their pages: in the package if it was installed from a wheel, in ``docs/`` in a checkout.

A package that brings probes or rules ships the pages of its codes in its own folder ``pages/``.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path

from tfperfkit.registry import GROUP as PROBES
from tfperfkit.registry import installed

RULES = "tfperfkit.rules"
_CODE = re.compile(r"[A-Z]{2,5}\d{3}")
_OWN = Path(__file__).resolve().parent / "explain" / "pages"
_CHECKOUT = Path(__file__).resolve().parents[1] / "docs"
GLOSSARY = "glossary.md"


def root() -> Path:
    """Return the folder with ``findings/``, ``probes/`` and the glossary."""
    return _OWN if (_OWN / GLOSSARY).is_file() else _CHECKOUT


def is_code(text: str) -> bool:
    """Return whether the text could be the code of a finding."""
    return bool(_CODE.fullmatch(text))


def findings() -> dict[str, Path]:
    """Return the pages of findings by their codes, sorted. If two packages have a page, tfperfkit's counts."""
    found = by_name(root() / "findings")
    for folder in _foreign():
        found = {**by_name(folder), **found}
    return {code: page for code, page in sorted(found.items()) if is_code(code)}


def by_name(folder: Path) -> dict[str, Path]:
    """Return the pages in a folder by their names."""
    return {page.stem: page for page in sorted(folder.glob("*.md"))}


def suggest_code(pattern: str) -> str:
    """Return "" if the pattern (``EAG008``, ``RET*``) matches the code of a rule, else the end of a message: "no rule
    has the code EAG800; did you mean EAG008?"."""
    codes = list(findings())
    if any(fnmatchcase(code, pattern) for code in codes):
        return ""
    near = difflib.get_close_matches(pattern.upper(), codes, 1, 0.0)
    nearest = f"; did you mean {near[0]}?" if near else ""
    return f"no rule has the code {pattern[:40]!r}{nearest}"


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
