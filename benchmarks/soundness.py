"""Are claims about source code and graphs true? Run generated programs and compare; publish how many were refuted.

    python -m benchmarks.soundness [--programs N] [--graphs N] [--first SEED] [--page FILE]

``--programs`` are programs in Python, ``--graphs`` TensorFlow functions. The page keeps the part of the others, and the
list of runs.

Each program has a loop. What the analysis claims of the loop is compared with what happens: the values of an expression
in all iterations, and the results after running the iterations in other orders. A claim that execution refutes is a
bug. The share of the true claims that is found says what the analysis misses; some are true by chance.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "benchmarks" / "results" / "soundness.md"
#: Programs between two lines about the progress.
EACH = 250
#: The same, of functions that TensorFlow traces.
EACH_GRAPHS = 50
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


def main() -> int:
    """Run the programs; return 1 if a claim was refuted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=2000)
    parser.add_argument("--graphs", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "soundness"))
    sys.path.insert(0, str(ROOT / "tests" / "builders"))
    return max(run_source(given), run_graphs(given))


def run_source(given: argparse.Namespace) -> int:
    """Run programs in Python; return 1 if a claim was refuted."""
    from source_claims import Tally, check_seeds

    tally, begin = Tally(), time.monotonic()
    seed, last = given.first, given.first + given.programs
    while seed < last:
        tally.add(check_seeds(range(seed, min(seed + EACH, last))))
        seed += EACH
        print(f"{tally.programs:,} programs, {sum(tally.refuted.values())} claims refuted", flush=True)
        for example in tally.examples[-3:]:
            print(example, flush=True)
        tally.examples.clear()
        publish(given.page, describe(tally, given.first, min(seed, last), time.monotonic() - begin))
    return bool(tally.refuted)


def run_graphs(given: argparse.Namespace) -> int:
    """Run TensorFlow functions; return 1 if a claim was refuted."""
    if not given.graphs:
        return 0
    from graph_claims import Checked, check_claims

    ran, begin = 0, time.monotonic()
    every: dict[str, Checked] = {}
    for seed in range(given.first, given.first + given.graphs, EACH_GRAPHS):
        last = min(seed + EACH_GRAPHS, given.first + given.graphs)
        programs, found = check_claims(range(seed, last))
        ran += programs
        for kind, checked in found.items():
            every.setdefault(kind, Checked()).add(checked)
        refuted = [words for checked in every.values() for words in checked.refuted]
        print(f"{ran:,} functions, {len(refuted)} claims refuted", *refuted[-3:], sep="\n", flush=True)
        rows = []
        for kind, each in every.items():
            figures = each.made, len(each.refuted), each.true
            share = each.found / max(each.true, 1)
            rows.append(f"| {GRAPH_TITLES[kind]} | {' | '.join(f'{figure:,}' for figure in figures)} | {share:.0%} |")
        publish(given.page, describe_graphs(rows, ran, given.first, last, time.monotonic() - begin))
    return any(checked.refuted for checked in every.values())


def publish(page: Path, part: str) -> None:
    """Put one part of the page in the place of the old one."""
    heads = (HEAD_OF_SOURCE, HEAD_OF_GRAPHS, HEAD_OF_RUNS)
    old = page.read_text(encoding="utf-8") if page.exists() else ""
    parts = {
        head: each for each in old.split("\n# ") for head in heads if f"# {each.removeprefix('# ')}".startswith(head)
    }
    parts = {head: f"# {each.removeprefix('# ').strip()}\n" for head, each in parts.items()}
    parts[next(head for head in heads if part.startswith(head))] = part
    page.write_text("\n".join(parts[head] for head in heads if head in parts), encoding="utf-8")


def describe_graphs(rows: list[str], ran: int, first: int, last: int, seconds: float) -> str:
    """Write the part of the page about graphs."""
    return f"""{HEAD_OF_GRAPHS}

`python -m benchmarks.soundness --programs 0 --graphs {last - first}` traced and ran {ran:,} generated TensorFlow
functions (seeds {first:,} to {last - 1:,}; the others fail as they run). They broadcast, reduce, reshape, transpose,
slice, join, multiply, look up, draw at random, assign to variables, and call functions, loops and branches. Each was
called with other arguments, with one row changed at a time, with rows exchanged, and with unused elements changed. A
claim is about one tensor that a function makes, intermediate ones among them.

| claim | made | refuted | true by execution | found of these |
|---|---|---|---|---|
{chr(10).join(rows)}

{seconds / 60:.0f} minutes on one core of a shared machine, Python {sys.version.split()[0]}.
"""


def describe(tally: object, first: int, last: int, seconds: float) -> str:
    """Write the page."""
    from source_claims import Tally

    assert isinstance(tally, Tally)
    rows = []
    for kind, title in TITLES.items():
        figures = tally.claims[kind], tally.refuted[kind], tally.true[kind]
        rows.append(f"| {title} | {' | '.join(f'{figure:,}' for figure in figures)} | {tally.share(kind):.0%} |")
    return f"""{HEAD_OF_SOURCE}

`python -m benchmarks.soundness` ran {tally.programs:,} generated programs (seeds {first:,} to {last - 1:,};
{tally.failed:,} more raise by themselves and tell nothing). A program has a loop in which it assigns, calls, changes
objects and containers, draws at random, or leaves the loop; its iterations ran as they are, in reverse, and in two
other orders.

| claim | made | refuted | true by execution | found of these |
|---|---|---|---|---|
{chr(10).join(rows)}

True by execution is also what happens to be the same for a program's numbers, such as a maximum that no iteration
passes; no analysis of the source can claim that.

{seconds / 60:.0f} minutes on one core of a shared machine, Python {sys.version.split()[0]}.
"""


if __name__ == "__main__":
    os.environ.setdefault("PYTHONHASHSEED", "0")
    sys.exit(main())
