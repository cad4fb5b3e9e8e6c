"""What pages of the documentation collect from the code, so that a new rule needs no edit there.

A line ``<!-- collected: NAME -->`` stands for it in a page; the site's hook fills it in.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from benchmarks import calibrate, coverage

_MARK = re.compile(r"^<!-- collected: (\w+) -->$", re.MULTILINE)
#: By the name in the mark.
PARTS: dict[str, Callable[[], str]] = {
    "numbers": calibrate.tables,
    "coverage": lambda: coverage.words(coverage.coverage()),
}


def fill_in(page: str) -> str:
    """Return a page's source with what it collects. Raises KeyError for a name that collects nothing."""
    return _MARK.sub(lambda mark: PARTS[mark[1]](), page)
