"""EAG004 of ``evaluate``, whose batches Python does not see: the size of its arrays tells how many there are."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from eager_builder import site
from evidence_builder import FILE, MS, one
from tfperfkit_probes.input.model import InputData, KerasInput
from tfperfkit_rules.eager.small_batches import batches_too_small
from tfprof_builder import brief
from work_builder import CALL, SETTING_UP, frame, sampled, work_evidence

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import FunctionCosts

EVALUATE = "keras.src.backend.tensorflow.trainer:evaluate"
SOURCE = "import keras\nm = keras.Sequential([])\nfor x in xs:\n    m.evaluate(x, y, batch_size=1)\n"


def found(call_ms: float = 1500.0, kind: str = "arrays", batches: int = 1000, **costs: Any) -> list[Finding]:
    """Calls that compute for three quarters of their time, by the samples."""
    stacks = [
        sampled(75, "graph", frame(4, EVALUATE, CALL), context="evaluate"),
        sampled(24, "dispatch", frame(4, EVALUATE, "a:b"), context="evaluate"),
        sampled(1, "tracing", frame(4, EVALUATE, SETTING_UP), context="evaluate"),
    ]
    rows = [[1, int(n * call_ms * MS), int((n + 0.9) * call_ms * MS), 1] for n in range(5)]
    given = KerasInput(
        kind=kind, way="evaluate", validation=False, file=FILE, line=4, function="", batch_size=1, batches=batches
    )
    small = {"function": "multi_step_on_iterator", "owner": "keras", "flops": 500.0, "moved_bytes": 2e3}
    return list(
        batches_too_small(
            work_evidence(
                SOURCE,
                stacks,
                loop=3,
                iterations=5,
                records={"sites": [msgspec.to_builtins(site(1, "evaluate", 4))], "markers": rows},
                data={"input": InputData(pipelines=(), keras=(given,), steps=0)},
                offers={"made": [FunctionCosts(functions=(brief(**{**small, **costs}),))]},
                machine_gflops=50.0,
            )
        )
    )


def test_evaluate_in_tiny_batches() -> None:
    finding = one(found())
    assert (finding.code, finding.where[0]) == ("EAG004", SourceSpan(FILE, 4))
    assert finding.title == "m.evaluate called with small batches, so overhead dominates"
    assert [item.value for item in finding.evidence if item.name == "batches timed"] == [5000.0]
    assert finding.gain.bounds and finding.gain.bounds[0] > 1.5


@pytest.mark.parametrize(
    "fields",
    [
        {"flops": 5e7},  # a batch computes
        {"call_ms": 10_000.0},  # so long a batch does compute, whatever was counted
        {"kind": "tf.data"},  # its pipeline may be what takes the time
        {"batches": 3},
        {"flops": None},
        {"flops_note": "loops counted once"},
    ],
)
def test_silence_where_a_batch_may_need_its_time(fields: dict[str, Any]) -> None:
    assert found(**fields) == []
