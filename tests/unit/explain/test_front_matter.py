"""The front matter of a finding's page."""

from __future__ import annotations

import pytest

from tfperfkit.explain.detection import fill_in_detection
from tfperfkit.explain.front_matter import FrontMatter, read_front_matter, without_front_matter

HEAD = FrontMatter(
    code="ACM001",
    title="Saves too often",
    fix="patch",
    measure=("once", "cache"),
    typical_gain="2x to 3x",
    since="1.0",
    related=(),
)


def test_it_is_read_as_it_was_written() -> None:
    page = HEAD.write() + "\n# ACM001 · Saves too often\n"
    assert read_front_matter(page) == HEAD
    assert without_front_matter(page) == "# ACM001 · Saves too often\n"


@pytest.mark.parametrize("page", ["# ACM001: Saves too often\n", "---\ncode: ACM001\n---\n# A\n", "---\n# A\n", ""])
def test_a_page_without_it_has_none(page: str) -> None:
    assert read_front_matter(page) is None


def test_a_page_without_it_stays_as_it_is() -> None:
    assert without_front_matter("# A\n\n---\nb: c\n---\n") == "# A\n\n---\nb: c\n---\n"


def test_the_site_folds_how_a_finding_is_detected() -> None:
    page = fill_in_detection("A\n\n<!-- collected: detection GRF013 -->\n\nB\n", folded=True)
    assert page.startswith('A\n\n<details markdown="1"><summary>Detection and gain estimate</summary>\n\nGRF013: ')
    assert "- In a row that is sorted" in page and page.endswith("</details>\n\nB\n")
