"""STP017 on made-up evidence: Python's own garbage collections, and the line that makes the objects."""

from __future__ import annotations

from typing import Any

import pytest
from eager_builder import leaf, seen, site, sites
from evidence_builder import FILE, MS, make_evidence, make_steps
from tfperfkit_rules.step.collected_objects import collected_objects, find_makers

from tfperfkit.model import SourceSpan
from tfperfkit.offers import GarbageCollections

SOURCE = """\
import json
for line in r:
    rows = [row.tolist() for row in make()]
    step(rows)
def aside():
    d = {}
"""


def collecting(*, gc_ms: float = 4.0, kind: str = "s", late_ms: float = 0.0, source: str = SOURCE) -> Any:
    """Return a loop in each of whose steps a thread collects for 4 ms; the first sample after that is of line 3."""
    table = make_steps(60)
    spans, rows = [], []
    rows.append(["stack", 1, [[FILE, 1, "<module>", 3, None]], "", "python", ""])
    rows.append(["stack", 2, [[FILE, 5, "aside", 6, None]], "", "python", ""])
    for step in table.steps:
        spans.append((step.begin_ns, step.begin_ns + 4 * MS))
        rows.append(["s", step.begin_ns + 1 * MS, 2, 8])  # another thread
        rows.append([kind, step.begin_ns + round((4.5 + late_ms) * MS), 1, 7])
    spied = seen(table, [(60, "python", leaf(3)), (40, "graph", leaf(4))])
    return make_evidence(
        parts_ms={"python": 6.0 - gc_ms, "gc": gc_ms, "graph": 4.0},
        steps=table,
        source=source,
        **spied._asdict(),
        records={**sites(site(2, "call", 4, loops=(2,))), "samples": rows},
        offers={"memory": [GarbageCollections(spans=tuple(spans), threads=(7,) * len(spans))]},
    )


@pytest.mark.parametrize("kind", ["s", "awaited", "called", "busy"])
def test_collections_are_named_with_the_line_that_makes_the_objects(kind: str) -> None:
    (found,) = collected_objects(collecting(kind=kind))
    assert (found.code, found.where[0]) == ("STP017", SourceSpan(FILE, 3))
    assert found.title == "Garbage collection of line 3's objects takes 40 % of a step"
    assert found.gain.bounds and found.gain.bounds == (pytest.approx(1.25), pytest.approx(1 / 0.6))
    assert "gc.freeze()" in found.advice and found.parts == ("gc",)


def test_of_collections_without_a_sample_behind_them_no_line_is_known() -> None:
    assert {frame.line for frame in find_makers(collecting())} == {3}
    given = collecting(kind="other")
    assert not find_makers(given) and not list(collected_objects(given))


@pytest.mark.parametrize(
    "given",
    [collecting(gc_ms=0.9), collecting(source=SOURCE.replace("import json", "import gc; gc.collect()"))],
    ids=["less than a tenth", "by hand"],
)
def test_nothing_is_said_of_few_collections_or_of_those_by_hand(given: Any) -> None:
    assert not list(collected_objects(given))
