"""The rule about known leaks of TensorFlow's, on made-up evidence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import FILE
from input_builder import BATCH, evidence, mapped, pipeline, stage
from tfperfkit_probes.memory.model import MemoryData
from tfperfkit_rules.memory.known_leaks import known_leaks

GENERATOR = stage("Generator", 12, is_python=True)


def given(*stages: Any, made: int = 40, version: str = "2.21.0", growth: float = 0.0) -> Any:
    grown = MemoryData(growth_bytes_per_step=growth or None, growth_is_significant=growth > 0)
    found = evidence(pipeline(*(stages or (BATCH, GENERATOR)), datasets_made=made), data={"memory": grown})
    found.run = msgspec.structs.replace(found.run, versions={"tensorflow": version})
    return found


def test_a_generators_dataset_in_each_epoch_is_reported_where_it_is_made() -> None:
    (finding,) = known_leaks(given(growth=1e6))
    assert finding.code == "MEM005" and finding.severity == "low"
    assert [(place.file, place.line) for place in finding.where] == [(FILE, 12), (FILE, 20)]
    assert "TensorFlow 2.21.0 never frees" in finding.title and "pull/123530" in finding.detail
    assert "MEM001" in finding.absorbs


def test_without_growth_it_is_a_remark() -> None:
    (finding,) = known_leaks(given())
    assert finding.severity == "info" and not finding.absorbs


@pytest.mark.parametrize(
    ("stages", "fields"),
    [((), {"made": 3}), ((), {"version": "2.22.0"}), ((), {"version": ""}), ((BATCH, mapped()), {})],
)
def test_few_datasets_other_versions_and_no_python_are_left_in_peace(stages: Any, fields: Any) -> None:
    assert not list(known_leaks(given(*stages, **fields)))
