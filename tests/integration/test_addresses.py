"""Runs at addresses: fsspec's own stores on this machine stand for a bucket."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, ClassVar

import pytest
from fsspec import register_implementation
from fsspec.implementations.memory import MemoryFileSystem
from gpu_builder import gpu_trace
from tfperf_runner import Tfperf

from tfperfkit.errors import RunDirectoryError, UsageError
from tfperfkit.storage.addresses import Store, fetched, is_address

SCRIPT = "print('trained')\n"


def address(folder: Path) -> str:
    return f"file://{folder}"


def test_what_is_an_address() -> None:
    assert all(map(is_address, ("s3://bucket/run", "gs://b", "file:///tmp/x", "memory://a")))
    assert not any(map(is_address, ("runs/first", "/tmp/x", "c:/x", "last", "://x", "s3:/bucket")))


def test_a_run_is_sent_to_its_address_and_read_from_there(tfperf: Tfperf, tmp_path: Path) -> None:
    tfperf.script(SCRIPT)
    there = address(tmp_path / "bucket" / "first")
    done = tfperf("run", "--probes", "none", "--run-dir", there, "train.py")
    assert (done.returncode, done.stdout) == (0, "trained\n"), done.stderr
    assert done.stderr.splitlines()[-1] == f"tfperf: sent to {there}: tfperf report {there}"
    assert (tmp_path / "bucket" / "first" / "run.json").is_file()
    assert not list((tmp_path / "bucket" / "first").glob(".tfperf*"))
    shown = tfperf("report", there)
    assert shown.returncode == 0 and "train.py" in shown.stdout, shown.stderr
    assert json.loads(tfperf("report", there, "--json", "-").stdout)["run"]["argv"] == ["train.py"]


def test_an_address_that_holds_a_run_is_refused_before_anything_runs(tfperf: Tfperf, tmp_path: Path) -> None:
    tfperf.script(SCRIPT)
    there = address(tmp_path / "bucket")
    assert tfperf("run", "--probes", "none", "--run-dir", there, "train.py").returncode == 0
    done = tfperf("run", "--probes", "none", "--run-dir", there, "train.py")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"tfperf: {there} already holds a run: give another address\n"


def test_each_rank_sends_its_part(tfperf: Tfperf, tmp_path: Path) -> None:
    tfperf.script(SCRIPT)
    there = address(tmp_path / "bucket")
    for rank in ("0", "1"):
        done = tfperf("run", "--probes", "none", "--run-dir", there, "train.py", env={"RANK": rank, "WORLD_SIZE": "2"})
        assert done.returncode == 0, done.stderr
    assert sorted(item.name for item in (tmp_path / "bucket").iterdir()) == ["rank-0000", "rank-0001"]
    shown = tfperf("report", there)
    assert shown.returncode == 0 and "2 ranks" in shown.stdout, shown.stdout + shown.stderr


def test_a_rank_is_not_recorded_over_another_launch(tfperf: Tfperf) -> None:
    tfperf.script(SCRIPT)
    rank = {"RANK": "0", "WORLD_SIZE": "2"}
    assert tfperf("run", "--probes", "none", "--run-dir", "runs/7", "train.py", env=rank).returncode == 0
    assert "rank-0000 already holds a run" in tfperf.refuses("run", "--run-dir", "runs/7", "train.py", env=rank)


@pytest.mark.parametrize("rank", [{}, {"RANK": "1", "WORLD_SIZE": "2"}])
def test_a_store_that_goes_away_keeps_the_run_here(tfperf: Tfperf, tmp_path: Path, rank: dict[str, str]) -> None:
    there = tmp_path / "bucket"
    tfperf.script(
        f"import shutil\nshutil.rmtree({str(there)!r})\nopen({str(there)!r}, 'w').close()\nraise SystemExit(3)\n"
    )
    done = tfperf("run", "--probes", "none", "--run-dir", address(there), "train.py", env=rank)
    assert done.returncode == 3
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"tfperf: the run could not be sent to {address(there)} (") and "; it is kept in " in last
    assert (Path(last.rpartition(" ")[2]) / "run.json").is_file()


@pytest.mark.parametrize(
    ("out", "says"),
    [
        ("nonsense://bucket/run", "can't reach nonsense://bucket/run"),
        ("s3://bucket/run", "s3://bucket/run: "),
        ("memory://bucket/run", "memory://bucket/run ends with this process"),
    ],
)
def test_a_store_that_nobody_reaches_is_one_line(tfperf: Tfperf, out: str, says: str) -> None:
    tfperf.script(SCRIPT)
    done = tfperf("run", "--probes", "none", "--run-dir", out, "train.py", env={"AWS_EC2_METADATA_DISABLED": "true"})
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and done.stderr.count("\n") == 1


def test_no_run_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(RunDirectoryError, match="nothing at|can't read"):
        fetched(address(tmp_path / "nothing"))
    with pytest.raises(UsageError, match="can't reach"):
        Store("nonsense://bucket")


def test_names_of_a_store_stay_in_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store("memory://hostile/run")
    store._files.pipe_file("/hostile/run/run.json", b"{}")
    names = ["/hostile/run/run.json", "/hostile/run/../../escaped", "/elsewhere/escaped"]
    monkeypatch.setattr(store._files, "find", lambda path: names)
    folder = tmp_path / "folder"
    folder.mkdir()
    store.fetch(folder)
    assert [item.name for item in tmp_path.rglob("*") if item.is_file()] == ["run.json"]


class Buckets(MemoryFileSystem):
    """Paths begin with the name of a bucket, and a folder is made with its bucket, as s3fs does it."""

    protocol = "buckets"
    made: ClassVar[list[str]] = []

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return path.removeprefix("buckets://").strip("/")

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self.made.append(path)

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **options: Any) -> None:
        raise FileNotFoundError("The specified bucket does not exist")


def test_a_bucket_that_is_missing_is_not_made() -> None:
    register_implementation("buckets", Buckets, clobber=True)
    with pytest.raises(UsageError, match=r"can't write to buckets://bukcet/run: .*does not exist"):
        Store("buckets://bukcet/run").check()
    assert Buckets.made == []


def test_a_log_directory_at_an_address(tfperf: Tfperf, tmp_path: Path) -> None:
    """The run whose name comes last is fetched, and nothing else of what lies there."""
    for run in ("2026_01_01_10_00", "2026_01_02_09_00"):
        for host in ("worker0", "worker1"):
            gpu_trace(3).write(tmp_path / "logs/plugins/profile" / run / f"{host}.xplane.pb")
    (tmp_path / "logs/checkpoint").write_bytes(b"x" * 1000)
    there = address(tmp_path / "logs")
    shown = tfperf("report", there, "--json", "-")
    assert shown.returncode == 0, shown.stderr
    report = json.loads(shown.stdout)
    assert (report["run"], len(report["hosts"]), report["path"]) == ("plugins/profile/2026_01_02_09_00", 2, there)
    one = tfperf("report", f"{there}/plugins/profile/2026_01_01_10_00/worker0.xplane.pb")
    assert one.returncode == 0 and "worker0.xplane.pb" in one.stdout, one.stderr
    assert "there is nothing at" in tfperf.refuses("report", address(tmp_path / "none"))
