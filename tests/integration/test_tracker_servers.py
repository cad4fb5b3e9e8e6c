"""The report in a real MLflow server and in a real offline run of W&B. Long: both take long to install and to start."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import msgspec
import pytest
from run_builder import AGENT
from tfperf_runner import Tfperf

from tfperfkit.storage.run_directory import Manifest, RunDirectory


def installed(name: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(name) is None
    return pytest.mark.skipif(missing, reason=f"needs {name}: pip install 'tfperfkit[{name}]'")


@pytest.fixture
def stored(tmp_path: Path) -> Tfperf:
    """Return a run without steps: its report is short, and is a report."""
    tfperf = Tfperf(tmp_path)
    manifest = Manifest(
        tfperfkit_run=1, argv=["train.py"], cwd=str(tmp_path), python=sys.executable, probes=[], started_ns=1
    )
    RunDirectory.create(tmp_path / "made", manifest).write_json("agent.json", AGENT)
    return tfperf


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"]
    command += ["--backend-store-uri", f"sqlite:///{tmp_path}/mlflow.db", "--artifacts-destination", f"{tmp_path}/kept"]
    with (tmp_path / "server.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    address, until = f"http://127.0.0.1:{port}", time.monotonic() + 200
    while True:
        try:
            urllib.request.urlopen(f"{address}/health", timeout=10).close()
            break
        except OSError:
            assert process.poll() is None and time.monotonic() < until, (tmp_path / "server.txt").read_text()[-2000:]
            time.sleep(0.5)
    yield address
    process.terminate()
    process.wait(60)


@pytest.mark.long
@installed("mlflow")
def test_mlflow_has_the_report(stored: Tfperf, server: str, tmp_path: Path) -> None:
    done = stored("report", "made", "--track", f"mlflow={server}")
    assert done.returncode == 0 and done.stderr.startswith("tfperf: mlflow: run "), done.stderr
    asked = urllib.request.Request(
        f"{server}/api/2.0/mlflow/runs/search",
        json.dumps({"experiment_ids": ["0"]}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(asked, timeout=60) as answer:
        (run,) = msgspec.json.decode(answer.read())["runs"]
    assert (run["info"]["run_name"], run["info"]["status"]) == ("made", "FINISHED")
    tags = {tag["key"]: tag["value"] for tag in run["data"]["tags"]}
    assert tags["mlflow.note.content"] == next((tmp_path / "kept").rglob("report.md")).read_text(encoding="utf-8")
    names = {path.name for path in (tmp_path / "kept").rglob("*") if path.is_file()}
    assert names == {"report.html", "report.json", "report.md"}


@pytest.mark.long
@installed("mlflow")
def test_an_mlflow_server_that_is_not_there_is_one_line(stored: Tfperf) -> None:
    done = stored("report", "made", "--track", "mlflow=http://127.0.0.1:1")
    assert done.returncode == 0 and done.stdout
    assert done.stderr.startswith("tfperf: mlflow: not sent (") and done.stderr.count("\n") == 1, done.stderr


@pytest.mark.long
@installed("wandb")
def test_wandb_keeps_it_offline(stored: Tfperf) -> None:
    done = stored("report", "made", "--track", "wandb=mine", env={"WANDB_MODE": "offline"})
    assert done.returncode == 0 and done.stderr.startswith("tfperf: wandb: run "), done.stderr
    assert list(stored.folder.glob("wandb/offline-run-*/*.wandb"))
    (page,) = stored.folder.glob("wandb/offline-run-*/files/media/html/tfperf_report*.html")
    assert "tfperfkit" in page.read_text(encoding="utf-8")


@pytest.mark.long
@installed("wandb")
def test_wandb_without_a_login_is_one_line(stored: Tfperf) -> None:
    done = stored("report", "made", "--track", "wandb", env={"WANDB_MODE": "online", "HOME": str(stored.folder)})
    assert done.returncode == 0
    assert "not logged in" in done.stderr and done.stderr.count("\n") == 1, done.stderr
