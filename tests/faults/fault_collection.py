"""The fault collection: what is planted where, and whether a run under tfperf named it.

The description of a script is at its end, so that its lines keep their numbers, as TOML in comments from ``# ///
fault`` or ``# /// healthy`` to ``# ///``: the fields of ``Case`` but its name. Used by ``test_faults.py`` and by
``python -m benchmarks.accuracy``.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FOLDER = Path(__file__).resolve().parent
MARK = "# FAULT"
_METADATA = re.compile(r"^# /// (fault|healthy)\n((?:#.*\n)*?)# ///$", re.MULTILINE)
#: How far from a marked line a finding may point: a call that spans lines is named by its first or by its last.
NEAR = 2
#: Seconds that one run may take, under tfperf too.
TIMEOUT = 180.0


@dataclass(frozen=True)
class Case:
    """A script of the collection; ``scripts/NAME_fixed.py`` is its fixed twin.

    ``style``: fit, custom, subclassed, distributed, or what its neighbours have. ``codes`` are the acceptable codes of
    the first finding, the best first; empty for a healthy script. ``families``: acceptable families, for causes that
    several rules may rightly name; the planted place alone decides then. ``kind``: "time" (it must be slower than its
    twin), "memory" or "no effect". ``source``: where people met it, or the API's own source that says it. ``ranks``:
    how many workers it is launched as; alone it starts the second itself. ``renamed``: ``test_rewriting.py`` runs it
    with other names, as it should for each rule that reads the source or asks what ran.
    """

    name: str
    style: str
    healthy: bool
    kind: str = "time"
    cause: str = ""
    codes: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    source: str = ""
    note: str = ""
    arguments: tuple[str, ...] = ()
    ranks: int = 1
    renamed: bool = False

    @property
    def script(self) -> Path:
        return FOLDER / ("healthy" if self.healthy else "scripts") / f"{self.name}.py"

    @property
    def fixed(self) -> Path:
        return FOLDER / "scripts" / f"{self.name}_fixed.py"

    @property
    def marked(self) -> tuple[int, ...]:
        """The lines that should be named, from 1."""
        lines = self.script.read_text(encoding="utf-8").splitlines()
        return tuple(number for number, line in enumerate(lines, 1) if line.endswith(MARK))


@dataclass(frozen=True)
class Verdict:
    """``rank`` of the first right finding, from 1; None if there is none. ``by_code``: its code is an acceptable one.

    ``loud``: the codes of the findings above "info", in their order.
    """

    rank: int | None
    by_code: bool
    loud: tuple[str, ...]

    def passes(self, case: Case) -> bool:
        return not self.loud if case.healthy else self.rank == 1


def cases() -> tuple[Case, ...]:
    """All scripts by name, the faulty ones first. Raises ValueError for a script that doesn't say what it is."""
    faulty = [path for path in sorted((FOLDER / "scripts").glob("*.py")) if not path.stem.endswith("_fixed")]
    return tuple(read_case(path) for path in (*faulty, *sorted((FOLDER / "healthy").glob("*.py"))))


def read_case(path: Path) -> Case:
    """Read the script's description of itself.

    Raises ValueError if it says nothing, or no TOML; TypeError for another field.
    """
    found = _METADATA.findall(path.read_text(encoding="utf-8"))
    if len(found) != 1:
        raise ValueError(f"{path.name} has {len(found)} blocks from '# /// fault' (or healthy) to '# ///', not one")
    ((kind, block),) = found
    row: dict[str, Any] = tomllib.loads("\n".join(line.removeprefix("#") for line in block.splitlines()))
    lists = {key: tuple(row.get(key, ())) for key in ("codes", "families", "arguments")}
    return Case(name=path.stem, healthy=kind == "healthy", **{**row, **lists})


def environment() -> dict[str, str]:
    """That of the caller, without what would change tfperf or Python."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("TFPERF_", "PYTHON"))}
    return {**kept, "TF_CPP_MIN_LOG_LEVEL": "3"}


def plain(script: Path, arguments: Sequence[str], folder: Path) -> float:
    """Seconds that the script takes under python itself, in ``folder``. Raises ``CalledProcessError`` if it fails."""
    begin = time.perf_counter()
    subprocess.run(
        [sys.executable, str(script), *arguments],
        cwd=folder,
        env=environment(),
        check=True,
        timeout=TIMEOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    return time.perf_counter() - begin


def profiled(
    case: Case,
    folder: Path,
    timeout: float = TIMEOUT,
    script: Path | None = None,
    alone: tuple[Sequence[str], Mapping[str, str]] | None = None,
) -> dict[str, Any]:
    """The JSON report of ``tfperf run`` on the script, with the default probes, in ``folder``. ``script``: another form
    of the case's own. ``alone``: the words for tfperf and its environment where the script is not launched as workers.

    Raises ``RuntimeError`` if there is no report or the script failed.
    """
    report, run = folder / "report.json", folder / "run"
    tfperf = [sys.executable, "-m", "tfperfkit"]
    words = [
        "--run-dir",
        str(run),
        *(["--json", str(report)] if case.ranks == 1 else []),
        str(script or case.script),
        "--",
    ]
    how = ["run"] if case.ranks == 1 else ["launch", "-n", str(case.ranks)]
    started, asked = alone if alone and case.ranks == 1 else (tfperf, environment())
    command = [*started, *how, *words, *case.arguments]
    # In a session of its own: when the time is up, the script must go with tfperf.
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=asked,
        start_new_session=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    try:
        _, told = process.communicate(timeout=timeout)
    except BaseException as error:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if isinstance(error, subprocess.TimeoutExpired):
            raise RuntimeError(f"not done after {timeout:.0f} s") from error
        raise
    last = (told.strip().splitlines() or [""])[-1]
    try:
        if process.returncode:
            raise RuntimeError(f"exit status {process.returncode}: {last}")
        if case.ranks > 1:
            return together(tfperf, run)
        decoded: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise RuntimeError(f"no report: {last}") from error
    return decoded


def together(tfperf: Sequence[str], run: Path) -> dict[str, Any]:
    """The report of the first rank, with the findings of all ranks together before each one's own."""
    shown = [
        subprocess.run([*tfperf, "report", str(path), "--json", "-"], check=True, capture_output=True).stdout
        for path in (run / "rank-0000", run)
    ]
    first, whole = (json.loads(each) for each in shown)
    own = [finding for part in whole["parts"] for finding in part["findings"]]
    return {**first, "findings": [*whole["findings"], *own]}


def points_at(case: Case, finding: dict[str, Any]) -> bool:
    """Whether one of the finding's places is a marked line, or within ``NEAR`` of one."""
    places = [place["line"] for place in finding["where"] if Path(place["file"]).name == case.script.name]
    return any(abs(line - marked) <= NEAR for line in places for marked in case.marked)


def judge(case: Case, findings: Sequence[dict[str, Any]]) -> Verdict:
    """Whether the findings, costliest first, name what was planted: an acceptable code or family, at the right line."""
    loud = tuple(finding["code"] for finding in findings if finding["severity"] != "info")
    for rank, finding in enumerate(findings, 1):
        by_code = finding["code"] in case.codes
        if (by_code or finding["family"] in case.families) and points_at(case, finding):
            return Verdict(rank, by_code, loud)
    return Verdict(None, False, loud)
