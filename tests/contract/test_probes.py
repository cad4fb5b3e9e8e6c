"""Every installed probe keeps to the contract: the first-party ones go through the same door as anyone's."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from warm import run_warm

from tfperfkit.errors import ProbeError
from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Probe, Recording
from tfperfkit.testing import FakeRecording, capture_of, check_probe

ROOT = Path(__file__).parents[2]
PROBES = sorted(importlib.metadata.entry_points(group="tfperfkit.probes"), key=lambda entry: entry.name)
CHECK_WITH_TENSORFLOW = """
import importlib.metadata, pathlib, sys
import tensorflow
from tfperfkit.testing import check_probe
for entry in importlib.metadata.entry_points(group="tfperfkit.probes"):
    check_probe(entry.load(), pathlib.Path(sys.argv[1]) / entry.name)
"""


@pytest.mark.parametrize("entry", PROBES, ids=lambda entry: entry.name)
def test_contract_without_tensorflow(entry: importlib.metadata.EntryPoint, tmp_path: Path) -> None:
    check_probe(entry.load(), tmp_path)


@pytest.mark.parametrize("entry", PROBES, ids=lambda entry: entry.name)
def test_name_is_the_entry_points(entry: importlib.metadata.EntryPoint) -> None:
    assert entry.load()().name == entry.name


def test_contract_with_tensorflow(tmp_path: Path) -> None:
    done = run_warm(CHECK_WITH_TENSORFLOW, ROOT, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_report_loads_no_instrument(tmp_path: Path) -> None:
    code = (
        "import importlib.metadata, pathlib, sys\n"
        "import tfperfkit.analysis.analyze\n"
        "from tfperfkit.testing import FakeRecording, capture_of\n"
        "for group in ('tfperfkit.probes', 'tfperfkit.rules'):\n"
        "    for entry in importlib.metadata.entry_points(group=group):\n"
        "        loaded = entry.load()\n"
        "        if group == 'tfperfkit.probes':\n"
        "            try:\n"
        "                recording = FakeRecording(pathlib.Path(sys.argv[1]) / entry.name, probe=loaded)\n"
        "                loaded().analyze(capture_of(recording))\n"
        "            except Exception as error:\n"
        "                print(entry.name, type(error).__name__)\n"
        "print(sorted(name for name in sys.modules if name.startswith('tfperfkit.instruments')))\n"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout == "[]\n"


def test_the_fake_refuses_what_a_session_could_not_write(tmp_path: Path) -> None:
    """Refuse text with bytes that are no UTF-8, which a text from the system may hold."""
    recording = FakeRecording(tmp_path)
    with pytest.raises(UnicodeEncodeError):
        recording.append("texts", ["caf\udce9"])
    recording.append("texts", ["café"])
    assert list(capture_of(recording).records("texts")) == [["café"]]


def test_names_of_test_files_are_unique() -> None:
    """pytest can't collect two of the same name together, though each alone passes."""
    names = Counter(file.name for file in (ROOT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


class Good:
    api, name, cost, claims = API_VERSION, "good", Cost.FREE, frozenset[str]()

    def record(self, recording: Recording, /):  # type: ignore[no-untyped-def]
        import contextlib

        return contextlib.nullcontext()

    def analyze(self, capture: Capture, /) -> ProbeResult:
        return ProbeResult()


class LeavesATracer(Good):
    def record(self, recording: Recording, /):  # type: ignore[no-untyped-def]
        sys.setprofile(lambda *arguments: None)
        return super().record(recording)


class OldVersion(Good):
    api = 0


class ReturnsADictionary(Good):
    def analyze(self, capture: Capture, /) -> ProbeResult:
        return {}  # type: ignore[return-value]


def test_a_good_probe_passes(tmp_path: Path) -> None:
    assert isinstance(Good(), Probe)
    check_probe(Good, tmp_path)


@pytest.mark.parametrize(
    ("probe", "said"),
    [(LeavesATracer, "sys.setprofile"), (OldVersion, "speaks"), (ReturnsADictionary, "ProbeResult")],
)
def test_a_broken_probe_is_reported(probe: type[Good], said: str, tmp_path: Path) -> None:
    try:
        with pytest.raises(ProbeError, match=said):
            check_probe(probe, tmp_path)
    finally:
        sys.setprofile(None)


def test_the_fakes_keep_records_and_notes(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path, planned_steps=2)
    steps: list[int] = []
    recording.on_step(steps.append)
    recording.begin_step(3)
    recording.append("things", {"a": 1})
    recording.note("a limit")
    recording.keep_source(__file__)
    capture = capture_of(recording)
    assert steps == [3] and recording.step == 3
    assert list(capture.records("things")) == [{"a": 1}]
    assert list(capture.records("missing")) == []
    assert capture.notes == ("a limit",)
    assert capture.source(__file__)[0].startswith('"""Every installed probe')


def test_the_fake_tells_steps_as_a_session_does(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    rare: list[int] = []

    def now_and_then(number: int) -> bool:
        rare.append(number)
        return number == 600  # the next one too

    recording.on_step(now_and_then, rarely=True)
    for number in range(1, 1001):
        if number == 600:
            recording.now_and_then()
        recording.begin_step(number)
    assert rare == [*range(1, 501), 600, 601]


def test_what_a_callback_raises_stops_it_and_is_noted(tmp_path: Path) -> None:
    recording = FakeRecording(tmp_path)
    called: list[int] = []

    def broken(number: int) -> None:
        called.append(number)
        raise ValueError("no")

    recording.on_step(broken)
    for number in (1, 2):
        recording.begin_step(number)
    assert called == [1]
    assert recording.notes == ["stopped following the steps: ValueError: no"]
