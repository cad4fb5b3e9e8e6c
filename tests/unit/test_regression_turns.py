"""``benchmarks.regressions``: turns that are collected in several goes."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from benchmarks.regressions import NOTHING, PLANTED, done_before, to_do
from benchmarks.regressions import _append as append

KINDS = (*PLANTED, NOTHING)


def test_each_kind_is_checked_once_a_turn() -> None:
    order = list(to_do([], 3))
    assert [Counter(order[at : at + 6]) for at in (0, 6, 12)] == [Counter(KINDS)] * 3


def test_what_is_done_is_not_done_again(tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    first = list(to_do([], 2))[:8]  # a turn and two checks, then it was struck in the middle of a line
    for kind in first:
        append(file, json.dumps({"kind": kind, "outcome": "pass"}))
    with file.open("a") as out:
        out.write('{"kind": "a re')
    rest = list(to_do(done_before(file), 2))
    assert Counter([*first, *rest]) == Counter(dict.fromkeys(KINDS, 2))
    for kind in rest:
        append(file, json.dumps({"kind": kind, "outcome": "pass"}))
    assert list(to_do(done_before(file), 2)) == []


def test_a_file_that_is_not_there_has_nothing(tmp_path: Path) -> None:
    assert done_before(tmp_path / "none.jsonl") == done_before(None) == []
