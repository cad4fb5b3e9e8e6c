"""Each page of a finding is on the template, in plain length, with the title that its rule states."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from page_examples import first_block

from tfperfkit.explain import pages
from tfperfkit.explain.detection import describe_detection
from tfperfkit.explain.front_matter import read_front_matter, without_front_matter

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted((ROOT / "docs" / "findings").glob("*.md"))
MAX_WORDS, MAX_TITLE, MAX_CODE_LINES = 250, 9, 40
_FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def finding_pages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT))
    from benchmarks import finding_pages

    return finding_pages


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_what_follows_from_its_rule(page: Path, finding_pages) -> None:
    """Title, badges, how to silence it and how to verify it: `python -m benchmarks.finding_pages` writes them."""
    text = page.read_text(encoding="utf-8")
    assert finding_pages.complete(text, page.stem) == text, "run python -m benchmarks.finding_pages"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_short(page: Path) -> None:
    """Words outside of code blocks; code blocks by lines."""
    text = without_front_matter(page.read_text(encoding="utf-8"))
    blocks = [block for _, block in _FENCE.findall(text)]
    assert len(_FENCE.sub("", text).split()) <= MAX_WORDS
    assert max(len(block.splitlines()) for block in blocks) <= MAX_CODE_LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_title_has_at_most_nine_words(page: Path) -> None:
    head = read_front_matter(page.read_text(encoding="utf-8"))
    assert head is not None
    assert len(head.title.split()) <= MAX_TITLE
    assert not re.search(r": |[#`]|\.$", head.title), "YAML would read something else, or it is a sentence"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_has_a_line_of_the_report_and_code_before_and_after(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    languages = [language for language, _ in _FENCE.findall(text)]
    assert languages[0] == "text" and languages.count("python") >= 2
    assert _FENCE.findall(text)[0][1].startswith(f"{page.stem}  ")
    for section in ("Example", "Use instead"):
        assert first_block(text, section), section


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_related_findings_have_pages_and_dates_stay_out(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    head = read_front_matter(text)
    assert head is not None and set(head.related) <= set(pages.findings()) - {page.stem}
    assert re.search(r"\b20\d\d\b|\bblind trial|on ours|busy machine", text) is None, "no lab notes"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_collapsed_part_has_what_the_rule_says(page: Path) -> None:
    """Find the code of a rule in the docstring of its file."""
    assert len(describe_detection(page.stem)) > 20


def test_a_badge_promises_a_patch_only_for_the_code_that_has_a_fixer(finding_pages) -> None:
    """Elements that Python reads can be patched; a gradient for SciPy has to be written."""
    assert (finding_pages.find_fix("EAG011"), finding_pages.find_fix("EAG018")) == ("patch", "suggestion")


def test_the_index_has_a_row_for_each_finding(finding_pages) -> None:
    rows = finding_pages.index().splitlines()
    assert re.findall(r"^\| \[(\w+)\]", "\n".join(rows), re.MULTILINE) == [page.stem for page in PAGES]
    row = "| [GRF013](findings/GRF013.md) | "
    row += "Full sort where tf.math.top_k is enough |  | yes | 11x to 16x (3 scripts) |"
    assert row in rows
