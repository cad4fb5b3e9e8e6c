"""DST004 on made-up runs: a strategy, the devices that the run had, and step time outside of the compiled part."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.distribution.one_device import one_device

from tfperfkit.model import Finding

SOURCE = "import tensorflow as tf\nstrategy = tf.distribute.MirroredStrategy()\n"
CPU, GPU = "/device:CPU:0", "/device:GPU:0"
SMALL_STEP = {"input": 4.0, "dispatch": 2.0, "graph": 4.0}


def findings(
    *devices: str, strategy: str = "MirroredStrategy", parts: dict[str, float] = SMALL_STEP, **fields: Any
) -> list[Finding]:
    given = {"machine": {"devices": list(devices)}, "settings": {"strategy": strategy}, **fields}
    evidence = make_evidence(parts_ms=parts, source=SOURCE, **given)
    return list(one_device(evidence))


@pytest.mark.parametrize("devices", [(CPU,), (CPU, GPU)])
def test_one_device_of_the_best_kind(devices: tuple[str, ...]) -> None:
    (found,) = findings(*devices)
    assert (found.code, found.family) == ("DST004", "distribution")
    assert found.share_of_step == pytest.approx(0.6) and found.severity == "low"
    assert [(place.file, place.line) for place in found.where] == [(FILE, 2)]


def test_in_long_steps_it_is_a_remark() -> None:
    (found,) = findings(CPU, parts={"input": 4.0, "graph": 96.0})
    assert (found.severity, found.share_of_step, found.gain.likely, found.parts) == ("info", 0.0, None, ())


@pytest.mark.parametrize("devices", [(), (CPU, "/device:CPU:1"), (CPU, GPU, "/device:GPU:1")])
def test_several_devices_or_unknown_ones(devices: tuple[str, ...]) -> None:
    assert findings(*devices) == []


@pytest.mark.parametrize("strategy", ["", "MultiWorkerMirroredStrategy", "ParameterServerStrategy"])
def test_other_strategies_have_their_replicas_elsewhere(strategy: str) -> None:
    assert findings(CPU, strategy=strategy) == []
