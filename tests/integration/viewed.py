"""Helpers of the tests of view and trace: a finished GAN run with a trace, and a view that is running."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import signal
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from shared_run import recorded_once
from tfperf_runner import Tfperf

EXAMPLE = Path(__file__).parents[2] / "examples" / "gan" / "train.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """Copy a run of the example with a trace of its steps, once for each module of tests."""
    recorded = recorded_once(tmp_path_factory, worker_id, "gan-with-a-trace", _record) / "gan"
    return Path(shutil.copytree(recorded, tmp_path_factory.mktemp("run") / "gan"))


def _record(folder: Path) -> None:
    tfperf = Tfperf(folder, warm=True)
    options = ["--stage", "graph", "--steps", "30", "--digits", "2000", "--batch-size", "16"]
    done = tfperf("run", "--probes", "tfprof", "--window", "tfprof=5:6", "--run-dir", "gan", EXAMPLE, *options)
    assert done.returncode == 0, done.stderr
    assert list(folder.glob("gan/trace/plugins/profile/*/*.xplane.pb")), done.stderr


class Viewed:
    """The output of ``tfperf view --tensorboard``: the addresses by run and page."""

    def __init__(self, lines: list[str]) -> None:
        self.links: dict[tuple[str, str], str] = {}
        name = ""
        for line in lines:
            found = re.fullmatch(r"(\S*)\s+(overview|timeline)\s+(http://\S+)\n", line)
            assert found, lines
            name = found[1] or name
            self.links[name, found[2]] = found[3]
        self.base = next(iter(self.links.values())).partition("?")[0]

    def get(self, route: str, **query: str) -> Any:
        with urllib.request.urlopen(f"{self.base}{route}?{urllib.parse.urlencode(query)}", timeout=120) as reply:
            import gzip

            return json.loads(gzip.decompress(reply.read()))


def need_viewer() -> None:
    """Skip the test where TensorBoard can't show profiles."""
    if importlib.util.find_spec("google.protobuf.runtime_version") is None:
        pytest.skip("XProf needs protobuf 5, TensorFlow 2.16 needs protobuf 4: no environment has both")


@contextmanager
def viewing(tfperf: Tfperf, *arguments: str | Path, **options: Any) -> Iterator[Viewed]:
    """View runs, end it with Ctrl-C, and see that it ended cleanly."""
    need_viewer()
    process = tfperf.start("view", "--tensorboard", *arguments, **options)
    lines = []
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith("On this machine only"):
                break
            lines.append(line)
        assert process.poll() is None, (lines, process.communicate())
        yield Viewed(lines)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=200)
        assert (process.returncode, out, err) == (0, "", "")
    finally:
        process.kill()
        process.wait()
