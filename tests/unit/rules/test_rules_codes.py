"""Each code of the rules has its page, under the heading that the code gives, with the sections of all pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from tfperfkit_rules.device import codes as device
from tfperfkit_rules.distribution import codes as distribution
from tfperfkit_rules.graph import codes as graph
from tfperfkit_rules.retrace import codes as retrace

from tfperfkit.testing import missing_pages

PAGES = Path(__file__).resolve().parents[3] / "docs" / "findings"
TITLES = {**device.TITLES, **distribution.TITLES, **graph.TITLES, **retrace.TITLES}


def test_no_page_is_missing() -> None:
    assert missing_pages(TITLES, PAGES) == []


@pytest.mark.parametrize("code", TITLES)
def test_a_page_has_its_title_and_its_sections(code: str) -> None:
    page = (PAGES / f"{code}.md").read_text(encoding="utf-8")
    assert page.startswith(f"# {code}: {TITLES[code]}\n")
    for heading in ("## How it is measured", "## Fix", "## When to ignore it"):
        assert heading in page, f"{code} lacks {heading!r}"


def test_every_blame_has_a_code() -> None:
    assert set(retrace.OF_BLAME.values()) == set(retrace.TITLES) - {retrace.UNEXPLAINED}
