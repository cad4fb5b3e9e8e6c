"""Are claims about source code true? Run generated programs and compare; publish how many claims were refuted.

    python -m benchmarks.soundness [--programs N] [--first SEED] [--page FILE]

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
    parser.add_argument("--first", type=int, default=0, help="seed of the first program")
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests" / "soundness"))
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
        given.page.write_text(describe(tally, given.first, min(seed, last), time.monotonic() - begin), encoding="utf-8")
    return bool(tally.refuted)


def describe(tally: object, first: int, last: int, seconds: float) -> str:
    """Write the page."""
    from source_claims import Tally

    assert isinstance(tally, Tally)
    rows = []
    for kind, title in TITLES.items():
        figures = tally.claims[kind], tally.refuted[kind], tally.true[kind]
        rows.append(f"| {title} | {' | '.join(f'{figure:,}' for figure in figures)} | {tally.share(kind):.0%} |")
    return f"""# Claims about source code, compared with what happens

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
