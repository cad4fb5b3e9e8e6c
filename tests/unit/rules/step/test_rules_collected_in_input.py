"""STP005 where what prepares the batches collects garbage, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence, make_steps
from tfperfkit_probes.input.model import InputData, KerasInput
from tfperfkit_rules.step.collected_in_input import collected_in_input

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import SourceSpan
from tfperfkit.records.spans import Spans
from tfperfkit.rule import Evidence

SOURCE = """\
import gc
class Rows(PyDataset):
    def __getitem__(self, i):
        gc.collect()
        return self.x[i]

    def tidy(self):
        gc.collect()
model.fit(Rows())
"""


def collecting(source: str = SOURCE, *, gc_ms: float = 6.0, every: int = 1, place: int = 3) -> Evidence:
    table = make_steps(60)
    row = KerasInput(
        kind="PyDataset",
        way="fit",
        validation=False,
        file=FILE,
        line=9,
        function="",
        place=SourceSpan(FILE, place, "__getitem__"),
    )
    spans = [(step.begin_ns, step.begin_ns + MS) for step in table.steps[::every]]
    given: dict[str, Any] = {"steps": table, "source": source, "collections": Spans(spans)}
    parts: dict[Any, float] = {"gc": gc_ms, "graph": 10 - gc_ms}
    return make_evidence(parts_ms=parts, data={"input": InputData(keras=(row,))}, **given)


def test_a_dataset_that_collects_for_each_batch() -> None:
    (found,) = collected_in_input(collecting())
    assert (found.code, found.where) == ("STP005", (SourceSpan(FILE, 4, "__getitem__"),))
    low, high = found.gain.bounds or (0, 0)
    assert 2 < low < high and rank([found])[0].severity == "high"


def test_a_helper_that_it_calls() -> None:
    source = SOURCE.replace("        gc.collect()\n        return", "        self.tidy()\n        return")
    (found,) = collected_in_input(collecting(source))
    assert found.where == (SourceSpan(FILE, 8, "tidy"),)


@pytest.mark.parametrize(
    "given",
    [
        collecting(gc_ms=0.2),
        collecting(every=10),
        collecting(SOURCE.replace("        gc.collect()\n        return", "        return")),
        collecting(place=9),
    ],
    ids=["short", "Python's own", "elsewhere", "another function"],
)
def test_it_stays_silent(given: Evidence) -> None:
    assert not list(collected_in_input(given))
