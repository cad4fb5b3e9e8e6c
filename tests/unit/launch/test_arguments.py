"""Whose argument is it. ``--flag`` takes no value here, ``--run-dir`` and ``--probes`` do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfperfkit.errors import UsageError
from tfperfkit.launch.arguments import Split, split

OPTIONS = {"--run-dir": True, "--probes": True, "--flag": False, "-o": True, "-q": False, "--verbose": False}


def taken_apart(line: str) -> Split:
    parts = split(line.split(), OPTIONS)
    assert parts is not None
    return parts


@pytest.mark.parametrize(
    ("line", "ours", "target", "script"),
    [
        ("train.py", "", "train.py", ""),
        ("train.py --epochs 2", "", "train.py", "--epochs 2"),
        ("--run-dir r train.py --epochs 2", "--run-dir r", "train.py", "--epochs 2"),
        (
            "train.py --run-dir r --flag --epochs 2 --run-dir x",
            "--run-dir r --flag",
            "train.py",
            "--epochs 2 --run-dir x",
        ),
        ("--probes a train.py --probes=b c --flag", "--probes a --probes=b", "train.py", "c --flag"),
        ("-o a -q train.py -o b", "-o a -q", "train.py", "-o b"),
        ("--verbose train.py --verbose", "--verbose", "train.py", "--verbose"),
        ("train.py -- --run-dir r", "", "train.py", "--run-dir r"),
        ("train.py --flag -- --run-dir r -- x", "--flag", "train.py", "--run-dir r -- x"),
        ("-- train.py --run-dir r", "--run-dir r", "train.py", ""),
        ("-- --run-dir x", "", "--run-dir", "x"),
        ("train.py data --run-dir r", "", "train.py", "data --run-dir r"),
        ("train.py --help", "", "train.py", "--help"),
        ("train.py -h --run-dir r", "", "train.py", "-h --run-dir r"),
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


@pytest.mark.parametrize("line", ["-m pack.mod --run-dir r a", "-mpack.mod --run-dir r a"])
def test_modules(line: str) -> None:
    parts = taken_apart(line)
    assert (parts.is_module, parts.target) == (True, "pack.mod")
    assert (parts.ours, parts.script_arguments) == (("--run-dir", "r"), ("a",))


def test_taken_names_only_what_stood_after_the_script() -> None:
    assert taken_apart("--run-dir a train.py --flag --probes b").taken == ("--flag", "--probes", "b")


@pytest.mark.parametrize("line", ["-h", "--help", "--help-all", "--run-dir r --help", "--flag -h train.py"])
def test_help_is_ours_before_the_script(line: str) -> None:
    assert split(line.split(), OPTIONS) is None


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("", "no script given"),
        ("--run-dir r", "no script given"),
        ("--", "no script given"),
        ("-m", "-m needs the name of a module"),
        ("--run-di r train.py", "did you mean --run-dir?"),
        ("-x train.py", "tfperf run --help lists them"),
        ("--run-dir", "--run-dir needs a value"),
        ("train.py --run-dir", "if it is the script's: train.py -- --run-dir"),
        ("-m pack --flag --run-dir", "-m pack -- --flag --run-dir"),
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


@given(st.lists(st.sampled_from(["--run-dir", "--flag", "--probes=x", "--", "-m", "a", "--b", "-h"]), max_size=8))
def test_no_word_is_lost_or_made_up(words: list[str]) -> None:
    """The words after the script are ours, then perhaps a ``--``, then the script's: in this order, and complete."""
    try:
        parts = split(["train.py", *words], OPTIONS)
    except UsageError:
        return
    assert parts is not None
    rest = [*parts.taken, *parts.script_arguments]
    assert words in (rest, [*parts.taken, "--", *parts.script_arguments])


def test_a_default_stands_for_a_missing_script() -> None:
    parts = split(["--flag"], OPTIONS, "try", "last")
    assert parts is not None and (parts.target, parts.ours) == ("last", ("--flag",))
    parts = split(["train.py", "a"], OPTIONS, "try", "last")
    assert parts is not None and (parts.target, parts.script_arguments) == ("train.py", ("a",))
