"""Every installed probe keeps to the contract: the first-party ones go through the same door as anyone's."""

from __future__ import annotations

import importlib.metadata
import subprocess
import sys
from pathlib import Path

import pytest

from tfperfkit.errors import ProbeError
from tfperfkit.model import ProbeResult
from tfperfkit.probe import API_VERSION, Capture, Cost, Probe, Recording
from tfperfkit.testing import FakeRecording, capture_of, check_probe, missing_pages

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
    done = subprocess.run(
        [sys.executable, "-c", CHECK_WITH_TENSORFLOW, str(tmp_path)], capture_output=True, text=True, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_every_retrace_code_has_its_page() -> None:
    from tfperfkit_probes import retrace_codes

    assert missing_pages(retrace_codes.TITLES, ROOT / "docs" / "findings") == []
    for code, title in retrace_codes.TITLES.items():
        page = (ROOT / "docs" / "findings" / f"{code}.md").read_text()
        assert page.startswith(f"# {code}: {title}\n")
        for heading in ("## How it is measured", "## Fix", "## When to ignore it"):
            assert heading in page, f"{code} lacks {heading!r}"


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
def test_a_broken_probe_is_told(probe: type[Good], said: str, tmp_path: Path) -> None:
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
