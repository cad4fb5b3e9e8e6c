"""``tfperf report`` as a user types it, and its figures next to those of XProf's own converters."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from gpu_builder import gpu_trace
from tfperf_runner import Tfperf
from xspace_builder import SpaceBuilder

RECORD = """
import tensorflow as tf

@tf.function
def step(x, w):
    return tf.reduce_sum(tf.matmul(x, w))

data = iter(tf.data.Dataset.from_tensor_slices(tf.ones([4096, 16])).batch(64).repeat())
w = tf.ones([16, 16])
step(next(data), w)
tf.profiler.experimental.start("logs")
for number in range(6):
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
        step(next(data), w)
tf.profiler.experimental.stop()
"""


@pytest.mark.long
def test_what_tensorflows_profiler_wrote(tfperf: Tfperf) -> None:
    """Read a log directory of a real run without TensorFlow."""
    script = tfperf.script(RECORD)
    subprocess.run([tfperf.python, str(script)], cwd=tfperf.folder, env=tfperf.environment, check=True, timeout=200)
    done = tfperf("report", "logs")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("6 steps · ")
    assert "a step is what the program marked as 'train'" in done.stdout
    assert "MatMul" in done.stdout
    found = json.loads(tfperf("report", "logs", "--json", "-").stdout)
    assert (found["schema"], found["kind"], found["steps"]["count"]) == (1, "xplane", 6)
    assert len(xprof(next((tfperf.folder / "logs").rglob("*.xplane.pb")), "overview_page")) > 0


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_screen(tfperf: Tfperf, width: int) -> None:
    gpu_trace().write(tfperf.folder / "a.xplane.pb")
    done = tfperf("report", "a.xplane.pb", env={"COLUMNS": str(width)})
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "TRC001" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("content", [b"", b"no trace", b"\x0a\xff\xff\x01"])
def test_a_mistake_is_one_line(tfperf: Tfperf, content: bytes) -> None:
    (tfperf.folder / "a.xplane.pb").write_bytes(content)
    for path in ("a.xplane.pb", "nothing", "."):
        done = tfperf("report", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("tfperf: ") and done.stderr.count("\n") == 1


def test_a_large_trace_shows_how_far_it_is_on_a_terminal_and_takes_the_line_away(tfperf: Tfperf) -> None:
    """150 MB in few events, so that the test need not take long; through a pipe nothing is shown."""
    builder = SpaceBuilder()
    events = [(f"work {n % 3}", n * 1000, 900, {"payload": bytes(1 << 20)}) for n in range(150)]
    builder.plane().line("python", *events)
    builder.write(tfperf.folder / "large.xplane.pb")
    command = [tfperf.python, "-m", "tfperfkit", "report", "large.xplane.pb"]
    reader, writer = pty.openpty()
    given: dict[str, Any] = {"cwd": tfperf.folder, "env": tfperf.environment, "text": True, "timeout": 200}
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, check=True, **given)
    os.close(writer)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    shares = [int(share) for share in re.findall(r"\rlarge\.xplane\.pb: (\d+) %", shown)]
    assert len(shares) >= 3 and shares == sorted(shares) and shares[-1] <= 100
    assert shown.endswith("\r\x1b[K") and "\n" not in shown
    assert "work 1" in done.stdout and "%" not in done.stdout.splitlines()[0]
    piped = subprocess.run(command, capture_output=True, check=True, **given)
    assert (piped.stdout, piped.stderr) == (done.stdout, "")


def xprof(path: Path, tool: str) -> Any:
    from xprof.convert.raw_to_tool_data import xspace_to_tool_data

    data, _ = xspace_to_tool_data([str(path)], tool, {"use_saved_result": False})
    return json.loads(data)


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    labels = [column["label"] for column in table["cols"]]
    return [dict(zip(labels, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]


def both(tfperf: Tfperf, grouped: bool) -> tuple[dict[str, Any], Path]:
    """Return our reading of a trace, and a copy of the trace for XProf, which leaves files next to it."""
    path = gpu_trace(6, grouped=grouped).write(tfperf.folder / "a.xplane.pb")
    copy = tfperf.folder / "xprof" / "a.xplane.pb"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    return json.loads(tfperf("report", "a.xplane.pb", "--json", "-").stdout), copy


def test_steps_and_kernels_are_xprofs(tfperf: Tfperf) -> None:
    ours, copy = both(tfperf, grouped=True)
    overview = next(each["p"] for each in xprof(copy, "overview_page") if "steptime_ms_average" in each.get("p", {}))
    assert float(overview["steptime_ms_average"]) == pytest.approx(ours["steps"]["mean_ms"], abs=0.06)

    kernels = xprof(copy, "kernel_stats")
    theirs: dict[str, tuple[float, float]] = {}
    for row in rows(kernels[0] if isinstance(kernels, list) else kernels):  # one for each operation that it served
        runs, us = theirs.get(row["Kernel Name"], (0, 0))
        theirs[row["Kernel Name"]] = runs + row["Occurrences"], us + row["Total Duration (μs)"]
    assert theirs == {row["kernel"]: (row["runs"], pytest.approx(row["total_ms"] * 1e3)) for row in ours["kernels"]}


def test_idle_time_is_xprofs(tfperf: Tfperf) -> None:
    ours, copy = both(tfperf, grouped=False)
    operations = rows(xprof(copy, "framework_op_stats")[0])
    device = [row for row in operations if row["Host/device"] == "Device"]
    idle = sum(row["Total self-time (us)"] for row in device if row["Operation Type"] == "IDLE") / 1e3
    named = sum(row["Total self-time (us)"] for row in device if row["Operation Type"] != "IDLE") / 1e3
    assert idle + named == pytest.approx(sum(row["span_ms"] for row in ours["devices"]))
    # XProf counts copies as idle: they belong to no operation.
    copies = sum(row["total_ms"] for row in ours["copies"])
    assert named + copies == pytest.approx(sum(row["span_busy_ms"] for row in ours["devices"]))


#: A folder of recorded traces, which are not in the repository.
RECORDED = sorted(Path(os.environ.get("TFPERF_TRACES") or "/nowhere").glob("*.xplane.pb"))


def has_xprofs_figures(tfperf: Tfperf, path: Path) -> None:
    """Steps, device time, idle time and kernels, with what docs/reading-traces.md says of the differences."""
    ours = json.loads(tfperf("report", path, "--json", "-").stdout)
    copy = tfperf.folder / "xprof" / path.name
    copy.parent.mkdir()
    shutil.copy(path, copy)
    overview = next(each["p"] for each in xprof(copy, "overview_page") if "steptime_ms_average" in each.get("p", {}))
    if float(overview["steptime_ms_average"] or 0):  # where steps are marked
        assert float(overview["steptime_ms_average"]) == pytest.approx(max(ours["steps"]["lengths_ms"]), abs=0.06)
    device = [row for row in rows(xprof(copy, "framework_op_stats")[0]) if row["Host/device"] == "Device"]
    idle = sum(row["Total self-time (us)"] for row in device if row["Operation Type"] == "IDLE") / 1e3
    named = sum(row["Total self-time (us)"] for row in device if row["Operation Type"] != "IDLE") / 1e3
    spans = sum(row["span_ms"] for row in ours["devices"])
    busy = sum(row["span_busy_ms"] for row in ours["devices"])
    assert idle + named == pytest.approx(spans, abs=1e-3)
    # Time without an operation is idle there: copies, the odd kernel that names none, and all kernels of older traces,
    # which have an annotation instead.
    copies_ms = sum(row["total_ms"] for row in ours["copies"])
    assert named <= busy + 1e-3
    assert not named or busy - named == pytest.approx(copies_ms, abs=1e-4 * spans)
    theirs: dict[str, tuple[float, float]] = {}
    kernels = xprof(copy, "kernel_stats")
    for row in rows(kernels[0] if isinstance(kernels, list) else kernels):
        runs, us = theirs.get(row["Kernel Name"], (0, 0))
        theirs[row["Kernel Name"]] = runs + row["Occurrences"], us + row["Total Duration (μs)"]
    copied = ("Memcpy", "Memset", "__amd_rocclr_copyBuffer", "__amd_rocclr_fillBuffer")
    mine = {row["kernel"]: (row["runs"], row["total_ms"] * 1e3) for row in ours["kernels"]}
    for name, (runs, us) in theirs.items():
        if not name.startswith(copied):
            assert mine[name] == (runs, pytest.approx(us, rel=1e-3)), name


if RECORDED:  # a test where there are such, and none that would be skipped where there are not
    test_recorded_traces_have_xprofs_figures = pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.name)(
        has_xprofs_figures
    )
