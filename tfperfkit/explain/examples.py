"""The examples of a finding's page: its code before and after the change."""

from __future__ import annotations

import re

from tfperfkit.explain.pages import findings, read

_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SECTION = re.compile(r"^## Fix\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)


def examples(code: str) -> tuple[tuple[str, str], ...]:
    """(language, code) of each block under "Fix" on the page of a finding; () without such a page. Raises OSError."""
    page = findings().get(code)
    section = _SECTION.search(read(page)) if page is not None else None
    return tuple(_BLOCK.findall(section.group(1))) if section else ()
