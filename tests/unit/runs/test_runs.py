"""A folder of runs: what is listed, removed and asked, and what damaged ones do to it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from benchmarks.many_runs import make
from tfperfkit.analysis import kept_tables, summary
from tfperfkit.cli import main
from tfperfkit.errors import UsageError
from tfperfkit.model import Column, Table
from tfperfkit.runs import listing, pruning, tables

DAY = 86_400.0


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "runs"
    make(place, 5)  # began at 1,700,000,000 s and each a second later
    monkeypatch.setenv("TFPERF_RUNS", str(place))
    return place


def test_the_newest_stand_first(folder: Path) -> None:
    found = listing.find(folder)
    assert [run.name for run in found] == [f"train-{n:05}" for n in (4, 3, 2, 1, 0)]
    assert (found[0].script, found[0].steps, found[0].step_ms, found[0].finding) == ("train.py", 100, 14.0, "INP001")
    assert [run.name for run in listing.chosen(found, "00003", "when")] == ["train-00003"]
    assert [run.step_ms for run in listing.chosen(found, "inp001", "step")] == [14.0, 13.0, 12.0, 11.0, 10.0]


@pytest.mark.parametrize("damage", [b"", b"{", b"[]", b'{"schema": 1}', b'{"schema": 2}', b'{"schema": 1, "argv": 7}'])
def test_a_damaged_summary_is_not_believed(folder: Path, damage: bytes) -> None:
    (folder / "train-00004" / summary.FILE).write_bytes(damage)
    found = {run.name: run for run in listing.find(folder)}
    assert len(found) == 5
    assert (found["train-00004"].status, found["train-00004"].step_ms) == ("no report yet", None)
    (folder / "train-00004" / "run.json").write_bytes(damage)
    assert {run.name: run.status for run in listing.find(folder)}["train-00004"] == "damaged"


def test_links_and_other_folders_are_no_runs(folder: Path, tmp_path: Path) -> None:
    (folder / "notes").mkdir()
    (folder / "linked").symlink_to(folder / "train-00001")
    (folder / "file").write_text("x")
    assert len(listing.find(folder)) == 5
    assert listing.find(tmp_path / "nothing") == []


def test_what_is_removed(folder: Path) -> None:
    runs = listing.find(folder)
    now = 1_700_000_000.0 + 30 * DAY + 2.5
    old = pruning.doomed(folder, runs, now, 30 * DAY, None)
    assert [each.run.name for each in old] == ["train-00000", "train-00001", "train-00002"]
    size = pruning.taken(folder / "train-00000")
    large = pruning.doomed(folder, runs, now, None, 2.5 * size)
    assert [each.run.name for each in large] == ["train-00000", "train-00001", "train-00002"]
    assert pruning.remove(folder, large) == 3
    assert [run.name for run in listing.find(folder)] == ["train-00004", "train-00003"]


def test_a_run_that_may_still_train_stays(folder: Path) -> None:
    (folder / "train-00000" / summary.FILE).unlink()
    runs = listing.find(folder)
    soon = pruning.doomed(folder, runs, 1_700_000_100.0, 10, None)
    assert [each.run.name for each in soon] == [f"train-{n:05}" for n in (1, 2, 3, 4)]
    later = pruning.doomed(folder, runs, 1_700_000_000.0 + 40 * DAY, 10, None)
    assert len(later) == 5


def test_ages_and_sizes() -> None:
    assert (pruning.age("30d"), pruning.age("12h")) == (30 * DAY, 43_200)
    assert (pruning.size("10GB"), pruning.size("1.5 mb"), pruning.size("7")) == (10e9, 1.5e6, 7)
    for wrong in ("", "d", "-3d", "3y"):
        with pytest.raises(UsageError):
            pruning.age(wrong)
    with pytest.raises(UsageError):
        pruning.size("much")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main(words)
    told = capsys.readouterr()
    return int(ended.value.code or 0), told.out, told.err


def test_the_list_on_the_screen(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = said(capsys, "runs", "--limit", "2")
    assert (code, err) == (0, "")
    assert "train-00004" in out and "INP001" in out and "and 3 more" in out
    assert said(capsys, "runs", "--filter", "nothing of this")[1].startswith("no run of that kind in")


def test_nobody_is_asked_without_a_terminal(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = said(capsys, "runs", "prune", "--older-than", "1d")
    assert (code, err.count("\n")) == (2, 1) and "--yes" in err
    assert len(listing.find(folder)) == 5
    code, _, err = said(capsys, "runs", "prune")
    assert code == 2 and "Usage: tfperf runs prune" in err and "--larger-than 10GB" in err.splitlines()[-1]
    listed = said(capsys, "runs", "-q", "--limit", "2")[1]
    assert listed == "train-00004\ntrain-00003\n"
    assert said(capsys, "runs", "prune", "-q", "--older-than", "9999d", "--yes") == (0, "", "")
    assert "5 removed" in said(capsys, "runs", "prune", "--older-than", "1d", "--yes")[1]


def test_sql_and_parquet(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("duckdb")
    columns, rows = tables.ask(folder, "SELECT code, count(*) AS n, max(line) FROM findings GROUP BY code")
    assert (columns, rows) == (("code", "n", "max(line)"), [("INP001", 15, 57)])
    assert tables.ask(folder, "SELECT year(started) FROM runs LIMIT 1")[1] == [(2023,)]
    assert tables.ask(folder, "SELECT sum(ms) FROM parts")[1] == [(50.0,)]
    files = dict(tables.export(folder, tmp_path / "it's here"))
    assert {file.name: rows for file, rows in files.items()} == {
        "runs.parquet": 5,
        "findings.parquet": 15,
        "evidence.parquet": 30,
        "places.parquet": 15,
        "headroom.parquet": 0,
        "parts.parquet": 10,
        **dict.fromkeys((f"{name}.parquet" for name in ("run_parts", "work_parts", "windows", "notes")), 0),
        "probes.parquet": 0,
        "cells.parquet": 0,
    }
    assert all(file.read_bytes()[:4] == b"PAR1" for file in files)


def test_tables_of_probes_are_asked_cell_by_cell(folder: Path) -> None:
    pytest.importorskip("duckdb")
    columns = (Column("operation"), Column("time", "ms"))
    ran = Table(title="Operations", columns=columns, rows=(("MatMul", 3.5), ("Relu", None)))
    one = kept_tables.KeptTables(
        schema=kept_tables.SCHEMA,
        probes=(kept_tables.ProbeTables(name="theirs", status="ok", summary="two", tables=(ran,)),),
        run_parts_s={"imports": 4.0},
        work_parts_ms={"train.py:7": {"python": 2.0}},
        notes=("short",),
    )
    place = folder / "train-00003" / kept_tables.FILE
    place.write_bytes(msgspec.json.encode(one))
    (folder / "train-00002" / kept_tables.FILE).write_bytes(b'{"schema": 1, "probes": 7}')  # damaged: as if not there
    cells = tables.ask(folder, "SELECT run, row, name, unit, number, text FROM cells ORDER BY row, name")[1]
    assert cells == [
        ("train-00003", 1, "operation", "text", None, "MatMul"),
        ("train-00003", 1, "time", "ms", 3.5, None),
        ("train-00003", 2, "operation", "text", None, "Relu"),
        ("train-00003", 2, "time", "ms", None, None),
    ]
    joined = "probes JOIN run_parts USING (run) JOIN work_parts USING (run) JOIN notes USING (run)"
    asked = f"SELECT summary, s, ms, note FROM {joined}"
    assert tables.ask(folder, asked)[1] == [("two", 4.0, 2.0, "short")]


@pytest.mark.parametrize("statement", ["selec", "SELECT * FROM read_csv('/etc/passwd')", "COPY runs TO '/tmp/x'"])
def test_a_statement_reaches_nothing_else(folder: Path, statement: str) -> None:
    pytest.importorskip("duckdb")
    with pytest.raises(UsageError) as told:
        tables.ask(folder, statement)
    assert "\n" not in str(told.value)


def test_without_duckdb(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(UsageError, match=r"pip install 'tfperfkit\[sql\]'"):
        tables.ask(folder, "SELECT 1")


def test_summaries_come_back_whole(folder: Path) -> None:
    found = summary.read(folder / "train-00001")
    assert found is not None and len(found.findings) == 3
    assert json.loads(msgspec.json.encode(found))["findings"][0]["where"][0]["file"] == "train.py"
