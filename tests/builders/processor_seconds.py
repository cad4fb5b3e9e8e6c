"""A plugin of pytest: writes down the processor seconds of each test, with all processes that it starts.

    TFPERF_TEST_COSTS=FOLDER pytest -n 2 --dist loadfile -p processor_seconds tests
    python tests/builders/processor_seconds.py FOLDER

Processor seconds, unlike seconds, hardly depend on what else the machine does.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

import pytest

TICKS = os.sysconf("SC_CLK_TCK")

last = 0.0


def used(process: int | str) -> float:
    """Sum the processor seconds of a process, of its living descendants, and of those it has waited for."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
        children = " ".join(path.read_text() for path in Path(f"/proc/{process}/task").glob("*/children"))
    except OSError:
        return 0.0
    return sum(map(int, fields[11:15])) / TICKS + sum(used(child) for child in children.split())


def pytest_runtest_logfinish(nodeid: str) -> None:
    """Append the test and its processor seconds to the file of this worker."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None and "-n" in sys.argv:
        return  # the process of xdist that runs no test
    global last
    now = used("self")
    with open(Path(os.environ["TFPERF_TEST_COSTS"]) / f"{worker or 'alone'}.tsv", "a") as file:
        file.write(f"{now - last:.2f}\t{nodeid}\n")
    last = now


def pytest_sessionstart(session: pytest.Session) -> None:
    Path(os.environ["TFPERF_TEST_COSTS"]).mkdir(parents=True, exist_ok=True)


def main(folder: str) -> None:
    """Print the processor seconds and the number of tests by file, largest first."""
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for path in Path(folder).glob("*.tsv"):
        for line in path.read_text().splitlines():
            cost, _, nodeid = line.partition("\t")
            file = nodeid.partition("::")[0]
            seconds[file] += float(cost)
            tests[file] += 1
    print(f"{sum(seconds.values()):8.0f} {sum(tests.values()):6}  all")
    for file, cost in seconds.most_common():
        print(f"{cost:8.1f} {tests[file]:6}  {file}")


if __name__ == "__main__":
    main(sys.argv[1])
