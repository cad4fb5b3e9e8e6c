"""Time and memory that the kernel kept from a process, read from real control groups and from made files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tfperfkit.recording import environment as module
from tfperfkit.recording.environment import pressure


def test_this_process_is_read() -> None:
    found = pressure()
    if sys.platform == "linux":
        assert found["major_faults"] >= 0 and found["swapped_bytes"] >= 0


@pytest.mark.parametrize("version", [1, 2])
def test_the_innermost_group_with_a_quota_counts(version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"cgroup": f"{'0:' if version == 2 else '3:cpu,cpuacct'}:/outer/inner\n", "status": "VmSwap:\t  12 kB\n"}
    root = tmp_path / "groups" / ("cpu" if version == 1 else "")
    for folder, quota in (("outer", 150_000), ("outer/inner", -1)):
        (root / folder).mkdir(parents=True, exist_ok=True)
        if version == 2:
            (root / folder / "cpu.max").write_text(f"{quota if quota > 0 else 'max'} 100000\n")
            (root / folder / "cpu.stat").write_text("nr_throttled 3\nthrottled_usec 7000\n")
        else:
            (root / folder / "cpu.cfs_quota_us").write_text(f"{quota}\n")
            (root / folder / "cpu.cfs_period_us").write_text("100000\n")
            (root / folder / "cpu.stat").write_text("nr_throttled 3\nthrottled_time 7000000\n")
    real = module._read
    monkeypatch.setattr(module, "_GROUPS", str(tmp_path / "groups"))
    monkeypatch.setattr(module, "_read", lambda path: texts.get(path.removeprefix("/proc/self/")) or real(path))
    found = pressure()
    assert (found["quota_cpus"], found["throttled_ns"], found["swapped_bytes"]) == (1.5, 7_000_000, 12 * 1024)


def test_a_real_quota_is_seen() -> None:
    group = Path("/sys/fs/cgroup/cpu") / f"tfperf-test-{os.getpid()}"
    try:
        group.mkdir()
        (group / "cpu.cfs_quota_us").write_text("2000")  # less than what a crowded machine leaves
    except OSError:
        pytest.skip("needs the right to make a control group of version 1 with a quota")
    code = (
        "from tfperfkit.recording.environment import pressure\n"
        f"open({str(group / 'cgroup.procs')!r}, 'w').write('0')\n"
        "before = pressure()\n"
        "sum(i * i for i in range(500_000))\n"
        "after = pressure()\n"
        "print(after['quota_cpus'], after['throttled_ns'] > before['throttled_ns'])\n"
    )
    try:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
        assert done.stdout == "0.02 True\n", done.stderr
    finally:
        group.rmdir()
