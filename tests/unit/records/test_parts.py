"""The table of parts: whatever can be sampled has a part, a cause and words."""

from __future__ import annotations

from typing import get_args

import pytest

from tfperfkit.records.parts import (
    BETWEEN,
    PARTS,
    TRACED,
    Activity,
    Cause,
    Context,
    PartName,
    StartPart,
    cause_of,
    part_of,
    part_of_cause,
    start_part_of,
    words_of,
)


def test_every_part_has_words_in_its_order() -> None:
    assert list(PARTS) == list(get_args(PartName))
    assert TRACED == ("input", "python", "eager_ops", "graph", "tracing", "other")
    labels = [words.label for words in PARTS.values()]
    assert len(set(labels)) == len(labels)
    for words in PARTS.values():
        assert words.label and words.sentence and words.between


@pytest.mark.parametrize("activity", get_args(Activity))
def test_every_activity_has_a_cause_a_part_and_words(activity: Activity) -> None:
    cause = cause_of(activity)
    assert cause in get_args(Cause)
    assert part_of_cause(cause) == (part_of(activity) or "other")
    assert words_of(activity) is not None


def test_every_cause_has_a_part_and_every_context_words() -> None:
    assert {part_of_cause(cause) for cause in get_args(Cause)} <= set(PARTS)
    assert {part_of_cause(cause) for cause in get_args(Cause)} >= {"gc", "evaluate", "saving"}
    assert all(words_of(context) is not None for context in get_args(Context))
    assert set(BETWEEN) <= set(get_args(Activity)) | set(get_args(Context))


def test_start_parts() -> None:
    for activity in get_args(Activity):
        assert start_part_of(activity, "") in get_args(StartPart)
    assert start_part_of("python", "build") == "building and setting up"
    assert start_part_of("waiting", "") == "not sampled"


@pytest.mark.parametrize("name", ["", "of another version"])
def test_unknown_names(name: str) -> None:
    assert part_of(name) is None and cause_of(name) == "" and words_of(name) is None
    assert part_of_cause(name) == "other" and start_part_of(name, "") == "not sampled"
