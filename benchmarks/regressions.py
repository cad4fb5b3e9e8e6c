"""Does ``tfperf check`` catch planted regressions, and leave alone a commit that changes nothing?

``python -m benchmarks.regressions [--turns N] [--time 90s] [--until HH:MM] [--out FILE]``: the repository and the five
kinds of ``tests/regressions``, and the commit that changes nothing, each once a turn, in random order, each in a
repository of its own. Prints a line of JSON for each check, then the words of ``results/proof.md``; ``--read FILE``:
the words alone.

With ``--out`` it may be interrupted and started again: checks in the file count as done, and ``--turns`` is how
many there shall be in all. A check that was under way is made again.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "regressions"))
from test_regressions import BUDGET, PLANTED, SCRIPT, commit, git

NOTHING = "nothing"
#: Outcomes by the exit status of ``tfperf check``.
OUTCOMES = {0: "pass", 1: "fail", 3: "undecided"}


def turn(kind: str, limit: str) -> dict[str, Any]:
    """One check of a new repository in which ``kind`` was planted: its status, its time, what failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "project"
        folder.mkdir()
        (folder / "train.py").write_text(SCRIPT)
        (folder / "pyproject.toml").write_text(BUDGET)
        git(folder, "init", "-q")
        commit(folder, "the base")
        old, new, bound = PLANTED.get(kind, ("", "", ""))
        (folder / "train.py").write_text(SCRIPT.replace(old, new) if old else SCRIPT + "# a comment\n")
        commit(folder, kind)
        timed = kind == NOTHING or bound == "slowdown"
        result = Path(name) / "checked.json"
        words = [sys.executable, "-m", "tfperfkit", "check", "--json", str(result)]
        words += ["--base", "HEAD~1", "--time-limit", limit] if timed else []
        environment = {**os.environ, "TFPERF_RUNS": str(Path(name) / "runs"), "TF_CPP_MIN_LOG_LEVEL": "3"}
        begun = time.monotonic()
        status, said = _run([*words, "train.py"], folder, environment)
        took = time.monotonic() - begun
        if status not in OUTCOMES:
            return {"kind": kind, "outcome": "error", "words": said[-300:], "seconds": round(took, 1)}
        checked = json.loads(result.read_text())
        measures = checked["measures"]
        failed = sorted({item["name"] for item in measures if item["outcome"] == "fail"})
        return {
            "kind": kind,
            "outcome": OUTCOMES[status],
            "failed": failed,
            "planted": bound,
            "by": checked["decided_by"],
            "pairs": checked["rounds"],
            "seconds": round(took, 1),
            "load": round(os.getloadavg()[0], 1),
        }


def _run(words: list[str], folder: Path, environment: dict[str, str]) -> tuple[int, str]:
    """Its status and stderr. If this program is ended, it ends the check, which leaves nothing behind."""
    process = subprocess.Popen(
        words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    try:
        _, said = process.communicate()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
    return process.returncode, said


def done_before(file: Path | None) -> list[dict[str, Any]]:
    """The checks that a file holds; a line that was cut is none."""
    rows = []
    for line in file.read_text(encoding="utf-8").splitlines() if file is not None and file.exists() else ():
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return rows


def to_do(rows: Iterable[dict[str, Any]], turns: int) -> Iterator[str]:
    """The kinds to check, turn by turn, each turn in random order, without what is done."""
    done = Counter(row["kind"] for row in rows)
    for number in range(1, turns + 1):
        kinds = [kind for kind in (*PLANTED, NOTHING) if done[kind] < number]
        random.shuffle(kinds)
        yield from kinds


def caught(row: dict[str, Any]) -> bool:
    """Whether it failed by the bound that was planted."""
    return row["outcome"] == "fail" and row["planted"] in row["failed"]


def words(rows: Iterable[dict[str, Any]]) -> str:
    """Return a table, a row for each kind."""
    rows = list(rows)
    lines = ["| planted | turns | caught by its bound | undecided | missed |", "|---|---|---|---|---|"]
    for kind in PLANTED:
        of_kind = [row for row in rows if row["kind"] == kind]
        outcomes = Counter("caught" if caught(row) else row["outcome"] for row in of_kind)
        missed = len(of_kind) - outcomes["caught"] - outcomes["undecided"]
        lines.append(f"| {kind} | {len(of_kind)} | {outcomes['caught']} | {outcomes['undecided']} | {missed} |")
    outcomes = Counter(row["outcome"] for row in rows if row["kind"] == NOTHING)
    false = outcomes["fail"] + outcomes["error"]
    lines += [
        "",
        f"The commit that changes nothing: {sum(outcomes.values())} turns, {outcomes['pass']} passed, "
        f"{outcomes['undecided']} undecided, {false} false alarms.",
    ]
    loads = sorted(row["load"] for row in rows if "load" in row)
    if loads:
        lines.append(f"Load {loads[0]:.0f} to {loads[-1]:.0f} on {os.cpu_count()} processors.")
    return "\n".join(lines)


def _append(file: Path, line: str) -> None:
    """On a line of its own, also behind one that was cut."""
    cut = file.exists() and file.read_bytes()[-1:] not in (b"", b"\n")
    with file.open("a", encoding="utf-8") as out:
        out.write(("\n" if cut else "") + line + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regressions", description=__doc__)
    parser.add_argument("--turns", type=int, default=20, help="how many in all, with those in --out")
    parser.add_argument("--time", default="90s", help="of a check against the base")
    parser.add_argument("--until", help="no check begins after this time of the day, HH:MM")
    parser.add_argument("--out", type=Path, help="add the lines of JSON to this file, and go on from it")
    parser.add_argument("--read", type=Path, help="run nothing: the words of such a file")
    options = parser.parse_args()
    if options.read:
        print(words(done_before(options.read)))
        return
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what is under way ends as by Ctrl-C
    rows = done_before(options.out)
    try:
        for kind in to_do(list(rows), options.turns):
            if options.until and datetime.datetime.now().strftime("%H:%M") >= options.until:
                break
            rows.append(turn(kind, options.time))
            line = json.dumps(rows[-1])
            print(line, flush=True)
            if options.out:
                _append(options.out, line)
    except KeyboardInterrupt:
        print("interrupted; the same command goes on" if options.out else "interrupted", file=sys.stderr)
    print(words(rows))


if __name__ == "__main__":
    main()
