"""Prose of the project is plain English, by the patterns of the style guide."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.prose import _CODE, ROOT, files, find_all, find_in


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("It loads the file anew.", ["say 'again'"]),
        ("What the step waits for is the input.", ["a 'what' clause is no noun"]),
        ("What is not measured has no share. What is it?", ["a 'what' clause is no noun"]),
        ("Of the time half goes.", ["begin with the subject"]),
        (
            "The window stands in the report. It is told by its line.",
            ["say where it is", "say 'reported' or 'known from'"],
        ),
        ("## What it means\n\nThe step waits for its input. Is it slow? What can be done?", []),
        ("`anew` is code.\n\n```python\nmend = 1\n```", []),
        ("The " + "very " * 40 + "end.", ["more than 35 words"]),
    ],
)
def test_a_pattern_is_found_in_prose_alone(text: str, reasons: list[str], tmp_path: Path, monkeypatch) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    monkeypatch.setattr("tests.contract.prose.ROOT", tmp_path)
    assert [found.reason for found in find_in(page)] == reasons


def test_code_is_checked_in_comments_docstrings_and_sentences(tmp_path: Path, monkeypatch) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""What a step does."""\n\n#: It stands in a list.\nTEXT = "It is mended by hand"\nanew = "anew"\n'
    )
    monkeypatch.setattr("tests.contract.prose.ROOT", tmp_path)
    assert [(found.line, found.reason) for found in find_in(module)] == [
        (3, "say where it is"),
        (1, "a 'what' clause is no noun"),
        (4, "say 'fix'"),
    ]


def test_the_project_is_written_in_plain_english() -> None:
    paths = files()
    assert len(paths) > 1000
    assert find_all(paths) == []


#: Pages for contributors, notes and records: no documentation for users.
_OF_CONTRIBUTORS = {"architecture", "how-it-works", "writing-a-probe", "writing-a-rule", "design-notes"}


def test_the_user_documentation_has_at_most_60000_words_of_prose() -> None:
    """Words of README and docs, finding pages included, without code, front matter and addresses of links."""
    pages = [path for path in (ROOT / "docs").rglob("*.md") if path.stem not in _OF_CONTRIBUTORS]
    pages = [path for path in pages if path.parent.name not in ("design", "upstream")]
    count = 0
    for page in (ROOT / "README.md", *pages):
        text = re.sub(r"\A---\n.*?\n---\n", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        count += len(_CODE.sub(" x ", text).split())
    assert 30_000 < count <= 60_000
