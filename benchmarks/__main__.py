"""The cost of tfperf, as Markdown: ``python -m benchmarks --help`` tells how to measure a part."""

from __future__ import annotations

import argparse
import os
import sys

from benchmarks import longrun, overhead, startup, steady, windows
from benchmarks.programs import WORKLOADS

WHAT = ("startup", "long", "steady", "windows", "overhead")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measures what tfperf costs.")
    parser.add_argument("what", nargs="*", metavar="WHAT", help=f"of {', '.join(WHAT)}; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured, in turn; default: 5")
    parser.add_argument("--loops", default="", metavar="PARTS", help="parts of names of loops, with commas")
    parser.add_argument("--profilers", default="", metavar="PARTS", help="parts of names of profilers, with commas")
    parser.add_argument("--watch", action="store_true", help="steady: in watch mode")
    parser.add_argument("--blocks", type=int, metavar="N", help="steady: rounds of blocks; default: each loop's own")
    arguments = parser.parse_args()
    for name in arguments.what:
        if name not in WHAT:
            parser.error(f"no such part: {name} (there are {', '.join(WHAT)})")
    print(f"{os.cpu_count()} processors, Python {sys.version.split()[0]}, {arguments.rounds} rounds", flush=True)
    for name in arguments.what or WHAT:
        print()
        if name == "startup":
            print(startup.report(max(arguments.rounds, 7)), flush=True)
        elif name == "long":
            print(longrun.report(arguments.rounds), flush=True)
        elif name == "steady":
            loops = overhead.chosen(steady.WATCH_LOOPS if arguments.watch else steady.LOOPS, arguments.loops)
            print(steady.report(loops, watch=arguments.watch, rounds=arguments.blocks), flush=True)
        elif name == "windows":
            print(windows.report(arguments.rounds, overhead.chosen(WORKLOADS, arguments.loops)), flush=True)
        else:
            print(overhead.report(arguments.rounds, arguments.loops, arguments.profilers), flush=True)


main()
