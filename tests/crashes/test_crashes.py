"""Whatever strikes script, tfperf or disk at whatever moment: the script's fate is its own, and nothing is lost.

One case of each fate in ``make test``, more in ``make test-long`` (as many as ``TFPERF_CRASHES``). A case's number
decides the fate and the moment, so that a failed case can be run again: ``TFPERF_CRASHES=57 pytest tests/crashes -k "57
"``.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from crash import FATES, STEPS, Case, Struck, case, faketime
from warm_run import warm_tfperf

from tfperfkit.xplane.reader import open_space

IN_CI = len(FATES)
NUMBER = int(os.environ.get("TFPERF_CRASHES", "200" if os.environ.get("TFPERF_LONG") else IN_CI))
#: Steps that ended longer ago than this when the script was struck must be in the report.
LOST_AT_MAX_S = 2.0


def _needs(item: Case) -> str | None:
    name = item.fate.name
    if name == "clock" and faketime() is None:
        return "needs Debian's faketime"
    if name == "full disk" and os.getuid():
        return "needs the right to mount a file system"
    if name == "read-only folder" and not os.getuid() and shutil.which("chattr") is None:
        return "needs chattr"
    return None


@pytest.fixture
def struck(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Struck]:
    reason = _needs(request.param)
    if reason:
        pytest.skip(reason)
    run = Struck(request.param, tmp_path)
    try:
        yield run.go()
    finally:
        run.close()


def _report(run: Struck) -> tuple[str, Any]:
    """The report of ``tfperf report``, for people and as JSON."""
    path = run.folder / "report.json"
    tfperf, environment = warm_tfperf({**os.environ, "TFPERF_RUNS": str(run.folder / "runs"), "COLUMNS": "100"})
    shown = subprocess.run(
        [*tfperf, "report", str(run.run), "--json", str(path)],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=200,
    )
    assert (shown.returncode, shown.stderr) == (0, "")
    return shown.stdout, json.loads(path.read_bytes())


def _assert_readable(folder: Path) -> None:
    for path in sorted(folder.rglob("*")):
        assert not path.name.startswith("."), path
        if path.suffix == ".json":
            json.loads(path.read_bytes())
        elif path.suffix == ".jsonl":
            lines = path.read_bytes().split(b"\n")
            for line in lines[:-1]:  # the last is empty, or the one that was being written
                json.loads(line)
        elif path.name.endswith(".xplane.pb"):
            assert open_space(path).planes


@pytest.mark.timeout(400)
@pytest.mark.parametrize("struck", [case(number) for number in range(NUMBER)], ids=str, indirect=True)
def test_nothing_is_lost(struck: Struck) -> None:
    fate, error = struck.case.fate, struck.error.decode(errors="replace")
    assert struck.leftover == []
    if fate.status is not None:
        assert struck.status == fate.status, error
    if not fate.ends or struck.status == 0:  # what a memory limit does is up to the allocators
        assert len(struck.seen) == STEPS, error
    assert "tfperfkit/" not in error and "a fault of tfperf" not in error
    if fate.sees:
        assert f"{struck.run}" in error.partition("\n")[0] and "steps" in error.partition("\n")[2], error

    shown, document = _report(struck)
    assert document["steps"]["count"] >= struck.steps_before(LOST_AT_MAX_S), shown
    assert document["steps"]["count"] <= len(struck.seen) + 1
    expected = {"tfperf killed": ("finished", None), "both killed": ("killed", None)}.get(
        fate.name, (None, struck.status)
    )
    if fate.name != "read-only folder":
        assert document["run"]["exit_code"] == expected[1]
    if expected[0]:
        assert document["run"]["status"] == expected[0]
    if fate.name != "read-only folder":
        _assert_readable(struck.run)
    assert [path.name for path in struck.temporary.rglob("*") if "tfperf" in path.name] == []


def test_every_fate_has_its_turn_in_ci() -> None:
    assert {case(number).fate for number in range(IN_CI)} == set(FATES)
    assert {case(number).step > 0 for number in range(IN_CI)} == {True, False}
