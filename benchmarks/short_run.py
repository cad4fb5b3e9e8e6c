"""The seconds that ``tfperf run`` adds to a short run, by part: ``python -m benchmarks.short_run [ROUNDS]``.

Plain Python and tfperf in turn. The parent's parts are timed by standing around its functions, in a process of its own;
those of the script's process are in its run directory.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.programs import WORKLOADS_FOLDER

_STEPS = "3000"
#: Runs the command line with a clock around the parent's parts, and prints what it measured at the end.
_TIMED = """
import sys, time, json, os
begun = time.monotonic()
from tfperfkit import cli
spent = {"start: importing the command line": time.monotonic() - begun}
def around(module, name, words):
    import importlib
    found = importlib.import_module(module)
    original = getattr(found, name)
    def timed(*arguments, **keywords):
        begin, used = time.monotonic(), time.process_time()
        try:
            return original(*arguments, **keywords)
        finally:
            spent[words] = spent.get(words, 0.0) + time.monotonic() - begin
            processor = words + ", of a processor"
            spent[processor] = spent.get(processor, 0.0) + time.process_time() - used
    setattr(found, name, timed)
around("tfperfkit.launch.supervisor", "supervise", "the script")
around("tfperfkit.launch.machine", "measure", "after it: limits of the machine")
around("tfperfkit.analysis.analyze", "study", "after it: analysis")
around("tfperfkit.commands._reporting", "print_report", "after it: drawing")
begin = time.monotonic()
try:
    cli.main(["run", "--output", os.devnull, "--run-dir", sys.argv[1], *sys.argv[2:]])
except SystemExit:
    pass
spent["whole"] = time.monotonic() - begin
print("SPENT " + json.dumps(spent))
"""
_PROCESSOR = ", of a processor"
#: Times inside "the script", from its run directory.
_ARMING, _WINDOWS, _END = (
    "in the script: arming",
    "in the script: opening and closing windows",
    "in the script: from our goodbye to its end, Python's own too",
)


def _environment(folder: str) -> dict[str, str]:
    return {**os.environ, "TFPERF_RUNS": f"{folder}/runs", "TF_CPP_MIN_LOG_LEVEL": "3"}


def plain(script: list[str]) -> float:
    """Seconds of the script alone."""
    with tempfile.TemporaryDirectory() as folder:
        begin = time.monotonic()
        subprocess.run([sys.executable, *script], env=_environment(folder), capture_output=True, check=True)
        return time.monotonic() - begin


def watched(script: list[str]) -> dict[str, float]:
    """Seconds by part."""
    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "run"
        done = subprocess.run(
            [sys.executable, "-c", _TIMED, str(run), *script],
            env=_environment(folder),
            capture_output=True,
            text=True,
            check=True,
        )
        line = next(line for line in done.stdout.splitlines() if line.startswith("SPENT "))
        spent: dict[str, float] = json.loads(line[6:])
        spent |= _inside(run)
    known = sum(spent[name] for name in spent if name.startswith("after it") and not name.endswith(_PROCESSOR))
    known += spent["the script"]
    spent["the rest of the parent"] = spent["whole"] - known
    return spent


def _inside(run: Path) -> dict[str, float]:
    agent = json.loads((run / "agent.json").read_text())
    rows = [json.loads(line) for line in (run / "session" / "phases.jsonl").read_text().splitlines()]
    begun: dict[str, int] = {}
    windows = 0
    for probe, phase, when in rows:
        since = begun.pop(probe, None)
        if since is not None:
            windows += when - since
        if phase in ("opening", "closing"):
            begun[probe] = when
    goodbye = next(event["ns"] for event in _rows(run, "session/events") if event["kind"] == "end")
    ended = json.loads((run / "exit.json").read_text())["ended_ns"]
    first = next(row for row in _rows(run, "session/samples") if row[0] == "rate")  # the pulse has begun: armed
    armed = first[1] - agent["import_end_ns"]
    return {_ARMING: armed / 1e9, _WINDOWS: windows / 1e9, _END: (ended - goodbye) / 1e9}


def _rows(run: Path, stream: str) -> list[Any]:
    rows = (json.loads(line) for line in (run / "records.jsonl").read_text().splitlines())
    return [row for name, row in rows if name == stream]


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    script = [str(WORKLOADS_FOLDER / "train_function.py"), _STEPS]
    alone, parts = [], []
    watched(script)  # the limits of the machine, compiled files
    for number in range(rounds):
        alone.append(plain(script))
        parts.append(watched(script))
        print(f"round {number + 1} of {rounds}, load {os.getloadavg()[0]:.0f}", file=sys.stderr, flush=True)
    added = [
        one["whole"] + one["start: importing the command line"] - bare for one, bare in zip(parts, alone, strict=True)
    ]
    longer = [one["the script"] - bare for one, bare in zip(parts, alone, strict=True)]
    rows = {"plain Python, the whole run": alone, "added by tfperf": added, "of it the script's process": longer}
    rows |= {
        name: [one[name] for one in parts]
        for name in parts[0]
        if name not in ("whole", "the script", "the script" + _PROCESSOR)
    }
    print("| part | median, s | least to most |\n|---|---|---|")
    for name, values in rows.items():
        print(f"| {name} | {statistics.median(values):.3f} | {min(values):.3f} to {max(values):.3f} |")


if __name__ == "__main__":
    main()
