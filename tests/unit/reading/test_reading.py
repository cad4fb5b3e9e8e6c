"""Reports on made traces, of which every figure is known."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from gpu_builder import GEMM, REDUCE, RELU, gpu_trace
from xspace_builder import SpaceBuilder

from tfperfkit.errors import TfperfError
from tfperfkit.offers.recorded_trace import TraceReport
from tfperfkit.reading import analyse, horovod, sources
from tfperfkit.reading.console import short_kernel
from tfperfkit.reading.machine import machine_of


def read(path: Path) -> TraceReport:
    source = sources.find(path)
    return analyse.read(source, str(path), lambda _: lambda _: None)


def made(tmp_path: Path, builder: SpaceBuilder, name: str = "host.xplane.pb") -> TraceReport:
    return read(builder.write(tmp_path / name))


def test_what_two_gpus_waited_for(tmp_path: Path) -> None:
    report = made(tmp_path, gpu_trace(5))
    assert (report.steps.count, report.steps.source, report.steps.median_ms) == (5, "markers", 10.0)
    first, second = report.devices
    assert (first.window_ms, first.kernels, first.copies) == (50.0, 15, 5)
    # The parts of a step: 1950 before the launch, 50 from it on; 4 between kernels; 450 and 50; at its end 400.
    assert first.waits_ms == pytest.approx(
        {
            "input": 5 * 1.9,
            "launch": 5 * (0.05 + 0.05),
            "Python": 5 * 0.45,
            "between kernels": 5 * 0.004,
            "not recorded": 5 * (0.05 + 0.4),
        }
    )
    assert (
        first.idle_ms == pytest.approx(sum(first.waits_ms.values())) == pytest.approx(first.window_ms - first.busy_ms)
    )
    assert first.only_copies_ms == pytest.approx(0.5)
    assert second.waits_ms["Python"] == pytest.approx(5 * 0.45)  # its launch is at 8451, where Python has ended
    assert report.idle_share == pytest.approx((first.idle_ms + second.idle_ms) / 100)
    assert report.host[0].what == "IteratorGetNext:IteratorGetNext" or report.host[0].what.startswith("train.py:31")


def test_kernels_scopes_copies_and_collectives(tmp_path: Path) -> None:
    report = made(tmp_path, gpu_trace(5))
    kernels = {row.kernel: row for row in report.kernels}
    assert {name: (row.runs, round(row.total_ms, 3)) for name, row in kernels.items()} == {
        GEMM: (10, 40.0),
        RELU: (10, 19.96),
        REDUCE: (10, 9.5),
    }
    assert kernels[GEMM].operation == "model/dense/MatMul"
    assert (kernels[GEMM].occupancy, kernels[GEMM].tensor_cores) == (0.25, False)
    assert {row.name: row.runs for row in report.operations} == {"MatMul": 10, "Relu": 10, "NcclAllReduce": 10}
    assert {row.name for row in report.scopes} == {"model/dense", "model/relu", "Adam"}
    (copy,) = report.copies
    assert (copy.kind, copy.runs, copy.bytes, copy.synchronous, copy.pageable) == ("device to host", 10, 40_000, 10, 10)
    (exchange,) = report.collectives
    assert (exchange.devices, exchange.runs, exchange.last, exchange.last_share) == (2, 10, "GPU:1", 1.0)
    assert (exchange.transfer_ms, exchange.wait_ms) == pytest.approx((9.0, 0.5))


def test_findings_are_ranked_and_have_figures(tmp_path: Path) -> None:
    report = made(tmp_path, gpu_trace(5))
    codes = {finding.code: finding for finding in report.findings}
    assert set(codes) == {"TRC001", "TRC002", "TRC005", "TRC006"}
    shares = [finding.share_of_step for finding in report.findings]
    assert shares == sorted(shares, reverse=True)
    assert codes["TRC001"].share_of_step == pytest.approx(0.19)
    assert codes["TRC002"].where[0].file == "train.py" and codes["TRC002"].where[0].line == 31
    assert all(finding.evidence and finding.advice for finding in report.findings)
    assert "accelerators idle" in report.headline


def test_a_busy_gpu_has_no_finding(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane("/host:CPU").line("python", *[("train", n * 10_000, 10_000, {"step_num": n}) for n in range(6)])
    stats = {"tf_op": "model/relu:Relu"}
    builder.plane("/device:GPU:0").line("Stream #1", *[("relu", n * 10_000, 9_990, stats) for n in range(6)])
    report = made(tmp_path, builder)
    assert report.findings == ()
    assert report.idle_share == pytest.approx(0.001)


def test_steps_of_the_profiler(tmp_path: Path) -> None:
    report = made(tmp_path, gpu_trace(4, marked=False, grouped=True))
    assert (report.steps.source, report.steps.count, report.steps.mean_ms) == ("profiler", 4, 10.0)


def test_steps_from_what_repeats(tmp_path: Path) -> None:
    report = made(tmp_path, gpu_trace(6, marked=False, host=False))
    assert (report.steps.source, report.steps.count) == ("repeated kernels", 6)
    assert report.steps.median_ms == pytest.approx(10.0)
    assert any("guessed" in note for note in report.notes)
    assert report.devices[0].waits_ms.keys() <= {"launch", "not recorded"}


def test_steps_from_a_call_that_repeats(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    calls = [(name, n * 1000, 700) for n in range(8) for name in ("PjitFunction(step)", "PjitFunction(step)")]
    builder.plane().line("python", *calls)
    report = made(tmp_path, builder)
    assert (report.steps.source, report.steps.count) == ("repeated call", 8)
    assert "one call of step to the next" in report.steps.words
    assert report.headline == "For 27 % of the step no thread of the host is in any event: Python, or waiting"


def test_steps_of_a_function_that_the_runtime_calls_by_two_names(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line("python", *[("EagerLocalExecute: __inference_train_step_48", n * 1000, 990) for n in range(8)])
    builder.plane().line("pool", *[("FunctionRun", n * 1000, 995) for n in range(8)])
    builder.plane().line("other", *[("IteratorGetNext:IteratorGetNext", n * 1000, 400) for n in range(8)])
    report = made(tmp_path, builder)
    assert "one call of train_step to the next" in report.steps.words
    assert report.headline == "For 40 % of the step a thread of the host fetches the next batch"


def tpu(builder: SpaceBuilder, runs: int = 4) -> None:
    """Write a program of 10 ms, called far ahead: a product of 1 ms, then 8 ms until the host has the result.

    The host's clock makes 5 ms of one of these.
    """
    calls = [("PjitFunction(f)", n * 1000, 900) for n in range(runs)]
    builder.plane().line("python", *calls)
    plane = builder.plane("/device:TPU:0")
    programs, ops = [], []
    back = "%copy-done.2 = f32[8]{0} copy-done((f32[8]{0}, f32[8]{0:S(5)}, u32[]) %copy-start.2)"
    for n in range(runs):
        at = (n + 1) * 10_000_000
        programs.append(("jit_f(123)", at, 10_000_000))
        own = [(at, 1_000_000), (at + 1_000_000, 8_000_000), (at + 9_000_000, 1_000_000)]
        names = [
            "%fusion.1 = f32[8]{0} fusion(f32[8]{0} %all-reduce.3)",
            back,
            "%all-reduce.3 = f32[8]{0} all-reduce()",
        ]
        for name, (begin, duration) in zip(names, own, strict=True):
            stats = {"device_offset_ps": begin * 1000, "device_duration_ps": duration * 1000, "bytes_accessed": 32}
            ops.append((name, begin, 5_000_000 if n == 1 and "done" in name else duration, stats))
    plane.line("XLA Modules", *programs)
    plane.line("XLA Ops", *ops)


def test_a_tpu_that_waits_for_what_the_host_keeps(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    tpu(builder)
    report = made(tmp_path, builder)
    assert (report.steps.source, report.steps.count, report.steps.median_ms) == ("repeated program", 4, 10.0)
    assert [(row.kernel, row.runs, row.total_ms) for row in report.kernels] == [
        ("all-reduce.3", 4, 4),
        ("fusion.1", 4, 4),
    ]
    assert [(row.kind, row.runs, row.total_ms, row.bytes) for row in report.copies] == [("host to device", 4, 32, 128)]
    assert [(row.name, row.runs) for row in report.collectives] == [("all-reduce.3", 4)]
    assert report.findings[0].code == "TRC004" and report.findings[0].share_of_step == pytest.approx(0.8)
    assert "Offload" in report.findings[0].advice
    assert report.headline == "Accelerators wait for memory copies: 80.0 % of the step"


def test_no_steps_at_all(tmp_path: Path) -> None:
    builder = SpaceBuilder()
    builder.plane().line("x", ("a:Relu", 0, 10), ("b:MatMul", 20, 30), ("c:Relu", 25, 5))
    report = made(tmp_path, builder)
    assert (report.steps.source, report.steps.count, report.findings) == ("none", 0, ())
    assert [(row.name, row.own_ms * 1e6) for row in report.host_operations] == [
        ("b:MatMul", pytest.approx(25)),
        ("a:Relu", pytest.approx(10)),
        ("c:Relu", pytest.approx(5)),
    ]


def test_many_hosts_of_a_run(tmp_path: Path) -> None:
    for host in ("worker0", "worker1"):
        gpu_trace(3).write(tmp_path / "plugins/profile/run" / f"{host}.xplane.pb")
    report = read(tmp_path)
    assert report.files == ("worker0.xplane.pb", "worker1.xplane.pb")
    assert [(row.host, row.device) for row in report.devices] == [
        ("worker0", "GPU:0"),
        ("worker0", "GPU:1"),
        ("worker1", "GPU:0"),
        ("worker1", "GPU:1"),
    ]
    assert report.collectives[0].devices == 4


def test_hosts_have_steps_and_clocks_of_their_own(tmp_path: Path) -> None:
    """Sessions that begin hours apart, and steps that only repeat: each host is read as if it were alone."""
    alone = made(tmp_path / "alone", gpu_trace(5))
    for number, host in enumerate(("worker0", "worker1", "worker2")):
        builder = gpu_trace(5)
        for plane in builder.message.planes:
            for line in plane.lines:
                line.timestamp_ns += number * 3_600_000_000_000
        builder.write(tmp_path / "logs" / f"{host}.xplane.pb")
    report = read(tmp_path / "logs")
    assert (report.steps.count, report.steps.median_ms) == (5, 10.0)
    assert report.idle_share == pytest.approx(alone.idle_share)
    assert report.waits_share == pytest.approx(alone.waits_share)
    assert [(row.host, row.devices, row.steps, row.median_ms) for row in report.hosts] == [
        (f"worker{n}", 2, 5, 10.0) for n in range(3)
    ]
    assert "6 accelerators of 3 hosts" in report.headline


def test_a_host_whose_file_is_damaged_hides_nothing_of_the_others(tmp_path: Path) -> None:
    whole = gpu_trace(5).write(tmp_path / "worker0.xplane.pb")
    (tmp_path / "worker1.xplane.pb").write_bytes(whole.read_bytes()[:-100])
    (tmp_path / "worker2.xplane.pb").write_bytes(b"")
    report = read(tmp_path)
    assert [row.host for row in report.devices] == ["worker0", "worker0"] and len(report.left_out) == 2
    whole.unlink()
    with pytest.raises(TfperfError, match="worker1"):
        read(tmp_path)


def test_short_kernels_are_counted_one_by_one(tmp_path: Path) -> None:
    """Time a hundred kinds of kernel, each of which is short in all runs but one."""
    builder = SpaceBuilder()
    runs = [(f"kernel_{n % 100}", n * 20_000, 15_000 if n < 100 else 5_000, {}) for n in range(300)]
    builder.plane("/device:GPU:0").line("Stream #1", *runs)
    report = made(tmp_path, builder)
    assert report.devices[0].short_kernels == 200
    (told,) = [finding for finding in report.findings if finding.code == "TRC003"]
    assert [each.value for each in told.evidence if each.name.startswith("kernels of at most")] == [200]


def test_the_newest_run_of_a_log_directory(tmp_path: Path) -> None:
    import os

    for age, run in ((200, "first"), (100, "second")):
        file = gpu_trace(3).write(tmp_path / "logs/plugins/profile" / run / "h.xplane.pb")
        os.utime(file, (1_000_000_000 - age, 1_000_000_000 - age))
    source = sources.find(tmp_path / "logs")
    assert source.run == "plugins/profile/second"
    assert source.others == ("plugins/profile/first",)


def chrome(events: list[dict[str, Any]]) -> bytes:
    names = [(1, "/device:GPU:0"), (2, "/host:CPU")]
    head = [{"ph": "M", "pid": pid, "name": "process_name", "args": {"name": name}} for pid, name in names]
    head += [{"ph": "M", "pid": 1, "tid": 7, "name": "thread_name", "args": {"name": "Stream #7(Compute)"}}]
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": [*head, *events, {}]}).encode()


def test_a_chrome_trace(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = []
    for n in range(4):
        at = n * 1000
        args = {"tf_op": "model/dense/MatMul:MatMul", "correlation_id": str(n + 1)}
        events.append({"ph": "X", "pid": 1, "tid": 7, "name": "gemm", "ts": at + 300, "dur": 700, "args": args})
        events.append({"ph": "X", "pid": 2, "tid": 1, "name": "train", "ts": at, "dur": 1000, "args": {"step_num": n}})
        events.append({"ph": "X", "pid": 2, "tid": 1, "name": "IteratorGetNext", "ts": at, "dur": 200})
        launch = {"ts": at + 250, "dur": 5, "args": {"correlation_id": n + 1}}
        events.append({"ph": "X", "pid": 2, "tid": 2, "name": "cuLaunchKernel", **launch})
    path = tmp_path / "a.trace.json.gz"
    path.write_bytes(gzip.compress(chrome(events)))
    report = read(path)
    assert (report.kind, report.steps.count, report.steps.median_ms) == ("chrome", 4, 1.0)
    assert report.devices[0].waits_ms == pytest.approx({"input": 0.8, "launch": 0.2, "not recorded": 0.2})
    assert report.kernels[0].operation == "model/dense/MatMul"


def test_a_chrome_trace_of_several_hosts(tmp_path: Path) -> None:
    """XProf writes the name of the host before that of the plane."""
    events: list[dict[str, Any]] = []
    for number, host in enumerate(("alpha", "beta")):
        gpu, cpu = 1000 * (number + 1) + 1, 1000 * (number + 1) + 2
        for pid, plane in ((gpu, "/device:GPU:0"), (cpu, "/host:CPU")):
            events.append({"ph": "M", "pid": pid, "name": "process_name", "args": {"name": f"{host} {plane}"}})
        for n in range(3):
            at = n * 1000 + number * 3.6e9
            events.append({"ph": "X", "pid": gpu, "tid": 7, "name": "gemm", "ts": at, "dur": 700})
            mark = {"ph": "X", "pid": cpu, "tid": 1, "name": "train", "ts": at, "dur": 1000}
            events.append({**mark, "args": {"step_num": n}})
    path = tmp_path / "a.trace.json"
    path.write_text(json.dumps({"traceEvents": events}))
    report = read(path)
    assert [(row.host, row.device, row.window_ms) for row in report.devices] == [
        ("alpha", "GPU:0", 3.0),
        ("beta", "GPU:0", 3.0),
    ]
    assert report.idle_share == pytest.approx(0.3)


def test_a_horovod_timeline(tmp_path: Path) -> None:
    events: list[dict[str, Any]] = [{"name": "process_name", "ph": "M", "pid": 1, "args": {"name": "grad_1"}}]
    for n in range(4):
        at = 1000 * n
        last = "0" if n == 0 else "1"
        events += [
            {"ph": "B", "name": "NEGOTIATE_ALLREDUCE", "ts": at, "pid": 1},
            {"ph": "X", "name": "1" if last == "0" else "0", "ts": at + 1, "pid": 1, "dur": 0},
            {"ph": "X", "name": last, "ts": at + 300, "pid": 1, "dur": 0},
            {"ph": "E", "ts": at + 300, "pid": 1},
            {"ph": "B", "name": "ALLREDUCE", "ts": at + 300, "pid": 1},
            {"ph": "B", "name": "MPI_ALLREDUCE", "ts": at + 310, "pid": 1},
            {"ph": "E", "ts": at + 390, "pid": 1},
            {"ph": "E", "ts": at + 400, "pid": 1},
        ]
    path = tmp_path / "timeline.json"
    path.write_text("[\n" + ",\n".join(json.dumps(event) for event in events) + ",\n")  # no end: it was killed
    assert sources.find(path).kind == "horovod"
    report = horovod.read(path, str(path), lambda _: None)
    (row,) = report.collectives
    assert (row.name, row.devices, row.runs) == ("grad_1", 2, 4)
    assert (row.wait_ms, row.transfer_ms, row.last, row.last_share) == (1.2, 0.4, "rank 1", 0.75)
    assert report.headline == (
        "Some tensor waits for the last rank in 35.3 % of the recorded time, and is exchanged in 11.8 %: "
        "rank 1 was the last to be ready 3 of 4 times"
    )
    (told,) = report.findings
    assert (told.code, told.title, told.basis) == ("TRC005", "Collectives (all-reduce) wait for rank 1", "run")
    assert told.share_of_step == pytest.approx(1200 / 3400)


@pytest.mark.parametrize("content", [b"", b"hello world", b"\x1f\x8bnothing", b"{", b"[1, 2", b"\x0a\x05ab"])
def test_what_is_no_trace_is_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.xplane.pb"
    path.write_bytes(content)
    with pytest.raises(TfperfError) as told:
        read(path)
    assert "\n" not in str(told.value)


def test_a_cut_trace(tmp_path: Path) -> None:
    data = gpu_trace().bytes()
    path = tmp_path / "x.xplane.pb"
    for size in range(1, len(data), 211):
        path.write_bytes(data[:size])
        with pytest.raises(TfperfError, match="damaged|empty|no events"):
            read(path)


def test_no_trace_in_a_folder(tmp_path: Path) -> None:
    (tmp_path / "notes.json").write_text("{}")
    with pytest.raises(TfperfError, match="no trace in|holds no events"):
        read(tmp_path)
    with pytest.raises(TfperfError, match="there is no"):
        read(tmp_path / "nothing")


def test_the_machines_peaks() -> None:
    volta = machine_of({"clock_rate": 1_530_000, "core_count": 80, "compute_cap_major": 7, "compute_cap_minor": 0})
    assert volta.flops_per_s == pytest.approx(15.7e12, rel=0.01)
    assert volta.tensor_flops_per_s == pytest.approx(125e12, rel=0.01)
    amd = {"device_vendor": "AMD", "clock_rate": 2_100_000, "core_count": 304, "compute_cap_major": 9}
    assert machine_of({**amd, "compute_cap_minor": 4}).tensor_flops_per_s == pytest.approx(1307e12, rel=0.01)
    assert machine_of({}).flops_per_s is None


def test_short_names_of_kernels() -> None:
    assert short_kernel("void tensorflow::functor::Fill<Eigen::half>(int, long)") == "Fill"
    assert short_kernel("volta_sgemm_128x64_nn") == "volta_sgemm_128x64_nn"
