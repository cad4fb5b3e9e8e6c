"""The view of a user in a real browser: the pages of ``tfperf view --tensorboard`` for a fresh run."""

from __future__ import annotations

import gzip
import io
import json
import os
import re
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from socket import socket

import pytest
from chromium import Browser, find
from PIL import Image
from tfperf_runner import Tfperf
from viewed import run as run
from viewed import viewing

from tfperfkit.storage.run_directory import RunDirectory


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if find() is None and not os.environ.get("CI"):
        pytest.skip("needs a browser: install chromium")
    assert find(), "CI must have chromium: see .ci/run"
    with Browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


def test_the_pages_show_the_runs_steps(browser: Browser, run: Path, tmp_path: Path) -> None:
    tfperf = Tfperf(tmp_path)
    (capture,) = RunDirectory(run).records("probes/tfprof/captures.jsonl")
    markers = _markers(tfperf, run)
    assert len(markers) == capture["steps"] > 3
    with viewing(tfperf, "--no-browser", run) as viewed:
        browser.open(viewed.links["gan", "overview"])
        text, _ = browser.wait("Performance Summary", "gan", "All Others Time")
        _not_blank(browser.screenshot(tmp_path / "overview.png"))
        # XProf leaves out the first and the last step. The parts of a step add up to the step's time.
        parts = [float(value) for value in re.findall(r"Time\s+\(σ = [\d.]+ ms\)\s+([\d.]+) ms", text)]
        assert len(parts) == text.count("(σ") > 5
        assert sum(parts) == pytest.approx(statistics.fmean(list(markers.values())[1:-1]), abs=0.1 * len(parts))
        assert _host(run) in text

        browser.open(viewed.links["gan", "timeline"])
        browser.wait("/host:CPU", drawn=tuple(markers))
        _not_blank(browser.screenshot(tmp_path / "timeline.png"))


def _markers(tfperf: Tfperf, run: Path) -> dict[str, float]:
    """Our step markers in the trace with their milliseconds, as ``tfperf export`` reads them."""
    assert tfperf("export", run, "-o", "out.json.gz").returncode == 0
    with gzip.open(tfperf.folder / "out.json.gz") as file:
        events = json.load(file)["traceEvents"]
    found = [event for event in events if event["ph"] == "X" and event.get("args", {}).get("tfperf") == 1]
    return {event["name"]: event["dur"] / 1000 for event in sorted(found, key=lambda event: float(event["ts"]))}


def _host(run: Path) -> str:
    return next(run.glob("trace/plugins/profile/*/*.xplane.pb")).name.removesuffix(".xplane.pb")


def _not_blank(picture: bytes) -> None:
    colors = Image.open(io.BytesIO(picture)).convert("RGB").getcolors(1 << 24)
    assert colors is not None and len(colors) > 50


#: The page's text, within shadow roots too, which ``innerText`` leaves out.
_DEEP = """
(() => {
  const texts = [];
  const visit = (node) => {
    if (node.shadowRoot) visit(node.shadowRoot);
    for (const child of node.childNodes) {
      if (child.nodeType === Node.TEXT_NODE) texts.push(child.data);
      else if (!/^(STYLE|SCRIPT|NOSCRIPT)$/.test(child.tagName)) visit(child);
    }
  };
  if (document.body) visit(document.body);
  return texts.join(" ").replace(/\\s+/g, " ");
})()
"""


def _until(browser: Browser, *words: str) -> str:
    end = time.monotonic() + 250
    while True:
        text = str(browser.evaluate(_DEEP))
        missing = [word for word in words if word not in text]
        if not missing:
            return text
        assert time.monotonic() < end, f"the page does not show {missing}, but: {text[:2000]!r}"
        time.sleep(0.5)


def test_the_tracker_has_scalars_and_the_account_in_tensorboard(browser: Browser, run: Path, tmp_path: Path) -> None:
    tfperf = Tfperf(tmp_path)
    done = tfperf("report", run, "--track", "tensorboard=logs", "--json", "report.json")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text())
    with socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "tensorboard.main", "--logdir", "logs", "--load_fast", "false"]
    with (tmp_path / "board.txt").open("wb") as log:
        options = ["--host", "127.0.0.1", "--port", str(port)]
        board = subprocess.Popen([*command, *options], cwd=tmp_path, stdout=log, stderr=log)
    try:
        end, address = time.monotonic() + 250, f"http://127.0.0.1:{port}"
        while True:
            try:
                tags = json.loads(urllib.request.urlopen(f"{address}/data/plugin/scalars/tags", timeout=60).read())
                if tags:
                    break
            except OSError:
                pass
            assert board.poll() is None and time.monotonic() < end, (tmp_path / "board.txt").read_text()[-2000:]
            time.sleep(0.5)
        assert "tfperf/step_ms" in tags["gan"]
        browser.open(f"{address}/#timeseries")
        _until(browser, "gan", f"tfperf {len(tags['gan'])} cards", "share_")  # a card for each, in one group
        _not_blank(browser.screenshot(tmp_path / "scalars.png"))
        browser.open(f"{address}/#text")
        largest = max(report["steps"]["breakdown_ms"].items(), key=lambda item: item[1])
        share = f"{100 * largest[1] / sum(report['steps']['breakdown_ms'].values()):.1f} %"
        text = _until(browser, "tfperf/report", report["headline"], "A step, ", share, "The whole run, ")
        for finding in report["findings"]:
            assert f"{finding['code']}: {finding['title']}" in text
        assert "<details>" not in text and "- fix:" not in text  # it is a list, not the text of one
    finally:
        board.terminate()
        board.wait(200)
