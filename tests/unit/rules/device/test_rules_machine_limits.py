"""Processors and memory that the system kept from a run."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from evidence_builder import make_evidence
from tfperfkit_rules.device.machine_limits import swapping, throttled

from tfperfkit.diagnosis.ranking import rank
from tfperfkit.model import Finding


def found(**machine: Any) -> list[Finding]:
    evidence = make_evidence()
    evidence.run = msgspec.structs.replace(evidence.run, machine={"cpus": 4, **machine}, wall_s=50.0)
    return [*throttled(evidence), *swapping(evidence)]


@pytest.mark.parametrize(("held_s", "severity"), [(5.0, None), (20.0, "medium"), (100.0, "high")])
def test_a_quota_that_holds_the_script_back_is_reported_by_its_share(held_s: float, severity: str | None) -> None:
    findings = found(quota_cpus=1.5, throttled_ns=round(held_s * 1e9))
    assert [item.severity for item in rank(findings)] == ([severity] if severity else [])
    for item in findings:
        assert item.code == "DEV006" and item.share_of_step == held_s / 200
        assert "set_intra_op_parallelism_threads(2)" in item.advice


def test_memory_in_swap_counts_where_pages_come_back() -> None:
    assert [item.code for item in found(swapped_bytes=1 << 30, major_faults=5000)] == ["MEM004"]
    assert found(swapped_bytes=1 << 30, major_faults=100) == []
    assert found(swapped_bytes=1 << 20, major_faults=5000) == []
    assert found() == found(quota_cpus="?", throttled_ns=None) == []
