"""The rules about threads and oneDNN, on made-up evidence."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import make_evidence, one
from tfperfkit_rules.device.threads import onednn_off, threads
from tfprof_builder import op, traced

from tfperfkit.rule import Evidence

SOURCE = """import os, tensorflow as tf
os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"
tf.config.threading.set_intra_op_parallelism_threads(1)
"""
LONG = traced(op("MatMul", 80.0, count=100), op("Mul", 20.0, count=1000))
SHORT = traced(op("MatMul", 5.0, count=100), op("Mul", 5.0, count=1000))


def evidence(
    trace: Any = LONG, *, cpus: int = 2, devices: tuple[str, ...] = ("/device:CPU:0",), **settings: Any
) -> Evidence:
    return make_evidence(
        parts_ms={"graph": 9.0, "python": 1.0},
        data={"tfprof": trace},
        settings=settings,
        source=SOURCE,
        machine={"cpus": cpus, "devices": list(devices)},
    )


def test_one_thread_on_two_processors() -> None:
    finding = one(threads(evidence(intra_op_threads=1)))
    assert finding.title.endswith("1 thread per operation, 2 cores")
    # 0.9 of the step in the graph, 0.8 of it in operations of 0.8 ms, half of that is lost at most.
    assert finding.share_of_step == pytest.approx(0.36)
    assert finding.gain.bounds == pytest.approx((1 / (1 - 0.108), 1 / 0.64))
    assert [(span.file, span.line) for span in finding.where] == [("train.py", 3)]


@pytest.mark.parametrize("settings", [{}, {"intra_op_threads": 0}, {"intra_op_threads": 2}, {"intra_op_threads": 4}])
def test_enough_threads_are_none(settings: dict[str, int]) -> None:
    assert list(threads(evidence(**settings))) == []


def test_work_that_does_not_divide_is_none() -> None:
    assert list(threads(evidence(SHORT, intra_op_threads=1))) == []


def test_the_environment_sets_threads_too() -> None:
    assert one(threads(evidence(environment={"TF_NUM_INTRAOP_THREADS": "1"}))).code == "DEV004"
    assert list(threads(evidence(environment={"OMP_NUM_THREADS": "1"}))) == []


def test_many_threads_promise_nothing() -> None:
    finding = one(threads(evidence(intra_op_threads=16)))
    assert finding.title.endswith("16 threads per operation, 2 cores")
    assert (finding.severity, finding.gain.likely) == ("info", None)


def test_onednn_off() -> None:
    finding = one(onednn_off(evidence(environment={"TF_ENABLE_ONEDNN_OPTS": "0"})))
    assert finding.gain.bounds == pytest.approx((1 / (1 - 0.15 * 0.72), 1 / (1 - 0.9 * 0.72)))
    assert finding.where[0].line == 2


def test_onednn_on_or_without_its_operations_or_on_a_gpu_is_none() -> None:
    off = {"TF_ENABLE_ONEDNN_OPTS": "0"}
    assert list(onednn_off(evidence(environment={"TF_ENABLE_ONEDNN_OPTS": "1"}))) == []
    assert list(onednn_off(evidence())) == []
    assert list(onednn_off(evidence(traced(op("Mul", 50.0)), environment=off))) == []
    assert list(onednn_off(evidence(traced(op("_MklMatMul", 50.0)), environment=off))) == []
    assert list(onednn_off(evidence(devices=("/device:GPU:0",), environment=off))) == []
