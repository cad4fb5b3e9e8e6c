"""The rules about number formats, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import make_evidence
from tfperfkit_probes.devices.model import DevicesData
from tfperfkit_rules.precision.half import float16_on_cpu, unused_half_precision
from tfprof_builder import brief, graphs, op, traced

from tfperfkit.records.devices import Device, DeviceFacts
from tfperfkit.rule import Evidence

TRACE = traced(op("Conv2D", 60.0), op("Mul", 40.0))
SOURCE = "x = 1\nkeras.mixed_precision.set_global_policy('mixed_float16')\n"
GPU, CPU = "/device:GPU:0", "/device:CPU:0"


def evidence(
    half: float, *, policy: str = "mixed_float16", device: str = CPU, source: str = SOURCE, **data: Any
) -> Evidence:
    return make_evidence(
        parts_ms={"graph": 8.0, "python": 2.0},
        settings={"dtype_policy": policy} if policy else {},
        source=source,
        data={
            name: made
            for name, made in {"tfprof": TRACE, "ops": graphs(brief(half_flops_share=half)), **data}.items()
            if made is not None
        },
        machine={"devices": [device]},
    )


def cards(*capabilities: tuple[int, int] | None) -> DevicesData:
    found = tuple(
        Device(name=f"GPU:{n}", type="GPU", kind="physical", compute_capability=c) for n, c in enumerate(capabilities)
    )
    return DevicesData(
        devices=(),
        placements=(),
        fallbacks=(),
        copies=(),
        host_syncs=(),
        functions=(),
        facts=DeviceFacts(devices=found),
        no_gpu="",
        window_steps=0,
        transfers=(),
        accelerators=(),
        recording_ms=0.0,
        first_runs_ms=0.0,
    )


def test_float16_on_a_cpu() -> None:
    (finding,) = float16_on_cpu(evidence(1.0))
    # 0.48 of the step in convolutions, 0.8 in the graph.
    assert finding.gain.bounds == pytest.approx((1 / (1 - 0.24), 1 / (1 - 0.76)))
    assert finding.where[0].line == 2


def test_float16_is_known_from_the_graphs_where_no_window_saw_a_step() -> None:
    """Steps of half a minute: the run was interrupted before the first window."""
    (finding,) = float16_on_cpu(evidence(1.0, tfprof=None))
    assert (finding.gain.likely, finding.gain.bounds) == (None, None)
    assert finding.gain.high == pytest.approx(1 / (1 - 0.76))
    assert [row.name for row in finding.evidence] == ["share of the FLOPs in 16 bits"]
    assert not list(float16_on_cpu(evidence(0.05, tfprof=None)))


def test_float16_by_a_cast_of_ones_own() -> None:
    (finding,) = float16_on_cpu(evidence(0.5, policy="", source="x = tf.cast(x, tf.float16)\n"))
    assert finding.where[0].line == 1


@pytest.mark.parametrize(
    "given",
    [
        evidence(0.0, policy="float32"),
        evidence(0.05),
        evidence(1.0, device=GPU),
        evidence(1.0, policy="mixed_bfloat16", source="set_global_policy('mixed_bfloat16')"),
        evidence(1.0, policy="", source="x = tf.cast(x, tf.bfloat16)\n"),
    ],
)
def test_float32_bfloat16_and_gpus_are_none(given: Evidence) -> None:
    assert list(float16_on_cpu(given)) == []


def test_tensor_cores_unused() -> None:
    (finding,) = unused_half_precision(evidence(0.0, device=GPU, devices=cards((8, 6))))
    assert (finding.severity, finding.gain.likely) == ("info", None)


@pytest.mark.parametrize(
    "given",
    [
        evidence(0.0, device=GPU, devices=cards((6, 1))),
        evidence(0.0, device=GPU, devices=cards(None)),
        evidence(0.9, device=GPU, devices=cards((8, 6))),
        evidence(0.0),
        evidence(0.0, device=GPU),
    ],
)
def test_used_or_missing_or_unknown_tensor_cores_are_none(given: Evidence) -> None:
    assert list(unused_half_precision(given)) == []
