"""What collectives cost: what of them no computing hides, and many small ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_builder import GEMM, REDUCE, gpu_trace
from xspace_builder import SpaceBuilder

from tfperfkit.reading import analyse, sources
from tfperfkit.reading.model import TraceReport

US = 1000


def read(path: Path) -> TraceReport:
    return analyse.read(sources.find(path), str(path), lambda _: lambda _: None)


def exchanging(each: int, took_us: int, *, computing: bool = False) -> SpaceBuilder:
    """Three steps of 10 ms on two GPUs: 5 ms of a product, then so many exchanges one after the other, with
    ``computing`` a product on another stream meanwhile."""
    builder = SpaceBuilder()
    marks = [("train", step * 10_000 * US, 10_000 * US, {"step_num": step, "_r": 1}) for step in range(3)]
    builder.plane().line("python", *marks)
    for number in range(2):
        plane = builder.plane(f"/device:GPU:{number}")
        compute, exchanges = [], []
        for step in range(3):
            at = step * 10_000 * US
            compute.append((GEMM, at, 5_000 * US, {"tf_op": "model/dense/MatMul:MatMul"}))
            begin = at + 5_000 * US
            for index in range(each):
                name = {"tf_op": f"reduce_{index}/NcclAllReduce:NcclAllReduce"}
                exchanges.append((REDUCE, begin + index * took_us * US, took_us * US, name))
            if computing:
                compute.append((GEMM, begin, each * took_us * US, {"tf_op": "model/dense/MatMul:MatMul"}))
        plane.line("Stream #1(Compute)", *compute)
        plane.line("Stream #2(Nccl)", *exchanges)
    return builder


def codes(report: TraceReport) -> dict[str, float]:
    return {finding.code: finding.share_of_step for finding in report.findings}


def test_what_computing_hides_is_no_loss(tmp_path: Path) -> None:
    alone = read(exchanging(2, 1000).write(tmp_path / "a.xplane.pb"))
    hidden = read(exchanging(2, 1000, computing=True).write(tmp_path / "b.xplane.pb"))
    assert codes(alone)["TRC005"] == pytest.approx(0.2)
    assert not codes(hidden).keys() & {"TRC005", "TRC008"}
    assert [row.hidden_ms for row in alone.collectives] == [0, 0]
    assert [row.hidden_ms for row in hidden.collectives] == [row.total_ms for row in hidden.collectives]


def test_many_small_exchanges_are_told_as_such(tmp_path: Path) -> None:
    report = read(exchanging(40, 30).write(tmp_path / "a.xplane.pb"))
    assert codes(report)["TRC008"] == pytest.approx(0.12) and "TRC005" not in codes(report)
    (told,) = [finding for finding in report.findings if finding.code == "TRC008"]
    assert told.title == "Devices exchange 40 small values one by one in a step"
    assert {m.name: m.value for m in told.evidence}["transfer of one of them"] == pytest.approx(0.03)


@pytest.mark.parametrize(("each", "took_us"), [(4, 30), (40, 80)])
def test_few_or_long_exchanges_are_not(tmp_path: Path, each: int, took_us: int) -> None:
    assert "TRC008" not in codes(read(exchanging(each, took_us).write(tmp_path / "a.xplane.pb")))


def test_one_exchange_of_a_step_is_reported_in_all(tmp_path: Path) -> None:
    assert "TRC005" in codes(read(gpu_trace(5).write(tmp_path / "a.xplane.pb")))
