"""The cost of collectives: the part that no computing hides, and many small ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from gpu_builder import GEMM, REDUCE, gpu_trace
from xspace_builder import SpaceBuilder

from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.reading import analyse, sources

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
    assert told.title == "Devices all-reduce 40 small values one by one in a step"
    assert {m.name: m.value for m in told.evidence}["time transferring one small collective"] == pytest.approx(0.03)


@pytest.mark.parametrize(("each", "took_us"), [(4, 30), (40, 80)])
def test_few_or_long_exchanges_are_not(tmp_path: Path, each: int, took_us: int) -> None:
    assert "TRC008" not in codes(read(exchanging(each, took_us).write(tmp_path / "a.xplane.pb")))


def test_one_exchange_of_a_step_is_reported_in_all(tmp_path: Path) -> None:
    assert "TRC005" in codes(read(gpu_trace(5).write(tmp_path / "a.xplane.pb")))


def test_exchanges_of_more_names_than_are_shown_are_counted(tmp_path: Path) -> None:
    report = read(exchanging(300, 15).write(tmp_path / "a.xplane.pb"))
    (told,) = [finding for finding in report.findings if finding.code == "TRC008"]
    assert told.title.startswith("Devices all-reduce 300 small values") and len(report.collectives) < 300


def of_host(first: int, last: int, late_ms: float, began_ms: float) -> SpaceBuilder:
    """One GPU of a cluster: steps of 10 ms that end in an exchange, which it begins ``late_ms`` after the first.

    Make a host's session, with the steps from ``first`` to ``last``; it began at a time of its own.
    """
    builder = SpaceBuilder()
    at = [began_ms + (step - first) * 10 for step in range(first, last + 1)]
    marks = [("train", int(1e6 * t), 10_000_000, {"step_num": first + n, "_r": 1}) for n, t in enumerate(at)]
    builder.plane().line("python", *marks)
    compute = [(GEMM, int(1e6 * t), int(1e6 * (5 + late_ms)), {"tf_op": "model/MatMul:MatMul"}) for t in at]
    took = [int(1e6 * (5 - late_ms)) for _ in at]
    name = {"tf_op": "grads/CollectiveReduceV2:CollectiveReduceV2"}
    exchanges = [(REDUCE, int(1e6 * (t + 5 + late_ms)), ps, name) for t, ps in zip(at, took, strict=True)]
    builder.plane("/device:GPU:0").line("Stream #1", *sorted(compute + exchanges, key=lambda event: event[1]))
    return builder


def test_exchanges_of_hosts_whose_sessions_began_at_different_steps(tmp_path: Path) -> None:
    for name, steps, late, began in (("a", (3, 8), 0.0, 20.0), ("b", (5, 11), 2.0, 3_600_000.0)):
        of_host(*steps, late, began).write(tmp_path / "plugins/profile/run" / f"{name}.xplane.pb")
    report = read(tmp_path)
    (row,) = report.collectives
    assert (row.devices, row.runs, row.compared) == (2, 13, 8)  # steps 5 to 8 are there on both
    assert (row.last, row.last_share) == ("b GPU:0", 1.0)
    assert (row.transfer_ms, row.wait_ms) == pytest.approx((2 * 4 * 3.0, 4 * 2.0))
    assert (report.steps.count, report.steps.median_ms) == (9, 10.0)


def test_exchanges_that_nothing_numbers_are_not_compared(tmp_path: Path) -> None:
    for name, count in (("a", 4), ("b", 6)):
        builder = SpaceBuilder()
        builder.plane("/device:GPU:0").line("Stream #1", *[(REDUCE, n * 1000, 500 + n, {}) for n in range(count)])
        builder.write(tmp_path / f"{name}.xplane.pb")
    (row,) = read(tmp_path).collectives
    assert (row.devices, row.runs, row.compared) == (2, 10, 0)
    assert (row.transfer_ms, row.wait_ms, row.last) == (None, None, "")


def test_runs_of_one_exchange_count_in_the_order_of_time(tmp_path: Path) -> None:
    """Of one collective in two sizes, which take turns: on the second device each is 100 shorter."""
    builder = SpaceBuilder()
    for device, less in enumerate((0, 100)):
        stats = [{"tf_op": "g/NcclAllReduce:NcclAllReduce", "kernel_details": f"grid:{n % 2}"} for n in range(4)]
        runs = [(REDUCE, n * 10_000, (5000 if n % 2 else 1000) - less, stats[n]) for n in range(4 - device)]
        builder.plane(f"/device:GPU:{device}").line("Stream #1", *runs)
    (row,) = read(builder.write(tmp_path / "a.xplane.pb")).collectives
    assert row.wait_ms == pytest.approx(3 * 100 / 1e6) and row.last == "GPU:1"
