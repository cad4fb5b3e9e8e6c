"""``tfperf launch`` leaves no process behind, even of a script that does not end when it is asked to."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tfperfkit.launch import local_workers

SCRIPT = """\
import json, os, signal, sys, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
rank = json.loads(os.environ["TF_CONFIG"])["task"]["index"]
with open(sys.argv[1] + f"/pid-{rank}", "w") as out:
    out.write(str(os.getpid()))
if rank == 1:
    while not os.path.exists(sys.argv[1] + "/pid-0") or not os.path.getsize(sys.argv[1] + "/pid-0"):
        time.sleep(0.01)
    sys.exit(3)
time.sleep(600)
"""


def test_a_script_that_ignores_sigterm_is_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_workers, "_GRACE_S", 1.0)
    script = tmp_path / "stubborn.py"
    script.write_text(SCRIPT)
    folder = tmp_path / "run"
    status = local_workers.launch(2, [str(script), str(tmp_path)], folder, str(folder))
    assert status == 3
    pid = int((tmp_path / "pid-0").read_text())
    for _ in range(1000):  # until whoever inherited it has reaped it
        if not Path(f"/proc/{pid}").exists():
            return
        time.sleep(0.01)
    with open(f"/proc/{pid}/stat") as stat:
        state = stat.read().rpartition(")")[2].split()[0]
    os.kill(pid, 9)
    assert state == "Z", "the script is still there"
