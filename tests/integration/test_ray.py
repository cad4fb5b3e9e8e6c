"""Two real workers of Ray Train, each a part of one run. Long: Ray takes its time to start."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

PROGRAM = Path(__file__).with_name("ray_workers.py")


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs ray: pip install 'tfperfkit[ray]'")
def test_each_worker_is_a_part_of_one_run(tfperf: Tfperf) -> None:
    out = tfperf.folder / "run"
    environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0", "CUDA_VISIBLE_DEVICES": "-1"}
    words = [sys.executable, str(PROGRAM), str(out), str(tfperf.folder / "store")]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=540)
    assert "error None" in done.stdout.splitlines(), done.stdout[-2000:] + done.stderr[-4000:]
    assert sorted(item.name for item in out.iterdir()) == ["rank-0000", "rank-0000.txt", "rank-0001", "rank-0001.txt"]
    for rank in range(2):
        known = json.loads((out / f"rank-000{rank}" / "run.json").read_bytes())["rank"]
        assert (known["rank"], known["size"]) == (rank, 2)
    report = tfperf("report", "run")
    assert report.returncode == 0, report.stderr
    assert "2 ranks" in report.stdout and "time.sleep" in report.stdout
