"""DST005 on made-up steps: what each replica gets of a batch, and what of the step does not grow with it."""

from __future__ import annotations

from typing import Any

import pytest
from computed_builder import compiled, ran
from eager_builder import site, sites
from evidence_builder import FILE, make_evidence, make_steps
from tfperfkit_probes.ops.model import Exchanged, Marks
from tfperfkit_rules.distribution.divided import divided_batch
from tfprof_builder import brief, graphs

from tfperfkit.model import Finding, SourceSpan

SOURCE = "BATCH = 32\ndata = strategy.experimental_distribute_dataset(data.batch(BATCH))\n"
SCALED = "BATCH = 8 * strategy.num_replicas_in_sync\ndata = data.batch(BATCH)\n"
UPDATES = tuple(ran("Mul", 0.1, "update") for _ in range(10))
COMPUTES = ran("MatMul", 20.0, flops=2000e6)


def data(replicas: int, devices: int) -> dict[str, Any]:
    row = Exchanged(
        type="CollectiveReduceV2", dtype="float32", ops=1.0, rounds=1, bytes=1e6, devices=devices, replicas=replicas
    )
    return {"ops": graphs(brief(marks=Marks(exchanged=[row])))}


def findings(
    *operations: Any, replicas: int = 4, devices: int = 4, batch: int = 32, source: str = SOURCE, steps: int = 1000
) -> list[Finding]:
    given = {"source": source, "records": sites(site(1, "batch", 2)), "data": data(replicas, devices)}
    return list(divided_batch(compiled(operations, batch=batch, steps=steps, **given)))


def test_a_batch_as_for_one_device() -> None:
    (found,) = findings(*UPDATES)
    assert (found.code, found.where[0]) == ("DST005", SourceSpan(FILE, 1))
    assert found.title == "Batch of 32 is too small to divide among 4 replicas: 8 each"
    assert found.gain.low or found.gain.bounds
    assert (found.severity, found.headroom) != ("info", True) and "BAT002" in found.absorbs


def test_of_several_processes_each_has_its_part_of_the_whole() -> None:
    (found,) = findings(*UPDATES, replicas=4, devices=2, batch=16)
    assert found.title == "Batch of 32 is too small to divide among 4 replicas: 8 each"


def test_where_the_step_computes_there_is_little_to_gain() -> None:
    assert findings(COMPUTES) == []


@pytest.mark.parametrize("given", [{"replicas": 1, "devices": 1}, {"steps": 20}, {"batch": 0}])
def test_one_replica_a_short_run_and_an_unknown_batch(given: dict[str, Any]) -> None:
    assert findings(*UPDATES, **given) == []


def test_a_batch_that_was_scaled_is_reported_where_each_still_has_little() -> None:
    assert len(findings(*UPDATES, source=SCALED)) == 1
    assert findings(*UPDATES, batch=256, source=SCALED) == []


def test_without_a_trace_it_is_a_remark_without_a_factor() -> None:
    def untraced(batch: int) -> list[Finding]:
        fields = {"source": SOURCE, "records": sites(site(1, "batch", 2)), "data": data(8, 4)}
        steps = make_steps(1000, 10.0, batch_size=batch)
        return list(divided_batch(make_evidence(parts_ms={"graph": 10.0}, steps=steps, **fields)))

    (found,) = untraced(16)
    assert (found.gain.likely, found.gain.bounds, found.share_of_step) == (None, None, 0.0)
    assert untraced(256) == []
