"""LIN001 where the time of one loop is in several functions: one finding has the price of the whole loop."""

from __future__ import annotations

from evidence_builder import FILE, make_evidence, make_samples, make_steps
from tfperfkit_rules.step import python_time

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame

SOURCE = """\
import numpy as np
def side(a, b):
    return np.cross(a, b)
def inside(point, corners):
    low = sum(side(point, c) > 0 for c in corners)
    return low > sum(side(c, point) > 0 for c in corners)
def draw(n, corners):
    found = []
    while len(found) < n:
        point = np.random.rand(2)
        if inside(point, corners) and not (
            inside(-point, corners)
        ):
            found.append(point)
    return found
for epoch in range(90):
    points = draw(64, corners)
"""
EPOCH = Frame(FILE, 1, "<module>", 17)
WAYS = [(Frame(FILE, 7, "draw", a), Frame(FILE, 4, "inside", b)) for a in (11, 12) for b in (5, 6)]
SIDE = Frame(FILE, 2, "side", 3)


def find_in(loop: SourceSpan) -> list[Finding]:
    samples = make_samples(
        [
            *((10, "python", [EPOCH, *way, SIDE]) for way in WAYS),
            (30, "python", [EPOCH, Frame(FILE, 7, "draw", 10)]),
            (30, "graph", [EPOCH]),
        ]
    )
    parts, steps = {"python": 70.0, "graph": 30.0}, make_steps(each_ms=100.0, loop=loop)
    return list(python_time.hot_python(make_evidence(parts_ms=parts, steps=steps, samples=samples, source=SOURCE)))


def test_a_loop_and_what_it_calls_are_one_finding() -> None:
    """No line is nearly always on the way to ``side``: two of ``draw`` and two of ``inside`` are. The loop is."""
    (finding,) = find_in(SourceSpan(FILE, 16))
    assert round(finding.share_of_step, 2) == 0.7
    assert {place.line for place in finding.where} >= {3, 10}


def test_functions_that_only_the_loop_of_the_steps_joins_are_two() -> None:
    assert len(find_in(SourceSpan(FILE, 9))) == 2, "the loop in draw makes the steps"
