"""Does ``tfperf check`` catch planted regressions, and leave alone a commit that changes nothing?

``python -m benchmarks.regressions [--turns N] [--time 90s] [--until HH:MM] [--out FILE]``: the repository and the five
kinds of ``tests/regressions``, and the commit that changes nothing, each once a turn, in random order, each in a
repository of its own. Prints a line of JSON for each check, then the words of ``docs/proof.md``; ``--read FILE``: the
words alone.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "regressions"))
from test_regressions import BUDGET, PLANTED, SCRIPT, commit, git

NOTHING = "nothing"
#: Of the exit statuses of ``tfperf check``.
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
        words += ["--base", "HEAD~1", "--time", limit] if timed else []
        environment = {**os.environ, "TFPERF_RUNS": str(Path(name) / "runs"), "TF_CPP_MIN_LOG_LEVEL": "3"}
        begun = time.monotonic()
        done = subprocess.run([*words, "train.py"], cwd=folder, env=environment, capture_output=True, text=True)
        took = time.monotonic() - begun
        if done.returncode not in OUTCOMES:
            return {"kind": kind, "outcome": "error", "words": done.stderr[-300:], "seconds": round(took, 1)}
        measures = json.loads(result.read_text())["measures"]
        failed = sorted({item["name"] for item in measures if item["outcome"] == "fail"})
        return {
            "kind": kind,
            "outcome": OUTCOMES[done.returncode],
            "failed": failed,
            "planted": bound,
            "seconds": round(took, 1),
            "load": round(os.getloadavg()[0], 1),
        }


def caught(row: dict[str, Any]) -> bool:
    """Whether it failed by the bound that was planted."""
    return row["outcome"] == "fail" and row["planted"] in row["failed"]


def words(rows: Iterable[dict[str, Any]]) -> str:
    """A table, a row for each kind."""
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


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.regressions", description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--time", default="90s", help="of a check against the base")
    parser.add_argument("--until", help="no check begins after this time of the day, HH:MM")
    parser.add_argument("--out", type=Path, help="add the lines of JSON to this file")
    parser.add_argument("--read", type=Path, help="run nothing: the words of such a file")
    options = parser.parse_args()
    if options.read:
        print(words(map(json.loads, options.read.read_text().splitlines())))
        return
    rows = []
    for _ in range(options.turns):
        kinds = [*PLANTED, NOTHING]
        random.shuffle(kinds)
        for kind in kinds:
            if options.until and datetime.datetime.now().strftime("%H:%M") >= options.until:
                continue
            rows.append(turn(kind, options.time))
            line = json.dumps(rows[-1])
            print(line, flush=True)
            if options.out:
                with options.out.open("a", encoding="utf-8") as file:
                    file.write(line + "\n")
    print(words(rows))


if __name__ == "__main__":
    main()
