"""Probes that fail in every way they can: each is a row in the report, and the script runs as if they were not there.

One package holds them all, so that one run (TensorFlow takes seconds to start) tries them all.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from warm import run_warm
from warm_run import warm_tfperf

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tensorflow") is None, reason="TensorFlow is not installed here"
)

SCRIPT = """
import sys
import tensorflow as tf

weights = tf.Variable([1.0, 2.0])
optimizer = tf.keras.optimizers.SGD(0.1)

@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum((weights * x) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
    return loss

for step in range(12):
    print(step, float(train_step(tf.constant([1.0, 0.5]))))
sys.exit(3)
"""

COMMON = """
from contextlib import contextmanager
from tfperfkit.errors import Unavailable
from tfperfkit.model import Column, Finding, Measurement, ProbeResult, Table
from tfperfkit.probe import Cost

class Probe:
    api, name, cost, claims = 1, "", Cost.FREE, frozenset()

    @contextmanager
    def record(self, recording):
        recording.on_step(lambda number: recording.append("steps", number))
        yield

    def analyze(self, capture):
        return ProbeResult(data={"steps": list(capture.records("steps"))})

class Unwritable:
    def __str__(self):
        raise RuntimeError("has no words")

def finding(**fields):
    return Finding(**{**dict(
        code="BAD001", family="memory", title="t", severity="high", share_of_step=0.5,
        where=(), evidence=(Measurement("m", 1, "ms"),), advice="a"), **fields})
"""

#: Each probe's module, and what its row must say.
FAILING = {
    # at load
    "import-error": ("import no_such_module_at_all", "can't be loaded: ModuleNotFoundError: No module named"),
    "syntax-error": ("def (", "can't be loaded: SyntaxError"),
    "exits-on-import": ("raise SystemExit(9)", "can't be loaded: SystemExit: 9"),
    "no-such-class": ("Probe = None; del Probe", "can't be loaded: AttributeError"),
    "constructor": ("class Probe(Probe):\n    def __init__(self): raise RuntimeError('boom')", "RuntimeError: boom"),
    "wrong-api": ("Probe.api = 99", "is written for probe API 99; this tfperfkit has 1"),
    "no-api": ("del Probe.api", "is written for probe API None"),
    "no-cost": ("Probe.cost = 'free'", "has no cost"),
    "no-claims": ("del Probe.claims", "has no claims"),
    "no-analyze": ("del Probe.analyze", "has no method analyze"),
    "wrong-name": ("Probe.name = 'other'", "calls itself 'other' but is installed as 'wrong-name'"),
    # at arming
    "arming": (
        "class Probe(Probe):\n    @contextmanager\n    def record(self, recording):\n"
        "        raise RuntimeError('boom')\n        yield",
        "RuntimeError: boom",
    ),
    "arming-a-window": (
        "class Probe(Probe):\n    cost = Cost.WINDOW\n    @contextmanager\n    def record(self, recording):\n"
        "        raise RuntimeError('boom')\n        yield",
        "RuntimeError: boom",
    ),
    "no-context-manager": ("Probe.record = lambda self, recording: None", "__enter__"),
    "wrong-arguments": ("Probe.record = lambda self: None", "TypeError"),
    # while recording
    "on-step": (
        "class Probe(Probe):\n    @contextmanager\n    def record(self, recording):\n"
        "        recording.on_step(lambda number: 1 / 0)\n        yield",
        "ZeroDivisionError",
    ),
    "unwritable-record": (
        "class Probe(Probe):\n    @contextmanager\n    def record(self, recording):\n"
        "        recording.append('x', Unwritable())\n        yield",
        "a record can't be written as JSON (RuntimeError: has no words)",
    ),
    "leaving": (
        "class Probe(Probe):\n    @contextmanager\n    def record(self, recording):\n"
        "        yield\n        raise RuntimeError('boom')",
        "RuntimeError: boom",
    ),
    # at analysing
    "analyzing": ("class Probe(Probe):\n    def analyze(self, capture): raise KeyError('boom')", "KeyError: 'boom'"),
    "analyze-exits": ("class Probe(Probe):\n    def analyze(self, capture): raise SystemExit(9)", "SystemExit: 9"),
    "returns-a-dict": ("Probe.analyze = lambda self, capture: {}", "analyze returned dict, not ProbeResult"),
    "returns-nothing": ("Probe.analyze = lambda self, capture: None", "analyze returned NoneType, not ProbeResult"),
    "unwritable-data": ("Probe.analyze = lambda s, c: ProbeResult(data={'x': Unwritable()})", "has no words"),
    "endless-data": (
        "x = []; x.append(x); Probe.analyze = lambda s, c: ProbeResult(data={'x': x})",
        "no proper result",
    ),
    "no-tables": ("Probe.analyze = lambda s, c: ProbeResult(tables=None)", "$.tables"),
    "no-table": (
        "Probe.analyze = lambda s, c: ProbeResult(tables=(Table(title='t', columns=(Column('c'),), rows=()), 3))",
        "$.tables[1]",
    ),
    "wrong-unit": (
        "made = Table(title='t', columns=(Column('c', 'furlong'),), rows=())\n"
        "Probe.analyze = lambda s, c: ProbeResult(tables=(made,))",
        "furlong",
    ),
    "wrong-severity": (
        "Probe.analyze = lambda s, c: ProbeResult(findings=(finding(severity='fatal'),))",
        "fatal",
    ),
}

#: These are in the report with what is right about them, or with their reason, but have not failed.
OTHERS = {
    "healthy": "",
    "unavailable": (
        "class Probe(Probe):\n    @contextmanager\n    def record(self, recording):\n"
        "        raise Unavailable('there is no moon tonight')\n        yield"
    ),
    "no-window": "Probe.cost = Cost.WINDOW",
    "no-evidence": (
        "made = (finding(evidence=()), finding(code='BAD002'))\n"
        "Probe.analyze = lambda s, c: ProbeResult(data={'kept': 1}, findings=made)"
    ),
}


def install(folder: Path) -> None:
    """Leave a package in ``folder`` as an installer does."""
    package = folder / "failing_probes"
    package.mkdir()
    (package / "__init__.py").write_text("")
    points = []
    for name, code in {**{name: code for name, (code, _) in FAILING.items()}, **OTHERS}.items():
        module = name.replace("-", "_")
        (package / f"{module}.py").write_text(f"{COMMON}\nProbe.name = {name!r}\n{code}\n")
        points.append(f"{name} = failing_probes.{module}:Probe")
    about = folder / "failing_probes-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: failing-probes\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[tfperfkit.probes]\n" + "\n".join(points) + "\n")


class Ran:
    """The script, run by ``python`` and by ``tfperf run`` with all those probes."""

    def __init__(self, folder: Path) -> None:
        library, script = folder / "library", folder / "train.py"
        library.mkdir()
        install(library)
        script.write_text(SCRIPT)
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(library),
            "CUDA_VISIBLE_DEVICES": "-1",
            "TF_CPP_MIN_LOG_LEVEL": "3",
        }
        self.plain = run_warm(SCRIPT, folder)
        names = ",".join([*FAILING, *OTHERS, "retrace"])
        tfperf, warm = warm_tfperf(self.environment)
        self.profiled = self.run(
            [
                *tfperf,
                "run",
                "--probes",
                names,
                "--run-dir",
                str(folder / "run"),
                "--window",
                "arming-a-window=5:2",
                "--window",
                "no-window=500:2",
                "--json",
                str(folder / "report.json"),
                "--output",
                str(folder / "report.txt"),
                str(script),
            ],
            warm,
        )
        self.report: dict[str, Any] = json.loads((folder / "report.json").read_text())
        self.console = (folder / "report.txt").read_text()
        self.probes = {row["name"]: row for row in self.report["probes"]}

    def run(self, command: list[str], environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        given = environment or self.environment
        return subprocess.run(command, env=given, capture_output=True, text=True, timeout=250, check=False)


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    return Ran(tmp_path_factory.mktemp("failing"))


def test_script_is_not_disturbed(ran: Ran) -> None:
    assert ran.plain.returncode == 3
    assert ran.plain.stdout.count("\n") == 12
    assert ran.profiled.returncode == 3
    assert ran.profiled.stdout == ran.plain.stdout


def test_no_traceback_reaches_stderr(ran: Ran) -> None:
    assert "Traceback" not in ran.profiled.stderr
    assert "failing_probes" not in ran.profiled.stderr


@pytest.mark.parametrize("name", FAILING)
def test_failing_probe_is_a_row_with_its_reason(name: str, ran: Ran) -> None:
    row = ran.probes[name]
    assert row["status"] == "failed"
    assert FAILING[name][1] in row["reason"]
    assert "\n" not in row["reason"]
    assert row["tables"] == [] and row["data"] == {}


def test_rows_stand_in_the_order_asked_for(ran: Ran) -> None:
    assert list(ran.probes) == [*FAILING, *OTHERS, "retrace"]


def test_console_names_every_failed_probe(ran: Ran) -> None:
    words = ran.console.split()
    assert [name for name in FAILING if not any(word.strip(",:()") == name for word in words)] == []


def test_others_go_on(ran: Ran) -> None:
    healthy = ran.probes["healthy"]
    assert (healthy["status"], healthy["reason"]) == ("ok", None)
    assert set(range(2, 13)) <= set(healthy["data"]["steps"])
    assert ran.probes["retrace"]["status"] == "ok"
    assert [f["function"] for f in ran.probes["retrace"]["data"]["functions"]] == ["train_step"]
    assert ran.report["steps"]["count"] == 12


def test_probe_that_cannot_work_here_is_skipped_with_its_reason(ran: Ran) -> None:
    row = ran.probes["unavailable"]
    assert (row["status"], row["reason"]) == ("skipped", "there is no moon tonight")


def test_probe_whose_window_never_came_is_skipped(ran: Ran) -> None:
    row = ran.probes["no-window"]
    assert (row["status"], row["reason"]) == ("skipped", "the run ended before its window came, after 12 steps")


def test_finding_without_evidence_is_left_out_alone(ran: Ran) -> None:
    row = ran.probes["no-evidence"]
    assert (row["status"], row["data"]) == ("cut", {"kept": 1})
    assert "BAD001" in row["reason"] and "evidence" in row["reason"]
    assert [finding["code"] for finding in ran.report["findings"] if finding["code"].startswith("BAD")] == ["BAD002"]


def test_listing_names_them_all(ran: Ran) -> None:
    listed = ran.run([sys.executable, "-m", "tfperfkit", "list", "probes"])
    assert listed.returncode == 0
    assert "Traceback" not in listed.stderr
    for name in ("healthy", "import-error", "wrong-api", "retrace"):
        assert any(line.split()[:1] == [name] for line in listed.stdout.splitlines()), name
    assert "failing-probes 1.0" in listed.stdout
    assert "is written for probe API 99" in listed.stdout
