"""Do findings suffice to fix a script? ``python -m benchmarks.agents [NAMES...] [--out FILE] [--rounds N]``.

No model takes part: a fixed program sits where a coding agent would. It starts ``tfperf mcp`` as a client, runs a
script of the fault collection, asks for its findings, and takes the first one, from the top, for which ``tfperf fix``
has a patch. That patch alone is applied, and the script before and after is timed under plain Python, in turn.
Nothing here reads the manifest's accepted codes, the planted lines or the fixed twin. Prints rows of Markdown.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))
from fault_collection import Case, cases, environment

from benchmarks.ratios import words

#: How long the program lets a script run under tfperf: what an agent would wait.
PATIENCE_S = 150.0

#: How long a script is waited for that is timed: it has to end by itself, also where others keep the machine busy.
TIMED_S = 900.0


class Mended(NamedTuple):
    """The outcome of one script. ``identity``: the finding whose patch was applied, "" for none; ``rank`` from 1."""

    headline: str
    identities: tuple[str, ...]
    identity: str = ""
    rank: int = 0
    patch: str = ""
    predicted: str = ""
    reason: str = ""


def mend(case: Case, folder: Path) -> Mended:
    """Profile, ask, patch: the script in ``folder`` is another one afterwards, where a patch was found."""
    headline, text = asyncio.run(_ask(case, folder))
    blocks = _blocks(text)
    reason = "no finding"
    for rank, (identity, block) in enumerate(blocks.items(), 1):
        said = _tfperf(folder, "fix", "run", identity, "--apply")
        if said.returncode == 0 and "tfperf: wrote" in said.stderr:
            patch = re.search(r"^ *patch: (.+)", said.stdout, re.M)
            gain = re.search(r"predicted (?:at least )?[\d.]+x(?: \([^)]*\))?", block)
            return Mended(
                headline, (*blocks,), identity, rank, patch[1] if patch else "", gain[0] if gain else "not predicted"
            )
        why = re.search(r"^ *(?:no patch here: )?(.+)", "\n".join(said.stdout.splitlines()[2:3]), re.M)
        if rank == 1:
            reason = f"{identity}: {why[1] if why else said.stderr.strip()}"
    return Mended(headline, (*blocks,), reason=reason)


async def _ask(case: Case, folder: Path) -> tuple[str, str]:
    """The first line of ``run`` and the text of ``findings``, from one session of a client."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tfperfkit", "mcp"],
        cwd=folder,
        env={**environment(), "TFPERF_RUN_DIR": "run"},
    )
    async with Client(server) as client:
        given = {"script": case.script.name, "arguments": [*case.arguments], "max_seconds": PATIENCE_S}
        answers = [await client.call_tool("run", given), await client.call_tool("findings", {"run": "run"})]
    texts = ["\n".join(item.text for item in answer.content) for answer in answers]
    for answer, text in zip(answers, texts, strict=True):
        if answer.is_error:
            raise RuntimeError(text)
    return texts[0].splitlines()[0], texts[1]


def _blocks(text: str) -> dict[str, str]:
    """Return the findings' text under each id, the costliest first."""
    found: dict[str, str] = {}
    parts = re.split(r"^\[?([A-Z]{3}\d{3}(?:-\d+)?)\b", text, flags=re.M)
    for identity, block in zip(parts[1::2], parts[2::2], strict=True):
        found.setdefault(identity, block)
    return found


def _tfperf(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tfperfkit", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        stdin=subprocess.DEVNULL,
    )


#: Runs a script as ``python`` does, and says how long it took without importing TensorFlow and Keras: wall-clock, and
#: processor time of all its threads.
_TIMED = """
import builtins, runpy, sys, time
def now():
    return time.perf_counter(), time.process_time()
def since(begin):
    return [here - there for here, there in zip(now(), begin)]
kept, inside, spent = builtins.__import__, False, [0.0, 0.0]
def timed(name, *words, **named):
    global inside, spent
    if inside or name.partition(".")[0] not in ("tensorflow", "keras"):
        return kept(name, *words, **named)
    inside, begin = True, now()
    try:
        if name.partition(".")[0] == "tensorflow":
            kept("tensorflow"); kept("keras")
        return kept(name, *words, **named)
    finally:
        inside, spent = False, [a + b for a, b in zip(spent, since(begin))]
builtins.__import__ = timed
sys.argv = sys.argv[1:]
begin = now()
runpy.run_path(sys.argv[0], run_name="__main__")
print("\\nseconds", *[a - b for a, b in zip(since(begin), spent)], file=sys.stderr)
"""


def seconds(script: Path, case: Case, folder: Path) -> tuple[float, float]:
    """Return a script's wall-clock and processor seconds under plain Python, without the import of TensorFlow."""
    done = subprocess.run(
        [sys.executable, "-c", _TIMED, str(script), *case.arguments],
        cwd=folder,
        env=environment(),
        check=True,
        timeout=TIMED_S,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    )
    clock, processor = re.findall(r"^seconds ([\d.]+) ([\d.]+)$", done.stderr, re.M)[-1]
    return float(clock), float(processor)


def gains(before: Path, after: Path, case: Case, folder: Path, rounds: int) -> tuple[list[float], list[float]]:
    """Time of the whole script without that import, before over after, a pair of runs each, in alternation: wall-clock,
    and of processors, which tells less if a patch lets both work and more if others keep them busy.
    """
    clock, processor = [], []
    for _ in range(rounds):
        old, new = (seconds(script, case, folder) for script in (before, after))
        clock.append(old[0] / new[0])
        processor.append(old[1] / new[1])
    return clock, processor


def row(case: Case, rounds: int) -> str:
    """Return a row of the table; raises the errors of a run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        after = folder / case.script.name
        shutil.copy(case.script, after)
        mended = mend(case, folder)
        seen = " ".join(mended.identities[:3]) or "none"
        if not mended.identity:
            return _row(case.name, seen, "–", f"no patch: {mended.reason}", "", "–", "–")
        before = folder / f"{case.name}_before.py"
        shutil.copy(case.script, before)
        try:
            measured = [words(ratios) for ratios in gains(before, after, case, folder, rounds)]
        except subprocess.CalledProcessError as error:
            last = (error.stderr or "").strip().splitlines() or [""]
            measured = [f"the patched script fails: {last[-1][:80]}", "–"]
        return _row(case.name, seen, f"{mended.identity} ({mended.rank})", mended.patch, mended.predicted, *measured)


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', '/').replace(chr(10), ' ') for cell in cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agents", description=__doc__)
    parser.add_argument("names", nargs="*", help="faults; default: all")
    parser.add_argument("--out", type=Path, help="add the rows to this file")
    parser.add_argument("--rounds", type=int, default=3, help="pairs of runs for the gain; default: 3")
    options = parser.parse_args()
    known = {case.name: case for case in cases() if not case.healthy}
    for name in options.names or known:
        try:
            text = row(known[name], options.rounds)
        except Exception as error:
            text = _row(name, "", "–", f"failed: {error}"[:160], "", "–", "–")
        print(text, flush=True)
        if options.out:
            with options.out.open("a", encoding="utf-8") as file:
                file.write(text + "\n")


if __name__ == "__main__":
    main()
