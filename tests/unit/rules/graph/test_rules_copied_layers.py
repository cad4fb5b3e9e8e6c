"""OPS001 for TimeDistributed: the lines that make the layers, what does without, the price of all functions."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_probes.ops.model import CopiedLayer, Marks, OpsData
from tfperfkit_rules.graph.copied_layers import copied_layers
from tfprof_builder import brief

from tfperfkit.model import Finding

SOURCE = """from keras import layers

x = layers.TimeDistributed(layers.Dense(32))(x)
norm = layers.LayerNormalization()
x = layers.TimeDistributed(norm)(x)
"""


def judged(source: str = SOURCE, *, operations: int = 4000, ran: tuple[float | None, ...] = (3000.0,)) -> list[Finding]:
    layer = CopiedLayer(layer="net/each", copies=50, operations=operations)
    functions = tuple(
        brief(
            graph=f"step{number}",
            operations=5000,
            trace_ms=7000.0,
            first_execution_ms=first,
            traces=1,
            marks=Marks(copied_layers=[layer]),
        )
        for number, first in enumerate(ran)
    )
    return list(copied_layers(make_evidence(data={"ops": OpsData(functions=[], all=functions)}, source=source)))


def measured(finding: Finding, name: str) -> float:
    return next(row.value for row in finding.evidence if row.name == name)


def test_the_lines_that_wrap_layers_are_named_and_what_does_without() -> None:
    (finding,) = judged()
    assert finding.code == "OPS001" and finding.absorbs == ("CMP004",)
    assert [(place.file, place.line) for place in finding.where] == [(FILE, 3), (FILE, 5)]
    assert "Dense and LayerNormalization: layers.Dense(...)(x) instead of" in finding.advice
    assert "keras.ops.reshape" not in finding.advice


def test_other_layers_get_one_batch_of_all_time_steps() -> None:
    (finding,) = judged("import keras\ny = keras.layers.TimeDistributed(keras.layers.Conv2D(8, 3))(x)\n")
    assert "Around Conv2D, make one batch" in finding.advice and "Leave TimeDistributed out" not in finding.advice


def test_the_price_is_of_all_functions_that_ran_but_for_one_copy() -> None:
    name = "tracing and first run of these layers"
    (one,) = judged()
    assert measured(one, name) == pytest.approx(4000 * (1 - 1 / 50) / 5000 * 10_000)
    (two,) = judged(ran=(3000.0, None, 1000.0))
    assert measured(two, name) == pytest.approx(4000 * (1 - 1 / 50) / 5000 * 18_000)


@pytest.mark.parametrize("others", [{"source": "x = 1\n"}, {"operations": 300}, {"ran": (None,)}])
def test_silent_where_nobody_wraps_little_is_copied_or_nothing_ran(others: dict[str, Any]) -> None:
    assert judged(**others) == []
