"""Are claims about source code and graphs true? Run generated programs and compare; publish how many were refuted.

    python -m benchmarks.soundness [--programs N] [--graphs N] [--first SEED] [--keep FOLDER] [--limit S] [--page FILE]

``--programs`` are programs in Python, ``--graphs`` TensorFlow functions. The page keeps the part of the others, and the
list of runs. With ``--keep`` a run that was stopped continues where it was.

Each program has a loop. The analysis' claims about the loop are compared with the execution: the values of an
expression in all iterations, and the results after running the iterations in other orders. A claim that execution
refutes is a bug. The share of the true claims that is found says what the analysis misses; some are true by chance.

A process of its own runs the programs, one after the other. If one takes longer than ``--limit`` seconds, or ends the
process, it is listed and the next program runs in a new process.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "soundness.md"
sys.path[:0] = [str(ROOT / "tests" / "soundness"), str(ROOT / "tests" / "builders")]
from tally import Tally  # noqa: E402

#: Programs between two lines about the progress.
EACH = {"source": 250, "graphs": 50}
#: Programs of one process: TensorFlow keeps every function that it has traced.
PER_PROCESS = {"source": 20_000, "graphs": 2_000}
#: Graph programs that are traced as one function. An odd number: the axes that are checked alternate with the seed.
TOGETHER = {"source": 1, "graphs": 5}
#: Seconds in which a process must have imported what it needs.
START_LIMIT = 600.0
#: Memory of a process that runs programs in Python: they may make numbers that double again and again.
MEMORY = 4 << 30
HEAD_OF_SOURCE = "# Claims about source code, compared with what happens"
HEAD_OF_GRAPHS = "# Claims about graphs, compared with what happens"
#: A part of the page that is written by hand.
HEAD_OF_RUNS = "# All long runs, and what they refuted"
GRAPH_TITLES = {
    "the same in every call": "a tensor is the same in every call of a function",
    "a row of one row": "each row of a tensor depends on one row of an argument alone",
    "not used": "only some elements of an argument are used",
}
TITLES = {
    "same": "an expression in the loop is the same in every iteration",
    "same in a function": "the same, of an expression in a function that the loop calls",
    "independent": "iterations are independent",
    "independent but for draws": "the same, up to numbers that iterations draw at random",
}


@dataclass
class Run:
    """One run over the seeds from ``first`` on; ``following`` is the next one. ``slow``: programs over the limit."""

    first: int
    following: int
    seconds: float = 0.0
    slow: list[int] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)

    @classmethod
    def load(cls, file: Path | None, first: int) -> Run:
        """Read a run that was stopped, or begin one."""
        if file is None or not file.exists():
            return cls(first, first)
        data = json.loads(file.read_text(encoding="utf-8"))
        return cls(**{**data, "tally": Tally.from_json(data["tally"])})

    def save(self, file: Path | None) -> None:
        """Write the run, so that another process can continue it."""
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            whole = file.with_suffix(".new")
            whole.write_text(json.dumps({**asdict(self), "tally": self.tally.to_json()}), encoding="utf-8")
            whole.replace(file)

    def __str__(self) -> str:
        refuted = sum(self.tally.refuted.values())
        words = f"seeds {self.first:,} to {self.following - 1:,}: {self.tally.programs:,} programs"
        return f"{words}, {refuted} claims refuted, {len(self.slow)} over the time limit, {self.seconds / 3600:.2f} h"


def main() -> int:
    """Run the programs; return 1 if a claim was refuted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--keep", type=Path, help="folder in which runs are kept, to continue them")
    parser.add_argument("--limit", type=float, default=120, help="seconds for one program")
    parser.add_argument("--page", type=Path, default=PAGE)
    parser.add_argument("--work", choices=sorted(EACH), help=argparse.SUPPRESS)
    parser.add_argument("--together", type=int, default=1, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        return work(given.work, range(given.first, given.first + given.programs), given.together)
    refuted = False
    for kind, count in (("source", given.programs), ("graphs", given.graphs)):
        refuted |= bool(count) and run_programs(kind, count, given)
    return refuted


def work(kind: str, seeds: range, together: int) -> int:
    """Check the programs of these seeds; print the counts of each as a line."""
    if kind == "source":
        import resource

        from source_claims import check_each as check

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    else:
        os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
        os.environ["TF_ENABLE_ONEDNN_OPTS"] = "0"  # with it TensorFlow corrupts its heap in seed 60,003,182
        import tensorflow as tf
        from graph_claims import check_together as check

        tf.config.threading.set_inter_op_parallelism_threads(1)
        tf.config.threading.set_intra_op_parallelism_threads(1)
        check(seeds[:1])
    gc.freeze()  # what is imported now stays: to go through it again and again takes a tenth of the time
    gc.set_threshold(50_000, 20, 20)
    print("ready", flush=True)
    for first in range(0, len(seeds), together):
        for tally in check(seeds[first : first + together]):
            print(json.dumps(tally.to_json()), flush=True)
    return 0


def run_programs(kind: str, count: int, given: argparse.Namespace) -> bool:
    """Run programs of one kind. Return whether a claim was refuted."""
    file = given.keep / f"{kind}.json" if given.keep else None
    run = Run.load(file, given.first)
    last, alone = run.first + count, run.first  # programs before ``alone`` run one by one, to find one that ends all
    while run.following < last:
        together = 1 if run.following < alone else TOGETHER[kind]
        stop = alone if run.following < alone else last
        begin, end = time.monotonic(), min(run.following + PER_PROCESS[kind], stop)
        for tally in check_in_process(kind, run.following, end - run.following, given.limit, together):
            run.following += 1
            run.tally.add(tally)
            print(*tally.examples, sep="\n", end="\n" * bool(tally.examples), flush=True)
            if run.following % EACH[kind] == 0:
                run.seconds, begin = run.seconds + time.monotonic() - begin, time.monotonic()
                run.save(file)
                print(run, flush=True)
        if run.following < end and together > 1:
            alone = run.following + together
        elif run.following < end:
            run.slow.append(run.following)
            print(f"seed {run.following} reached the time limit or ended the process", flush=True)
            run.following += 1
        run.seconds += time.monotonic() - begin
        run.save(file)
    print(run, flush=True)
    publish(given.page, describe(kind, run))
    return any(run.tally.refuted.values())


def check_in_process(kind: str, first: int, count: int, limit: float, together: int) -> Iterator[Tally]:
    """Yield the counts of each program that another process checks, until one reaches the limit or ends the process.

    Raises:
        RuntimeError: the process does not begin.
    """
    command = [sys.executable, "-m", "benchmarks.soundness", "--work", kind]
    command += ["--first", str(first), "--programs", str(count), "--together", str(together)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            lines.put(line)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    try:
        if lines.get(timeout=START_LIMIT).strip() != "ready":
            raise RuntimeError("the process that runs programs does not begin")
        while line := lines.get(timeout=limit):
            yield Tally.from_json(json.loads(line))
    except queue.Empty:
        return
    finally:
        process.kill()
        process.wait()


def publish(page: Path, part: str) -> None:
    """Replace one part of the page by a new one."""
    heads = (HEAD_OF_SOURCE, HEAD_OF_GRAPHS, HEAD_OF_RUNS)
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    parts = {
        head: each for each in old.split("\n# ") for head in heads if f"# {each.removeprefix('# ')}".startswith(head)
    }
    parts = {head: f"# {each.removeprefix('# ').strip()}\n" for head, each in parts.items()}
    parts[next(head for head in heads if part.startswith(head))] = part
    page.write_text("\n".join(parts[head] for head in heads if head in parts), encoding="utf-8")


def describe(kind: str, run: Run) -> str:
    """Write the part of the page about one kind of program."""
    tally, rows = run.tally, []
    for claim, title in (TITLES if kind == "source" else GRAPH_TITLES).items():
        figures = tally.claims[claim], tally.refuted[claim], tally.true[claim]
        rows.append(f"| {title} | {' | '.join(f'{figure:,}' for figure in figures)} | {tally.share(claim):.0%} |")
    head, words = (HEAD_OF_SOURCE, ABOUT_SOURCE) if kind == "source" else (HEAD_OF_GRAPHS, ABOUT_GRAPHS)
    slow = ", ".join(map(str, run.slow)) or "none"
    return f"""{head}

{tally.programs:,} generated programs ran (seeds {run.first:,} to {run.following - 1:,}); {tally.failed:,} more raise an
error by themselves. Seeds of programs that reached the time limit: {slow}.

| claim | made | refuted | true by execution | found of these |
|---|---|---|---|---|
{chr(10).join(rows)}

{words}

{run.seconds / 60:.0f} minutes on one core of a shared machine, Python {sys.version.split()[0]}.
"""


ABOUT_SOURCE = """\
A program is a file with one `for` or `while` loop, which assigns, calls, changes objects and containers, draws at
random, or leaves the loop, and with the functions, classes and values that the loop can reach. Its iterations ran as
they are, in reverse, and in two other orders. All that the loop can change was compared. Made with `python -m
benchmarks.soundness`.

True by execution is also what happens to be the same for a program's numbers, such as a maximum that no iteration
passes; no analysis of the source can claim that."""
ABOUT_GRAPHS = """\
A program is a TensorFlow function of 2 to 8 operations, with its own arguments and variables. It broadcasts, reduces,
reshapes, transposes, slices, joins, multiplies, looks up, draws at random, assigns to variables, and calls functions,
loops and branches. Five programs are traced as one function, and run in the same calls: with other arguments, with one
row changed at a time, with rows exchanged, and with unused elements changed. A claim is about one tensor that a program
makes, intermediate ones among them. Made with `python -m benchmarks.soundness --programs 0 --graphs N`."""


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
