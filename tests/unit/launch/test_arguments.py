"""Whose argument is it. ``--flag`` takes no value here, ``--out`` and ``--probes`` do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.errors import UsageError
from tfperfkit.launch.arguments import Split, split

OPTIONS = {"--out": True, "--probes": True, "--flag": False}


def taken_apart(line: str) -> Split:
    parts = split(line.split(), OPTIONS)
    assert parts is not None
    return parts


@pytest.mark.parametrize(
    ("line", "ours", "target", "script"),
    [
        ("train.py", "", "train.py", ""),
        ("train.py --epochs 2", "", "train.py", "--epochs 2"),
        ("--out r train.py --epochs 2", "--out r", "train.py", "--epochs 2"),
        ("train.py --out r --flag --epochs 2 --out x", "--out r --flag", "train.py", "--epochs 2 --out x"),
        ("--probes a train.py --probes=b c --flag", "--probes a --probes=b", "train.py", "c --flag"),
        ("train.py -- --out r", "", "train.py", "--out r"),
        ("train.py --flag -- --out r -- x", "--flag", "train.py", "--out r -- x"),
        ("-- train.py --out r", "--out r", "train.py", ""),
        ("-- --out x", "", "--out", "x"),
        ("train.py data --out r", "", "train.py", "data --out r"),
        ("train.py --help", "", "train.py", "--help"),
        ("train.py -h --out r", "", "train.py", "-h --out r"),
        ("train.py --ou r", "", "train.py", "--ou r"),
        ("-", "", "-", ""),
    ],
)
def test_whose_it_is(line: str, ours: str, target: str, script: str) -> None:
    parts = taken_apart(line)
    assert parts.ours == tuple(ours.split())
    assert parts.target == target
    assert parts.script_arguments == tuple(script.split())
    assert not parts.is_module


@pytest.mark.parametrize("line", ["-m pack.mod --out r a", "-mpack.mod --out r a"])
def test_modules(line: str) -> None:
    parts = taken_apart(line)
    assert (parts.is_module, parts.target) == (True, "pack.mod")
    assert (parts.ours, parts.script_arguments) == (("--out", "r"), ("a",))


def test_taken_names_only_what_stood_after_the_script() -> None:
    assert taken_apart("--out a train.py --flag --probes b").taken == ("--flag", "--probes", "b")


@pytest.mark.parametrize("line", ["-h", "--help", "--out r --help", "--flag -h train.py"])
def test_help_is_ours_before_the_script(line: str) -> None:
    assert split(line.split(), OPTIONS) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "no script given"),
        ("--out r", "no script given"),
        ("--", "no script given"),
        ("-m", "-m needs the name of a module"),
        ("--ou r train.py", "did you mean --out?"),
        ("-x train.py", "tfperf run --help lists them"),
        ("--out", "--out needs a value"),
        ("train.py --out", "if it is the script's: train.py -- --out"),
        ("-m pack --flag --out", "-m pack -- --flag --out"),
    ],
)
def test_mistakes(line: str, says: str) -> None:
    with pytest.raises(UsageError) as caught:
        split(line.split(), OPTIONS)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@given(st.lists(st.text(max_size=8)))
def test_after_the_dashes_nothing_is_touched(words: list[str]) -> None:
    parts = split(["--flag", "train.py", "--", *words], OPTIONS)
    assert parts is not None
    assert parts.script_arguments == tuple(words)


@given(st.lists(st.sampled_from(["--out", "--flag", "--probes=x", "--", "-m", "a", "--b", "-h"]), max_size=8))
def test_no_word_is_lost_or_made_up(words: list[str]) -> None:
    """What follows the script is ours, then perhaps a ``--``, then the script's: in this order, and complete."""
    try:
        parts = split(["train.py", *words], OPTIONS)
    except UsageError:
        return
    assert parts is not None
    rest = [*parts.taken, *parts.script_arguments]
    assert words in (rest, [*parts.taken, "--", *parts.script_arguments])
