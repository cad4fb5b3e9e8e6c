"""``tfperf read`` as a person types it, and its figures beside XProf's own converters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from gpu_builder import gpu_trace
from tfperf_runner import Tfperf

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
    """A log directory of a real run, read without TensorFlow."""
    import subprocess

    script = tfperf.script(RECORD)
    subprocess.run([tfperf.python, str(script)], cwd=tfperf.folder, env=tfperf.environment, check=True, timeout=200)
    done = tfperf("read", "logs")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("6 steps · ")
    assert "a step is what the program marked as 'train'" in done.stdout
    assert "MatMul" in done.stdout
    found = json.loads(tfperf("read", "logs", "--json", "-").stdout)
    assert (found["schema"], found["kind"], found["steps"]["count"]) == (1, "xplane", 6)
    assert len(xprof(next((tfperf.folder / "logs").rglob("*.xplane.pb")), "overview_page")) > 0


@pytest.mark.parametrize("width", [80, 100, 140])
def test_no_line_is_wider_than_the_screen(tfperf: Tfperf, width: int) -> None:
    gpu_trace().write(tfperf.folder / "a.xplane.pb")
    done = tfperf("read", "a.xplane.pb", env={"COLUMNS": str(width)})
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= width
    assert "TRC001" in done.stdout and "\x1b" not in done.stdout


@pytest.mark.parametrize("content", [b"", b"no trace", b"\x0a\xff\xff\x01"])
def test_a_mistake_is_one_line(tfperf: Tfperf, content: bytes) -> None:
    (tfperf.folder / "a.xplane.pb").write_bytes(content)
    for path in ("a.xplane.pb", "nothing", "."):
        done = tfperf("read", path)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("tfperf: ") and done.stderr.count("\n") == 1


def xprof(path: Path, tool: str) -> Any:
    from xprof.convert.raw_to_tool_data import xspace_to_tool_data

    data, _ = xspace_to_tool_data([str(path)], tool, {"use_saved_result": False})
    return json.loads(data)


def rows(table: dict[str, Any]) -> list[dict[str, Any]]:
    labels = [column["label"] for column in table["cols"]]
    return [dict(zip(labels, (cell.get("v") for cell in row["c"]), strict=True)) for row in table["rows"]]


def both(tfperf: Tfperf, grouped: bool) -> tuple[dict[str, Any], Path]:
    """What we make of a trace, and a copy of it for XProf, which leaves files beside it."""
    path = gpu_trace(6, grouped=grouped).write(tfperf.folder / "a.xplane.pb")
    copy = tfperf.folder / "xprof" / "a.xplane.pb"
    copy.parent.mkdir()
    shutil.copy(path, copy)
    return json.loads(tfperf("read", "a.xplane.pb", "--json", "-").stdout), copy


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
