"""The parts of documentation pages that are collected from the code, so that a new rule needs no edit there.

A line ``<!-- collected: NAME -->`` stands for it in a page; the site's hook fills it in. On the page of a finding
``<!-- collected: detection CODE -->`` stands for how the finding is detected.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks import calibrate, coverage, finding_pages
from tfperfkit.explain.detection import fill_in_detection

_MARK = re.compile(r"^<!-- collected: (\w+) -->$", re.MULTILINE)
#: The parts by the name in the mark.
PARTS: dict[str, Callable[[], str]] = {
    "numbers": calibrate.tables,
    "coverage": lambda: coverage.words(coverage.coverage()),
    "findings": finding_pages.index,
}


def fill_in(page: str) -> str:
    """Return a page's source with what it collects. Raises KeyError for a name that collects nothing."""
    return fill_in_detection(_MARK.sub(lambda mark: PARTS[mark[1]](), page), folded=True)
