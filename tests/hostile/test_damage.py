"""Any damage to a run directory: a report comes, or one line that says why not; in bounded time and memory."""

from __future__ import annotations

import importlib.metadata
import json
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import mutations
import pytest
import survival
from apart import apart
from hypothesis import given, settings
from hypothesis import strategies as st

from tfperfkit.analysis.analyze import analyze
from tfperfkit.storage import safe_reader
from tfperfkit.storage.run_directory import RECORDS, read_stream


@settings(settings.get_profile("hostile"))
@given(st.randoms(use_true_random=False), st.integers(1, 6))
def test_whatever_is_damaged_a_report_comes(fresh: Callable[[], Path], random: Random, times: int) -> None:
    run = fresh()
    for _ in range(times):
        mutations.damage(random, run)
    report = survival.report_of(run, run.parent / "scratch")
    assert report is None or not survival.faults(report), survival.faults(report)


def test_the_run_itself_is_whole(copied: Path, tmp_path: Path) -> None:
    """Check the undamaged run: else the tests here would prove little."""
    report = survival.report_of(copied, tmp_path)
    assert report is not None
    installed = importlib.metadata.entry_points(group="tfperfkit.probes")
    ours = {each.name for each in installed if each.module.startswith("tfperfkit_probes")}
    assert {probe.name: probe.status for probe in report.probes} == dict.fromkeys(ours, "ok")
    assert report.steps.count > 200
    assert (tmp_path / "x.trace.json.gz").stat().st_size > 10_000
    assert list((tmp_path / "logs").glob("plugins/profile/*/*.xplane.pb"))


def everything_in(run: Path) -> list[str]:
    return sorted(path.relative_to(run).as_posix() for path in run.rglob("*") if path.is_file())


@pytest.mark.parametrize("made", [os.mkfifo, os.mkdir])
def test_every_file_a_pipe_or_a_folder(made: Callable[[Path], None], copied: Path, tmp_path: Path) -> None:
    """Replace each file by a pipe that nobody writes to: it would block whoever opens it."""
    for name in everything_in(copied):
        if name != "run.json":
            (copied / name).unlink()
            made(copied / name)
    assert survival.report_of(copied, tmp_path) is not None
    (copied / "run.json").unlink()
    made(copied / "run.json")
    assert survival.report_of(copied, tmp_path) is None


@pytest.mark.parametrize("kind", [stat.S_IFCHR, stat.S_IFSOCK])
def test_every_file_a_device_or_a_socket(kind: int, copied: Path, tmp_path: Path) -> None:
    """/dev/zero never ends."""
    for name in everything_in(copied):
        if name != "run.json":
            (copied / name).unlink()
            try:
                os.mknod(copied / name, 0o666 | kind, os.makedev(1, 5))
            except PermissionError:
                pytest.skip("needs the right to make a device")
    assert survival.report_of(copied, tmp_path) is not None


def test_folders_and_files_that_are_too_many(copied: Path, tmp_path: Path) -> None:
    for number in range(3000):
        (copied / "trace" / "plugins" / "profile" / str(number)).mkdir()
        (copied / "probes" / f"p{number}").mkdir()
    (copied / "session" / "core").write_bytes(b"\0" * 1000)
    assert survival.report_of(copied, tmp_path) is not None


# --- memory and time ----------------------------------------------------------------------------------------------

_BOUNDED = """
import re, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
sys.path.insert(0, {here!r})
import pathlib, survival
report = survival.report_of(pathlib.Path({run!r}), pathlib.Path({scratch!r}))
assert report is not None
print([probe.reason for probe in report.probes if probe.reason])
# Not ru_maxrss: the kernel hands that on through exec, so it would be the peak of the process of the tests.
print(int(re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]) // 1024)
"""


def bounded(run: Path) -> tuple[str, int]:
    """The reasons of the probes and the peak of the memory in MB, of a process that may have 3 GB."""
    with tempfile.TemporaryDirectory() as scratch:
        here = str(Path(__file__).parent)
        program = _BOUNDED.format(here=here, run=str(run), scratch=scratch)
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=250)
    assert done.returncode == 0, done.stderr[-3000:]
    reasons, peak = done.stdout.splitlines()[-2:]
    return reasons, int(peak)


