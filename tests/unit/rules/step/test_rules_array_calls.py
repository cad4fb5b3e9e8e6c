"""LIN001 of NumPy lines outside of training: a gain only where fewer or larger calls would do the same."""

from __future__ import annotations

import pytest
from evidence_builder import FILE, one
from tfperfkit_probes.lines.model import Function, Line, LinesData
from tfperfkit_rules.step.python_time import hot_python
from work_builder import frame, sampled, work_evidence

from tfperfkit.model import Finding

SOURCE = """\
import numpy as np
def vote(similarity):
    near = np.argpartition(-similarity, 15, axis=1)[:, :15]
    return near
def search(queries, gallery):
    for start in range(0, 5000, 1000):
        vote(queries[start:start + 1000] @ gallery.T)
search(queries, gallery)
"""
LOOP = """\
import numpy as np
def scale(rows):
    out = []
    for row in rows:
        out.append(np.sqrt(row))
    return out
parts = np.zeros((40, 500, 8))
for part in parts:
    scale(part)
"""


def numpy_line(source: str, line: int, *, loop: int, ms: float = 0.0, hits: int = 0) -> Finding:
    """Find what takes the time in a loop of 40 iterations whose samples are all at a NumPy line.

    ``ms`` and ``hits``: what line_profiler measured of the line; nothing if it made no hit.
    """
    inside = frame(line, "numpy:argpartition", name="work")
    rows = (Line(line, hits, ms, ms / 2000),)
    data = {"lines": LinesData((Function("work", FILE, 2, ms, rows),), (), 2000.0, "exact")} if hits else {}
    given = work_evidence(
        source, [(sampled(90, "python", frame(loop + 1), inside))], loop=loop, iterations=40, data=data
    )
    return one(hot_python(given))


def test_a_call_on_a_large_array_is_a_costly_line_without_a_gain() -> None:
    found = numpy_line(SOURCE, 3, loop=6, ms=1055, hits=5)
    assert found.is_note and found.gain.likely is None and "whole arrays" not in found.advice
    assert "tfperf knows no faster call" in found.advice


def test_without_line_profiler_the_iterations_of_the_work_tell_how_long_a_call_is() -> None:
    assert numpy_line(SOURCE, 3, loop=6).is_note


@pytest.mark.parametrize(("ms", "hits", "note"), [(1000, 20_000, False), (1000, 100, True), (0, 0, False)])
def test_many_short_calls_in_independent_iterations_have_a_gain(ms: float, hits: int, note: bool) -> None:
    assert numpy_line(LOOP, 5, loop=8, ms=ms, hits=hits).is_note is note


def test_short_calls_that_need_the_result_before_have_none() -> None:
    carried = LOOP.replace("out.append(np.sqrt(row))", "out = np.sqrt(row + out)")
    assert numpy_line(carried, 5, loop=8, ms=1000, hits=20_000).is_note


def test_a_comprehension_on_the_line_goes_over_elements_in_python() -> None:
    listed = SOURCE.replace("-similarity, 15, axis=1", "[-row for row in similarity], 15, axis=1")
    assert not numpy_line(listed, 3, loop=6).is_note
