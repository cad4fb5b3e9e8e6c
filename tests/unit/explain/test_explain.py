"""The words of a report can be looked up: codes, probes, parts, windows, sections."""

from __future__ import annotations

import io
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import get_args

import pytest

from tfperfkit import registry, rule_pages
from tfperfkit.errors import UsageError
from tfperfkit.explain import command, glossary, pages
from tfperfkit.records.parts import BETWEEN, PARTS, StartPart
from tfperfkit.report import account, findings, summary

ENTRIES = glossary.parse((pages.root() / pages.GLOSSARY).read_text(encoding="utf-8"))


def names(word: str) -> list[str]:
    return [entry.names[0] for entry in glossary.find(ENTRIES, word)]


def test_an_entry_and_its_other_names() -> None:
    (entry,) = glossary.parse("# G\n\nIntro.\n\n## Words\n\n### Big word\n\nAlso: bigger\nwords, BW.\n\nIt is big.\n")
    assert entry == glossary.Entry(("Big word", "bigger words", "BW"), "Words", "It is big.")
    assert glossary.find([entry], '"bw."') == glossary.find([entry], "BIG_WORDS") == (entry,)
    assert glossary.find([entry], "small word") == ()


def test_the_word_itself_comes_before_another_that_is_also_called_so() -> None:
    entries = glossary.parse("## W\n### a\n\nAlso: b.\n\nA.\n\n### b\n\nB.\n")
    assert [entry.text for entry in glossary.find(entries, "b")] == ["B.", "A."]


def test_no_two_entries_have_one_heading() -> None:
    headings = [glossary.plain(entry.names[0]) for entry in ENTRIES]
    assert len(headings) == len(set(headings)) > 50
    assert all(len(entry.text) > 20 for entry in ENTRIES)


@pytest.mark.parametrize(
    "word",
    [
        *PARTS,
        *summary._WINDOWS.values(),
        *(word for words in (*PARTS.values(), *BETWEEN.values()) for word in (words.label, words.between)),
        *account._STARTED.values(),
        *get_args(StartPart),
        *findings._WINDOWS.values(),
        *findings._SEVERITY,
        *("step", "training loop", "run"),
        *("clean steps", "window", "steady", "baseline", "breakdown", "samples", "own time", "Grappler"),
        *("turn of the loop", "freeing an iterator", "not sampled", "outside of this function", "the steps themselves"),
        *("findings", "remarks", "other probes", "run", "note", "windows", "cost", "kept in", "again", "measured"),
        *("importing TensorFlow", "other imports", "the steps themselves", "compile and first runs", ">", "hits"),
    ],
)
def test_every_word_of_the_report_is_explained(word: str) -> None:
    assert names(word), f"docs/glossary.md has no entry for {word!r}"


def test_every_probe_of_ours_is_explained() -> None:
    ours = {name for name, point in registry.available().items() if point.value.startswith("tfperfkit_probes.")}
    assert ours and ours <= set(pages.probes())


def test_a_page_and_an_entry_of_one_name_are_both_shown(capsys: pytest.CaptureFixture[str]) -> None:
    command.explain(["input"])
    text = capsys.readouterr().out
    assert text.startswith("# input\n\nWaiting for the next batch")
    assert "\n\n# The probe `input`\n" in text


def test_a_whole_report(capsys: pytest.CaptureFixture[str]) -> None:
    command.explain(["report"])
    assert capsys.readouterr().out.startswith("# Read the report\n")


def test_through_a_pipe_the_page_comes_as_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    command.explain(["grf013"])
    text = capsys.readouterr().out
    page = (pages.root() / "findings" / "GRF013.md").read_text(encoding="utf-8")
    assert text.startswith("# GRF013 · ") and "\n## How to verify\n" in text
    assert "typical_gain" in page and "typical_gain" not in text
    assert "## See also" in page and "## See also" not in text


def test_the_full_page_says_how_a_finding_is_detected(capsys: pytest.CaptureFixture[str]) -> None:
    command.explain(["GRF013"], full=True)
    text = capsys.readouterr().out
    part = text.partition("\n## Detection and gain estimate\n")[2].partition("\n## See also\n")
    assert "- Maximum share of the sorted or shuffled elements that is used: 50 %." in part[0]
    assert "tf.math.top_k" in part[2]


def test_on_a_terminal_it_is_formatted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    file = Terminal()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    command.show("# Title\n\nSome `code` and a [page](other.md), [bold] and [web](https://example.org).", file)
    text = file.getvalue()
    assert "\x1b[" in text and "# Title" not in text
    assert "other.md" not in text
    assert "[bold]" in text, "brackets in a page are no markup of the console"


def test_the_words_of_a_page_cannot_command_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    command.show("a\x1b[2Jb", sys.stdout)
    assert capsys.readouterr().out == "a\\x1b[2Jb\n"


@pytest.mark.parametrize(
    ("topic", "words"),
    [
        ("claen steps", "nearest: clean step"),
        ("BAT01", "nearest: BAT001"),
        ("HEL777", "the package that reports it ships none"),
        ("quite another thing", "tfperf list rules"),
    ],
)
def test_an_unknown_word_is_one_line_with_the_nearest(topic: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        command.explain(topic.split())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_list_names_everything(capsys: pytest.CaptureFixture[str]) -> None:
    command.list_rules()
    command.list_terms()
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert "BAT001  batch_size too small; call overhead dominates the step" in lines
    assert {"clean step", "Sections of the report"} <= set(lines)


def test_a_package_ships_pages_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "acme_rules" / "pages"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise SystemExit('imported')")
    (folder / "ACME001.md").write_text("# ACME001: Saves too often\n\nIt does.\n")
    (folder / "BAT001.md").write_text("# BAT001: Not ours\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(rule_pages, "installed", lambda group: [EntryPoint("acme", "acme_rules.more:RULES", group)])
    assert pages.title(pages.findings()["ACME001"]) == "Saves too often"
    assert pages.title(pages.findings()["BAT001"]) != "Not ours"
