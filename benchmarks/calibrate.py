"""Measures the physical costs that rules assume again, next to the numbers in use.

    python -m benchmarks.calibrate [MEASURE ...] [--rounds N] [--json FILE] [--page FILE]

Some minutes. A measure gives several points a round (shapes, sizes); low and high are the 10th and 90th percentile of
all. Differences from the number in use, by machine, version or load, are printed; nothing is changed.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import json
import os
import platform
import statistics
import sys
from collections.abc import Iterable, Iterator
from datetime import date
from pathlib import Path
from types import ModuleType
from typing import Any

from tfperfkit.calibration import Chosen, Cited, Derived, Measured, Threshold, table

ROOT = Path(__file__).resolve().parents[1]
#: Folders of the packages that state numbers.
SOURCES = (ROOT, ROOT / "plugins")
#: Modules of ``benchmarks.costs`` that have measures.
COSTS = ("graphs", "keras_calls", "arithmetic", "pipelines", "away")
#: The last output of ``--json``; the page shows it.
KEPT = Path(__file__).parent / "calibrated.json"


def modules() -> Iterator[tuple[str, ModuleType]]:
    """Import each module that states a number, the core's first. Yield (name without the package's, module)."""
    for source in SOURCES:
        for path in sorted(path for package in source.glob("tfperfkit*") for path in package.rglob("*.py")):
            if "= Threshold(" in path.read_text(encoding="utf-8"):
                package, *parts = path.relative_to(source).with_suffix("").parts
                named = [part for part in parts if part != "__init__"]
                yield ".".join(named), importlib.import_module(".".join((package, *named)))


def numbers() -> Iterator[tuple[str, Threshold]]:
    """Yield (name with its module, record) of each number, in the module that states it."""
    for short, module in modules():
        stated = _assigned(Path(str(module.__file__)))
        for name, record in table(module):
            if name in stated:
                yield f"{short}.{name}", record


def _assigned(path: Path) -> set[str]:
    """List the names that a module assigns a number to, not those that it imports."""
    nodes = ast.parse(path.read_text(encoding="utf-8")).body
    return {
        each.id for node in nodes if isinstance(node, ast.Assign) for each in node.targets if isinstance(each, ast.Name)
    }


def standing_for(measure: str, stated: Iterable[tuple[str, Threshold]] | None = None) -> list[tuple[str, Threshold]]:
    """The numbers in use that a measure stands for, of those that are ``stated`` (default: all)."""
    return [
        (n, r)
        for n, r in (numbers() if stated is None else stated)
        if isinstance(r.source, Measured) and r.source.by == measure
    ]


def machine() -> dict[str, Any]:
    """Describe the machine of the measurements."""
    model = platform.processor() or platform.machine()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    import tensorflow as tf

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "processor": model,
        "processors": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "load": load,
        "tensorflow": tf.__version__,
        "python": platform.python_version(),
        "date": f"{date.today():%-d %B %Y}",
    }


def measured(names: list[str], rounds: int) -> dict[str, dict[str, Any]]:
    """By measure: its points and their middle and spread. A measure that fails has ``error`` in their place."""
    from benchmarks.costs import MEASURES

    found: dict[str, dict[str, Any]] = {}
    for name in names:
        cost = MEASURES[name]
        row: dict[str, Any] = {"unit": cost.unit, "says": cost.says}
        try:
            take = cost.prepare()
            take()  # the first round also pays for first calls
            points = [point for _ in range(rounds) for point in take()]
        except Exception as error:  # a version without an operation, a machine without oneDNN
            row["error"] = f"{type(error).__name__}: {str(error)[:200]}"
        else:
            cuts = statistics.quantiles(points, n=10, method="inclusive")
            row |= {"points": points, "low": cuts[0], "median": statistics.median(points), "high": cuts[-1]}
        row["in_use"] = {number: record.value for number, record in standing_for(name)}
        found[name] = row
        print(_text(name, row), flush=True)
    return found


def _text(name: str, row: dict[str, Any]) -> str:
    lines = [f"{name}: {row['says']}"]
    if "error" in row:
        lines.append(f"  not measured: {row['error']}")
    else:
        spread = f"{row['low']:.3g} to {row['high']:.3g}"
        lines.append(f"  here    {spread}, median {row['median']:.3g} {row['unit']} ({len(row['points'])} points)")
    for number, record in standing_for(name):
        lines.append(f"  in use  {record.value:.3g} {record.unit}  {number}: {record.says}")
    return "\n".join(lines)


def tables() -> str:
    """Write the count of numbers, those that were measured again, and a table for each module."""
    stated = list(numbers())
    every = [record for _, record in stated]
    kinds = {
        kind: sum(isinstance(record.source, kind) for record in every) for kind in (Cited, Measured, Derived, Chosen)
    }
    repeated = sum(isinstance(record.source, Measured) and bool(record.source.by) for record in every)
    text = [
        f"{len(every)} numbers: {kinds[Cited]} cited, {kinds[Measured]} measured ({repeated} of them by a program that",
        f"anybody can run again), {kinds[Derived]} derived, {kinds[Chosen]} chosen.",
    ]
    text += ["", *_anew(json.loads(KEPT.read_text()), stated)]
    head = ""
    for name, record in stated:
        module, _, short = name.rpartition(".")
        if module != head:
            head = module
            text += ["", f"## {module}", "", "| name | value | what it is | where it comes from |", "|---|---|---|---|"]
        text.append(f"| `{short}` | {record.value:,.6g} {record.unit} | {record.says} | {_source(record)} |")
    return "\n".join(text)


def _anew(kept: dict[str, Any], stated: list[tuple[str, Threshold]]) -> list[str]:
    """Write the section of the numbers that were measured again, next to the numbers in use."""
    here = kept["machine"]
    text = [
        "## Measured anew",
        "",
        f"By `python -m benchmarks.calibrate --json benchmarks/calibrated.json`, {here['date']}:",
        f"{here['processors']} processors ({here['processor']}) at a load of {here['load']:.1f},",
        f"TensorFlow {here['tensorflow']}, Python {here['python']}. From the 10th to the 90th percentile",
        "of all points; a number in use that lies outside says on which side. An upper bound should",
        "be above the points, a lower bound below.",
        "",
        "| measure | 10th to 90th percentile | median | points | in use |",
        "|---|---|---|---|---|",
    ]
    for name, row in kept["measures"].items():
        if "error" in row:
            text.append(f"| `{name}` | not measured: {row['error']} | | | |")
            continue
        in_use = ", ".join(_beside(number, record, row) for number, record in standing_for(name, stated))
        spread = f"{row['low']:.3g} to {row['high']:.3g} {row['unit']}"
        text.append(f"| `{name}` | {spread} | {row['median']:.3g} | {len(row['points'])} | {in_use} |")
    return text


def _beside(number: str, record: Threshold, row: dict[str, Any]) -> str:
    scale = {("us", "ms"): 1e-3, ("ms", "us"): 1e3}.get((record.unit, row["unit"]), 1.0)
    value = record.value * scale
    side = " (above)" if value > row["high"] else " (below)" if value < row["low"] else ""
    return f"`{number}` {record.value:.3g} {record.unit}{side}"


def _source(record: Threshold) -> str:
    source = record.source
    if isinstance(source, Cited):
        return f"cited: {source.text}"
    if isinstance(source, Derived):
        return f"derived: {source.how}"
    if isinstance(source, Chosen):
        return f"chosen: {source.why}"
    points = f"{source.points} point{'s' * (source.points != 1)}" if source.points else "points not noted"
    by = f"; again by `{source.by}`" if source.by else "; no program repeats it"
    return f"measured: {source.found} ({points}; {source.machine}{by})"


def main() -> None:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog="python -m benchmarks.calibrate", description=about)
    parser.add_argument("what", nargs="*", metavar="MEASURE", help="one or more measures; default: all")
    parser.add_argument("--rounds", type=int, default=5, help="how often each is measured; default: 5")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write what was measured, with all points")
    parser.add_argument("--page", type=Path, metavar="FILE", help="measure nothing, write the page of numbers in use")
    arguments = parser.parse_args()
    source = ROOT / "benchmarks" / "results" / "calibration.md"
    if arguments.page:
        if arguments.page.resolve() == source:
            parser.error(f"{arguments.page} gets its tables when the site is made: name another file")
        from benchmarks.collected import fill_in

        arguments.page.write_text(fill_in(source.read_text(encoding="utf-8")))
        return
    if arguments.rounds < 1:
        parser.error("--rounds must be 1 or more")
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    for module in COSTS:
        importlib.import_module(f"benchmarks.costs.{module}")
    from benchmarks.costs import MEASURES

    for name in arguments.what:
        if name not in MEASURES:
            parser.error(f"no such measure: {name} (there are {', '.join(MEASURES)})")
    here = machine()
    print(
        f"{here['processors']} processors ({here['processor']}), TensorFlow {here['tensorflow']}, "
        f"Python {here['python']}, load {here['load'] or 0:.1f}",
        flush=True,
    )
    if here["load"] and here["load"] > here["processors"] / 2:
        print("Other programs keep the processors busy: take the lowest points, not the spread.", file=sys.stderr)
    found = measured(arguments.what or list(MEASURES), arguments.rounds)
    if arguments.json:
        arguments.json.write_text(json.dumps({"machine": here, "measures": found}) + "\n")


if __name__ == "__main__":
    main()
