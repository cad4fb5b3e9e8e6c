"""Which loops run a frame in each iteration: the iterable in a header is evaluated once."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.measures.source_text import find_frame_loops

from tfperfkit.records.samples import Frame

SOURCE = """\
def rows(x):
    yield from x
for batch in tiles:
    for kind in classify(batch).numpy():
        found.append(kind)
    for row in rows(batch):
        found.append(row)
    for number in range(9):
        found.append(number)
    for name, kind in zip(names, classify(batch)):
        found.append(kind)
    found += [f(x) for x in classify(batch) for y in classify(x)]
"""


def around(line: int, text: str, *called: str) -> list[int]:
    row = SOURCE.splitlines()[line - 1]
    begin = row.index(text)
    span = (line, line, begin, begin + len(text))
    return [loop.line for loop in find_frame_loops(evidence, Frame(FILE, 1, "<module>", line, span, called))]


evidence = make_evidence(source=SOURCE)
CALLED = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
NEXT = "tensorflow.python.data.ops.iterator_ops:__next__"


@pytest.mark.parametrize(
    ("line", "text", "called"),
    [
        (4, "classify(batch)", (CALLED,)),
        (4, "classify(batch).numpy()", ("tensorflow.python.framework.ops:numpy",)),
        (10, "classify(batch)", (CALLED,)),
        (12, "classify(batch)", (CALLED,)),
    ],
)
def test_the_iterable_is_evaluated_by_the_loop_around(line: int, text: str, called: tuple[str, ...]) -> None:
    assert around(line, text, *called) == [3]


@pytest.mark.parametrize(
    ("line", "text", "called"),
    [
        (3, "tiles", (NEXT,)),
        (4, "classify(batch).numpy()", (NEXT,)),  # takes the next element: the same place
        (6, "rows(batch)", ()),  # a generator runs as its elements are taken
        (8, "range(9)", ()),
        (12, "classify(x)", (CALLED,)),  # of a second for
        (12, "f(x)", (CALLED,)),
        (9, "found.append(number)", ()),
    ],
)
def test_what_runs_in_each_iteration_is_in_the_loop(line: int, text: str, called: tuple[str, ...]) -> None:
    loops = around(line, text, *called)
    assert loops[-1] == {9: 8}.get(line, line)
