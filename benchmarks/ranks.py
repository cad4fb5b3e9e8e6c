"""Whether the report of all ranks names the late one and why: ten delays planted in one of two workers, and ten
pairs in which nobody is late, most of them with the same delay in both.

    python -m benchmarks.ranks [--only KIND] [--page benchmarks/results/ranks.md]

Workers are real: MultiWorkerMirroredStrategy over gRPC on this machine's loopback, by ``tfperf launch``.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

SCRIPT = Path(__file__).with_name("workloads") / "two_workers.py"
BEGIN, END = "<!-- measured: ranks -->", "<!-- end: ranks -->"
LATE = 1


class Delay(NamedTuple):
    """The planted cause, the kinds of cause that are right, and whether a line must be named (marked in the script)."""

    name: str
    what: str
    kinds: tuple[str, ...]
    line: bool = True
    steps: int = 150


DELAYS = (
    Delay("sleep", "`time.sleep` in each step", ("Python",)),
    Delay("input", "a slow function in the input pipeline", ("input",), line=False),
    Delay("work", "sixteen times as many examples", ("more work",), line=False),
    Delay("retrace", "a function that traces again each fourth step", ("tracing",)),
    Delay("gc", "`gc.collect()` in each step", ("garbage collection",)),
    Delay("checkpoint", "a checkpoint each third step", ("saving",)),
    Delay("pinned", "one processor, shared with three other programs", ("slower processor",), line=False),
    Delay("evaluate", "`evaluate` each tenth step, of a copy of the model", ("evaluation",)),
    Delay("evaluation", "a loop over held-out data each tenth step", ("alone", "evaluation")),
    Delay("logging", "thousands of lines to a log in each step", ("Python",)),
)


class Outcome(NamedTuple):
    name: str
    what: str
    right: bool
    said: str
    error: str = ""


def planted(name: str) -> set[int]:
    """The lines of the script that a cause may be at."""
    lines = SCRIPT.read_text().splitlines()
    return {number for number, line in enumerate(lines, 1) if f"# PLANTED {name}" in line}


def train(kind: str, who: str, steps: int, folder: Path) -> dict[str, Any]:
    """The JSON of the report of both; raises RuntimeError where the training failed."""
    out = folder / f"{kind}-{who}"
    words = [sys.executable, "-m", "tfperfkit"]
    given = [str(SCRIPT), kind, who, str(steps)]
    done = subprocess.run([*words, "launch", "-n", "2", "--run-dir", str(out), *given], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"status {done.returncode}: {done.stderr[-500:]}")
    shown = subprocess.run([*words, "report", str(out), "--json", "-"], capture_output=True)
    if shown.returncode:
        raise RuntimeError(f"the report failed: {shown.stderr[-500:]!r}")
    return dict(json.loads(shown.stdout))


def said(whole: dict[str, Any]) -> str:
    if whole["late"] is None:
        return "nobody is late"
    return f"{whole['late']}, {whole['wait_ms']:.0f} ms: {whole['why']}"


def judge(delay: Delay, whole: dict[str, Any]) -> bool:
    """Rank and cause right; and the line where there is one to name."""
    cause = whole["cause"]
    if whole["late"] != f"rank {LATE}" or cause is None or cause["kind"] not in delay.kinds:
        return False
    where = cause["where"]
    return not delay.line or (where is not None and where["line"] in planted(delay.name))


def run(only: str | None = None) -> tuple[list[Outcome], list[Outcome]]:
    """(with a late rank, with none)."""
    late, healthy = [], []
    with tempfile.TemporaryDirectory() as name:
        for delay in DELAYS:
            if only not in (None, delay.name):
                continue
            late.append(_outcome(delay, str(LATE), Path(name)))
            print(late[-1], flush=True)
            # A processor for each that is shared by both is a matter of luck: that healthy pair is plain.
            same = delay._replace(name="none", what="nothing") if delay.name == "pinned" else delay
            healthy.append(_outcome(same, "each", Path(name)))
            print(healthy[-1], flush=True)
    return late, healthy


def _outcome(delay: Delay, who: str, folder: Path) -> Outcome:
    try:
        whole = train(delay.name, who, delay.steps, folder)
    except RuntimeError as error:
        return Outcome(delay.name, delay.what, False, "the training failed", str(error))
    right = judge(delay, whole) if who != "each" else whole["late"] is None
    return Outcome(delay.name, delay.what, right, said(whole))


def page(late: list[Outcome], healthy: list[Outcome]) -> str:
    """The two tables in Markdown."""
    found, quiet = (sum(outcome.right for outcome in each) for each in (late, healthy))
    lines = [f"Rank and cause right: {found} of {len(late)}. In peace: {quiet} of {len(healthy)}.", ""]
    for title, outcomes in (("planted in rank 1", late), ("in both ranks", healthy)):
        lines += [f"| {title} | right | what the report says |", "|---|---|---|"]
        lines += [f"| {o.what} | {'yes' if o.right else 'no'} | {o.said.replace('|', '/')} |" for o in outcomes]
        lines.append("")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=[delay.name for delay in DELAYS])
    parser.add_argument("--page", type=Path, help="write the tables between the marks of this page")
    given = parser.parse_args()
    text = page(*run(given.only))
    print(text)
    if given.page is not None:
        before, _, rest = given.page.read_text().partition(BEGIN)
        given.page.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
