"""Graphs that a function builds again have the stacks of the first, if the compared ones are equal."""

from __future__ import annotations

import pytest

from tfperfkit.instruments.graphs import equal_stacks
from tfperfkit.instruments.graphs.equal_stacks import Compared, EqualStacks

COUNT = 100
NAMES, KINDS, SAME = [f"op{number}" for number in range(COUNT)], ["Mul"] * COUNT, list(range(COUNT))


class Lines:
    """Lines of a function's operations; counts how many are read."""

    def __init__(self, first: int = 1, changed: int | None = None) -> None:
        self._lines = [f"file.py:{first + number}" for number in range(COUNT)]
        if changed is not None:
            self._lines[changed] = "file.py:7777"
        self.read = 0

    def __call__(self, index: int) -> str:
        self.read += 1
        return self._lines[index]


def compare(known: EqualStacks, lines: Lines, names: list[str] = NAMES, same: list[int] = SAME) -> Compared | None:
    return known.compare(names, KINDS, same, lines)


def test_an_equal_graph_needs_few_stacks() -> None:
    known, lines = EqualStacks(), Lines()
    first = compare(known, lines)
    assert known.find(first) is None
    known.keep(first, ([], SAME))
    lines.read = 0
    assert known.find(compare(known, lines)) == ([], SAME)
    assert lines.read < COUNT // 4


def test_other_lines_names_or_shared_stacks_are_another_graph() -> None:
    known = EqualStacks()
    known.keep(compare(known, Lines()), ([], SAME))
    for other in (
        compare(known, Lines(first=2)),
        compare(known, Lines(changed=COUNT - 1)),
        compare(known, Lines(), names=[*NAMES[1:], "other"]),
        compare(known, Lines(), same=[0, 0, *SAME[2:]]),
        compare(known, Lines(), same=[0] * COUNT),  # a few stacks are read anyway
    ):
        assert known.find(other) is None


def test_the_oldest_graphs_give_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equal_stacks, "_MAX_OPERATIONS", 2 * COUNT)
    known = EqualStacks()
    graphs = [compare(known, Lines(first=1), names=[f"{letter}{name}" for name in NAMES]) for letter in "abc"]
    for graph in graphs:
        known.keep(graph, ([], SAME))
        known.keep(graph, ([], SAME))  # of another thread, or with other lines
    assert [known.find(graph) is not None for graph in graphs] == [False, True, True]
