"""The front matter of a finding's page."""

from __future__ import annotations

import pytest

from tfperfkit.explain.detection import fill_in_detection, write_number
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
    assert "- Minimum length of a sorted row: a shorter one takes no time: 64 numbers." in page and page.endswith(
        "</details>\n\nB\n"
    )


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0.1, "share", "10 %"),
        (64 * 1024**2, "bytes", "64 MiB"),
        (1e8, "bytes", "95.4 MiB"),
        (8, "bytes", "8 bytes"),
        (2e7, "ns", "20 ms"),
        (1.2e7, "bytes/ms", "12 GB/s"),
        (0.7, "us", "0.7 µs"),
        (4000, "numbers", "4,000 numbers"),
        (1.3, "number", "1.3"),
    ],
)
def test_a_threshold_is_written_with_a_readable_unit(value: float, unit: str, text: str) -> None:
    assert write_number(value, unit) == text