@pytest.mark.parametrize(
    "line", [b"[" + b"[]," * 12_000_000 + b"1]\n", b"[]\n" * 300_000], ids=["one line", "many lines"]
)
def test_small_values_that_grow_in_memory(line: bytes, copied: Path) -> None:
    """36 MB of empty lists would take 1 GB, in each file."""
    for name in ("session/events.jsonl", "session/samples.jsonl", "probes/input/datasets.jsonl"):
        (apart(copied) / name).write_bytes(line)
    _, peak = bounded(copied)
    assert peak < 1500


def test_file_that_is_said_to_have_gigabytes(copied: Path) -> None:
    for name in everything_in(copied):
        if name not in ("run.json", "agent.json"):
            with (copied / name).open("ab") as file:
                file.truncate(20 << 30)
    reasons, peak = bounded(copied)
    assert "too large to read: 21475 MB" in reasons
    assert peak < 700


def test_one_call_of_very_many_steps(copied: Path) -> None:
    """Each marker says a million: written out one by one they would fill the memory."""
    marker = b"[2,%d,%d,1000000]\n"
    lines = [marker % (1000 * number, 1000 * number + 500) for number in range(1, 20_000)]
    (apart(copied) / "session" / "markers.jsonl").write_bytes(b"".join(lines))
    (copied / "session" / "sites.jsonl").write_bytes(
        b'{"id":2,"kind":"apply","target":1,"file":"a.py","line":1,"loops":[{"file":"a.py","line":1}]}\n'
    )
    assert analyze(copied).steps.count > 1_000_000_000
    assert bounded(copied)[1] < 900


def test_steps_that_took_no_time(copied: Path) -> None:
    path = apart(copied) / "session" / "markers.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text("".join(json.dumps([site, 5000, 5000, *rest]) + "\n" for site, _, _, *rest in rows))
    sites = copied / "session" / "sites.jsonl"
    sizes = [{**json.loads(line), "batch_size": 8} for line in sites.read_text().splitlines()]
    sites.write_text("".join(json.dumps(size) + "\n" for size in sizes))
    steps = analyze(copied).steps
    assert (steps.median_ms, steps.batch_size, steps.examples_per_s) == (0, 8, None)


# --- what is read -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        b"[" * 51 + b"1" + b"]" * 51,
        b'{"a":' * 60 + b"1" + b"}" * 60,
        b'[{"a":' * 30 + b"1" + b"}]" * 30,
        b"[18446744073709551616]",
        b'{"a":[-9223372036854775809]}',
        b"1" * 5000,
        b"[1e999]",
        b"[NaN]",
        b"[Infinity]",
        b'["\xed\xa0\x80"]',
        b'["\xff"]',
        b"[1] 2",
        b"\xef\xbb\xbf[1]",
        b"\0",
    ],
)
def test_line_that_is_left_out(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"1\n" + line + b"\n2\n")
    assert list(read_stream(tmp_path / "x.jsonl")) == [1, 2]
    (tmp_path / "x.json").write_bytes(line)
    assert safe_reader.read_json(tmp_path, "x.json") is None


@pytest.mark.parametrize(
    "value",
    [
        "[" * 50 + "1" + "]" * 50,
        '["' + "[" * 500 + '"]',
        '["' + "1" * 5000 + '"]',
        "[18446744073709551615, -9223372036854775808]",
    ],
)
def test_line_that_is_kept(value: str, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(value + "\n")
    assert list(read_stream(tmp_path / "x.jsonl")) == [json.loads(value)]


@pytest.mark.parametrize(
    ("limit", "read", "told"),
    [
        (("MAX_BYTES", 8), 4, False),
        (("MAX_BYTES", 7), 3, True),
        (("MAX_BYTES", 6), 3, True),
        (("MAX_VALUES", 12), 4, False),
        (("MAX_VALUES", 11), 3, True),
    ],
)
def test_more_than_is_read(
    limit: tuple[str, int], read: int, told: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"1\n2\n3\n4\n")
    monkeypatch.setattr(safe_reader, *limit)
    names: list[str] = []
    assert list(safe_reader.read_stream(tmp_path, "x.jsonl", names.append)) == [1, 2, 3, 4][:read]
    assert names == ["x.jsonl"] * told


def test_report_says_what_was_read_in_part(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    note = "records.jsonl is larger than what tfperf reads: only its first part was."
    assert note not in analyze(copied).notes
    size = (copied / RECORDS).stat().st_size
    with (copied / RECORDS).open("ab") as file:
        file.write(b'["session/cost",[0,0,0,0]]\n' * 4000)
    monkeypatch.setattr(safe_reader, "MAX_BYTES", size + 40_000)
    assert note in analyze(copied).notes
