"""What a person sees in a real browser: the pages of ``tfperf view`` for a fresh run."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest
from chromium import Browser, find
from PIL import Image
from tfperf_runner import Tfperf
from viewed import gan_run, viewing

from tfperfkit.storage.run_directory import RunDirectory


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if find() is None and not os.environ.get("CI"):
        pytest.skip("needs a browser: install chromium")
    assert find(), "CI must have chromium: see .ci/run"
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return gan_run(tmp_path_factory.mktemp("run"))


def test_the_pages_show_the_runs_steps(browser: Browser, run: Path, tmp_path: Path) -> None:
    tfperf = Tfperf(tmp_path)
    (capture,) = RunDirectory(run).records("probes/tfprof/captures.jsonl")
    markers = _markers(tfperf, run)
    assert len(markers) == capture["steps"] > 3
    with viewing(tfperf, "--no-browser", run) as viewed:
        browser.open(viewed.links["gan", "overview"])
        text, _ = browser.wait("Performance Summary", "gan", "All Others Time")
        _not_blank(browser.screenshot(tmp_path / "overview.png"))
        # XProf leaves out the first and the last step. What it splits a step into adds up to the step's time.
        parts = [float(value) for value in re.findall(r"Time\s+\(σ = [\d.]+ ms\)\s+([\d.]+) ms", text)]
        assert len(parts) == text.count("(σ") > 5
        assert sum(parts) == pytest.approx(statistics.fmean(list(markers.values())[1:-1]), abs=0.1 * len(parts))
        assert _host(run) in text

        browser.open(viewed.links["gan", "timeline"])
        browser.wait("/host:CPU", drawn=tuple(markers))
        _not_blank(browser.screenshot(tmp_path / "timeline.png"))


def _markers(tfperf: Tfperf, run: Path) -> dict[str, float]:
    """Our step markers in the trace with their milliseconds, as ``tfperf trace`` reads them."""
    assert tfperf("trace", run, "--out", "out.json.gz").returncode == 0
    with gzip.open(tfperf.folder / "out.json.gz") as file:
        events = json.load(file)["traceEvents"]
    found = [event for event in events if event["ph"] == "X" and event.get("args", {}).get("tfperf") == 1]
    return {event["name"]: event["dur"] / 1000 for event in sorted(found, key=lambda event: float(event["ts"]))}


def _host(run: Path) -> str:
    return next(run.glob("trace/plugins/profile/*/*.xplane.pb")).name.removesuffix(".xplane.pb")


def _not_blank(picture: bytes) -> None:
    colors = Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 24)
    assert colors is not None and len(colors) > 50
