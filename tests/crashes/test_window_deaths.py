"""A script that is killed by a fault while a window is open: the report says so first, the next run leaves it out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HERE = Path(__file__).parent
STRUCK = str(HERE / "struck.py")


class Ran:
    def __init__(self, folder: Path, *words: str, window_ms: int = 300) -> None:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
        environ = {
            **kept,
            "TF_CPP_MIN_LOG_LEVEL": "3",
            "CUDA_VISIBLE_DEVICES": "-1",
            "COLUMNS": "200",
            "HURRIED_AGAIN": "0",
            "TFPERF_RUNS": str(folder / "runs"),
            "PYTHONPATH": str(HERE / "hurried"),
            "HURRIED_WINDOW_MS": str(window_ms),
            "HURRIED_WITHIN_MS": "600000",  # they open at a point, by the script's thread, however busy the machine is
        }
        report, document = folder / "report.txt", folder / "report.json"
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "tfperfkit",
                "run",
                "--probes",
                "tfprof",
                "--full",
                "--output",
                str(report),
                "--json",
                str(document),
                *words,
            ],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=280,
        )
        self.status, self.output, self.error = done.returncode, done.stdout, done.stderr
        self.header, _, body = report.read_text().partition("\n")
        self.report = " ".join(body.split())  # as if the screen were as wide as need be
        self.document: dict[str, Any] = json.loads(document.read_text())

    @property
    def death(self) -> dict[str, Any] | None:
        found: dict[str, Any] | None = self.document["run"]["window_death"]
        return found

    @property
    def tfprof(self) -> dict[str, Any]:
        found: dict[str, Any] = self.document["probes"][0]
        return found


@pytest.mark.timeout(900)
def test_struck_left_out_and_given_again(tmp_path: Path) -> None:
    struck = Ran(tmp_path, STRUCK, "die", window_ms=3_600_000)
    assert struck.status == 139 and "left out" not in struck.header
    assert "SCRIPT KILLED by SIGSEGV while tfprof's window was open" in struck.report
    assert "Run it with --probes none to see whether" in struck.report
    assert struck.document["headline"].startswith("Script killed: by SIGSEGV while tfprof's window was open")
    assert struck.death is not None and struck.death["phase"] == "open"
    functions = [frame["function"] for frame in struck.death["stack"]]
    assert functions == ["string_at", "read_nowhere", "<module>"]
    assert "struck.py:21 (read_nowhere) < struck.py:28 (<module>)" in struck.report
    assert "The next run of this script leaves tfprof's window out; --window tfprof=auto" in struck.report
    assert "Fatal Python error" not in struck.error  # the script's own stderr is as it would have been

    without = Ran(tmp_path, STRUCK)
    assert (without.status, without.death) == (0, None)
    assert "the window of tfprof is left out, as this script died of SIGSEGV in it (run struck-" in without.header
    assert without.document["windows"] == []
    assert without.tfprof["status"] == "skipped"
    assert without.tfprof["reason"].startswith("its window was left out, as this script died of SIGSEGV")

    again = Ran(tmp_path, "--window", "tfprof=auto", STRUCK)
    assert (again.status, again.tfprof["status"]) == (0, "ok")
    assert "left out" not in again.header
    assert json.loads((tmp_path / "runs" / "left-out.json").read_text()) == {}  # it went well
