"""Nothing leads out of a run directory: neither a link nor a name, neither to read nor to write."""

from __future__ import annotations

import gc
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import survival
from apart import apart

from tfperfkit.analysis.analyze import analyze
from tfperfkit.errors import TfperfError
from tfperfkit.report.json import encode
from tfperfkit.storage import safe_reader

SECRET = "the-secret-outside"


def names(recorded: Path) -> list[str]:
    return sorted(path.relative_to(recorded).as_posix() for path in recorded.rglob("*") if path.is_file())


def test_each_file_as_a_link_to_itself_outside(recorded: Path, copied: Path, tmp_path: Path) -> None:
    """The report must be as if the file were not there, although what the link leads to is good."""
    outside = Path(shutil.copytree(recorded, tmp_path / "outside"))
    for name in names(recorded):
        if name == "run.json":
            continue
        file = copied / name
        kept = file.read_bytes()
        file.unlink()
        without = encode(analyze(copied))
        file.symlink_to(outside / name)
        assert encode(analyze(copied)) == without, name
        file.unlink()
        file.write_bytes(kept)


@pytest.mark.parametrize("folder", ["session", "probes", "probes/lines", "probes/ops", "trace", "trace/plugins"])
def test_each_folder_as_a_link_to_itself_outside(folder: str, copied: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(copied / folder, outside)
    without = encode(analyze(copied))
    (copied / folder).symlink_to(outside)
    assert encode(analyze(copied)) == without


def test_manifest_as_a_link(copied: Path, tmp_path: Path) -> None:
    shutil.move(copied / "run.json", tmp_path / "run.json")
    (copied / "run.json").symlink_to(tmp_path / "run.json")
    with pytest.raises(TfperfError, match="its run.json is damaged or not ours"):
        analyze(copied)


def test_run_directory_itself_may_be_a_link(copied: Path, tmp_path: Path) -> None:
    """The user has named it."""
    (tmp_path / "link").symlink_to(copied)
    assert analyze(tmp_path / "link").steps.count == analyze(copied).steps.count


def test_trace_as_a_link_is_not_served(copied: Path, tmp_path: Path) -> None:
    from tfperfkit.viewing.logdir import build

    for number, trace in enumerate(copied.glob("trace/plugins/profile/*/*.xplane.pb")):
        outside = tmp_path / f"{number}.xplane.pb"
        shutil.move(trace, outside)
        trace.symlink_to(outside)
    with pytest.raises(TfperfError, match="has no trace"):
        build(tmp_path / "logs", [copied])


@pytest.mark.parametrize(
    "file", ["../../../../outside.xplane.pb", "/outside.xplane.pb", "plugins/../../../outside.xplane.pb"]
)
def test_name_of_a_trace_that_leads_out(file: str, copied: Path, tmp_path: Path) -> None:
    trace = next(copied.glob("trace/plugins/profile/*/*.xplane.pb"))
    shutil.copy(trace, tmp_path / "outside.xplane.pb")
    captures = apart(copied) / "probes" / "tfprof" / "captures.jsonl"
    records = [json.loads(line) for line in captures.read_text().splitlines()]
    for record in records:
        record["file"] = str(tmp_path / "outside.xplane.pb") if file.startswith("/") else file
    captures.write_text("".join(json.dumps(record) + "\n" for record in records))
    outcome = next(probe for probe in analyze(copied).probes if probe.name == "tfprof")
    assert outcome.status == "failed" and "outside of the run directory" in str(outcome.reason)


@pytest.mark.parametrize("name", ["../lines", "..", ".", "", "a/b", "/etc", "lines\0", "x" * 300, "\ud800"])
def test_name_of_a_probe_that_leads_out(name: str, copied: Path, tmp_path: Path) -> None:
    manifest = json.loads((copied / "run.json").read_text())
    manifest["probes"] = [name, "lines"]
    (copied / "run.json").write_text(json.dumps(manifest))
    report = survival.report_of(copied, tmp_path)
    if report is None:
        assert name == "\ud800"  # is no JSON
        return
    assert [probe.status for probe in report.probes] == ["failed", "ok"]


# --- writing ------------------------------------------------------------------------------------------------------


def dumping(run: Path) -> Path:
    """The run's manifest asks for the operations of ``step``, which are written next to the records."""
    analyze(run, {"ops": {"dump": "step"}})
    return run / "probes" / "ops" / "step.txt"


def test_list_of_operations_is_written_into_the_run(copied: Path) -> None:
    assert "MatMul" in dumping(copied).read_text()


def test_list_of_operations_does_not_follow_a_link(copied: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text(SECRET)
    (copied / "probes" / "ops" / "step.txt").symlink_to(victim)
    assert not dumping(copied).is_symlink()
    assert victim.read_text() == SECRET


@pytest.mark.parametrize("folder", ["probes", "probes/ops"])
def test_list_of_operations_does_not_follow_a_folder(folder: str, copied: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    shutil.move(copied / folder, outside)
    (copied / folder).symlink_to(outside)
    before = sorted(path for path in outside.rglob("*"))
    dumping(copied)
    assert sorted(path for path in outside.rglob("*")) == before


def test_analysis_writes_nothing(copied: Path) -> None:
    def state() -> list[tuple[str, int, int]]:
        return [(str(path), path.lstat().st_mtime_ns, path.lstat().st_size) for path in sorted(copied.rglob("*"))]

    before = state()
    encode(analyze(copied))
    assert state() == before


# --- the one place ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["", ".", "..", "a/../b", "/etc/passwd", "a//b", "a\0b", "./a"])
def test_names_that_are_refused(name: str, tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        safe_reader.open_file(tmp_path, name)
    with pytest.raises(OSError):
        safe_reader.write_file(tmp_path, name, b"")


def test_file_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f").write_text("before")

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError):
        safe_reader.write_file(tmp_path, "f", b"after")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("f", "before")]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/etc/passwd")])
def test_only_regular_files_are_opened(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path / "f")
    with pytest.raises(OSError):
        safe_reader.open_file(tmp_path, "f")
    assert safe_reader.read_json(tmp_path, "f") is None
    assert list(safe_reader.read_stream(tmp_path, "f")) == []


def test_descriptors_are_closed(copied: Path) -> None:
    def count() -> int:
        gc.collect()  # what tests before this one left to be freed
        return len(os.listdir("/proc/self/fd"))

    analyze(copied)
    before = count()
    for name in ("session/markers.jsonl", "session/none.jsonl", "none/x.jsonl", "session", "run.json"):
        list(safe_reader.read_stream(copied, name))
        safe_reader.read_json(copied, name)
    analyze(copied)
    assert count() == before
