"""``tfperf fix`` on a real run: shown, written, refused."""

from __future__ import annotations

import html
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

WARM = True
SCRIPT = """\
import tensorflow as T

weights = T.Variable(T.ones([4]))


@T.function
def step(x, rate):
    weights.assign_sub(rate * x)
    return weights


for n in range(12):
    step(T.ones([4]), 0.1 * 0.9**n)  # falls
"""
LINE = "    step(T.ones([4]), {})  # falls\n"


def test_a_patch_is_shown_and_written_once(tfperf: Tfperf, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)
    script.chmod(0o640)
    recorded = tfperf(
        "run", "--probes", "retrace", "--steps-from", "step", "--run-dir", "made", "train.py", cwd=tmp_path
    )
    assert recorded.returncode == 0, recorded.stderr
    shown = tfperf("fix", "made", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "RET001" in shown.stdout and "not measured" in shown.stdout and "\x1b" not in shown.stdout
    assert f"-{LINE.format('0.1 * 0.9**n')}" in shown.stdout
    after = LINE.format("T.constant(0.1 * 0.9**n, T.float32)")
    assert f"+{after}" in shown.stdout
    assert "nothing was written" in shown.stderr and "--prove --apply measures first" in shown.stderr
    assert script.read_text() == SCRIPT

    page = tfperf("report", "made", "--format", "html", cwd=tmp_path)
    assert "The change in your lines" in page.stdout
    assert f"+{LINE.format('T.constant(0.1 * 0.9**n, T.float32)')}".rstrip() in html.unescape(page.stdout)

    checked = subprocess.run(["git", "apply", "--check", "-"], input=shown.stdout, text=True, cwd=tmp_path)
    assert checked.returncode == 0

    unknown = tfperf("fix", "made", "XYZ001", cwd=tmp_path)
    assert (unknown.returncode, unknown.stdout) == (2, "")
    assert "no finding XYZ001; it has" in unknown.stderr and unknown.stderr.count("\n") == 1

    written = tfperf("fix", "made", "ret001", "--apply", cwd=tmp_path)
    assert written.returncode == 0, written.stderr
    assert script.read_text() == SCRIPT.replace(LINE.format("0.1 * 0.9**n"), after)
    assert script.stat().st_mode & 0o777 == 0o640
    assert [name for name in os.listdir(tmp_path) if "train" in name] == ["train.py"]  # nothing is left over

    again = tfperf("fix", "made", "--apply", cwd=tmp_path)
    assert again.returncode == 2
    assert "train.py has changed since the run" in again.stderr and again.stderr.count("\n") == 1
    assert script.read_text() == SCRIPT.replace(LINE.format("0.1 * 0.9**n"), after)

    assert "nothing was measured" in written.stderr
    back = tfperf("fix", "made", "--undo", cwd=tmp_path)
    assert back.returncode == 0 and "restored" in back.stderr
    assert script.read_text() == SCRIPT and script.stat().st_mode & 0o777 == 0o640

    script.unlink()
    gone = tfperf("fix", "made", "--apply", cwd=tmp_path)
    assert gone.returncode == 2 and "+" + after in gone.stdout
    assert "not there" in gone.stderr and not script.exists()


def test_without_libcst_it_says_what_to_install(tmp_path: Path) -> None:
    code = "import sys; sys.modules['libcst'] = None\nfrom tfperfkit.cli import main\nmain(['fix', 'last'])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "tfperf: tfperf fix needs LibCST: pip install 'tfperfkit[fix]'\n"


COLLECTS = """\
import gc

import tensorflow as tf

keep = [[number] for number in range(200_000)]


@tf.function
def double(x):
    return 2.0 * x


total = 0
for number in range(30):
    total += int(tf.reduce_sum(double(tf.ones([4]))))
    gc.collect()
print("total", total)
"""


@pytest.mark.long
def test_a_patch_is_proven_before_it_is_written(tfperf: Tfperf) -> None:
    """Whether it gains on a busy machine is not asserted: what is said and what is written have to agree."""
    script = tfperf.script(COLLECTS)
    assert tfperf("run", "--run-dir", "made", "train.py").returncode == 0
    done = tfperf("fix", "made", "STP005", "--prove", "--apply", "--time-limit", "2m")
    assert done.returncode == 0, done.stderr
    assert "predicted" in done.stdout and "measured" in done.stdout
    proven = "  proven: " in done.stdout
    assert proven != ("  not proven: " in done.stdout)
    assert ("    gc.collect()" not in script.read_text()) == proven
    if proven:
        assert "-    gc.collect()" in done.stdout and "prints and writes the same" in done.stdout
        assert tfperf("fix", "made", "--undo").returncode == 0
    assert script.read_text() == COLLECTS


@pytest.mark.long
def test_a_ladder_ends_and_writes_nothing_without_apply(tfperf: Tfperf) -> None:
    script = tfperf.script(COLLECTS)
    assert tfperf("run", "--run-dir", "made", "train.py").returncode == 0
    done = tfperf("fix", "made", "--all", "--prove", "--time-limit", "3m")
    assert done.returncode == 0, done.stderr
    assert "STP005" in done.stdout and "\nended: " in f"\n{done.stdout}"
    assert ("as it is" in done.stdout) == ("-    gc.collect()" in done.stdout)
    assert script.read_text() == COLLECTS
