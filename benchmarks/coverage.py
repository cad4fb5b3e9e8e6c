"""For how many faults of the collection is there an experiment? ``python -m benchmarks.coverage``; runs no script.

A finding is made as the report should have it: the first code that is accepted, at the planted lines. Counted is an
experiment whose candidates name that finding and, where they name a function or a statement, find it in the script.
Prints the words that the site has in ``benchmarks/results/proof.md``; ``--each``: every fault first.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "faults"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "builders"))
from fault_collection import Case, cases
from remedies import remedy_of

from tfperfkit.gain import Range
from tfperfkit.launch.edited_main import Editor, lines_of
from tfperfkit.model import Finding, Measurement, Overhead, Report, RunInfo, SourceSpan, StepSummary
from tfperfkit.trials.choice import Choice
from tfperfkit.trials.judging import Variant


class Covered(NamedTuple):
    """``fixes`` and ``ceilings``: the experiments for a fault, as they are typed."""

    case: Case
    fixes: tuple[str, ...]
    ceilings: tuple[str, ...]


def coverage() -> list[Covered]:
    """Each fault of the collection."""
    choice = Choice()
    found = []
    for case in cases():
        if case.healthy or not case.codes:
            continue
        variants = [item for item in choice.of_findings(_report(case)) if _finds_its_place(case, item)]
        fixes = tuple(item.text for item in variants if item.keeps != "ceiling")
        found.append(Covered(case, fixes, tuple(item.text for item in variants if item.keeps == "ceiling")))
    return found


def _report(case: Case) -> Report:
    finding = Finding(
        code=case.codes[0],
        family="step",
        title="planted",
        severity="high",
        share_of_step=0.5,
        gain=Range(2.0, 2.0, 2.0),
        where=tuple(_places(case)),
        evidence=(Measurement("planted", 1.0, "count", "run"),),
        advice="",
        remedy=remedy_of(case.codes[0]),
    )
    keras = ".fit(" in case.script.read_text(encoding="utf-8")
    return Report(
        schema=1,
        run=RunInfo(argv=(case.script.name,), exit_code=0, status="finished", machine={"cpus": 2}),
        probes=(),
        steps=StepSummary(count=100, source="keras" if keras else "custom"),
        findings=(finding,),
        overhead=Overhead(),
    )


def _places(case: Case) -> Iterable[SourceSpan]:
    """The planted lines, with the functions around them, or that they begin; after each, the calls there."""
    functions = [
        node
        for node in ast.walk(ast.parse(case.script.read_bytes()))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    for line in case.marked:
        around = [node for node in functions if node.lineno <= line <= (node.end_lineno or node.lineno)]
        innermost = max(around, key=lambda node: node.lineno, default=None)
        yield SourceSpan(str(case.script), line, innermost.name if innermost else "<module>")
        called = case.script.read_text(encoding="utf-8").splitlines()[line - 1]
        for node in functions:
            if node is not innermost and re.search(rf"\b{node.name}\(", called):
                yield SourceSpan(str(case.script), node.lineno, node.name)


def _finds_its_place(case: Case, variant: Variant) -> bool:
    if not variant.edited:
        return True
    names = frozenset(edit for edit in variant.edited if ":" not in edit)
    editor = Editor(names, lines_of(str(case.script), variant.edited))
    editor.visit(ast.parse(case.script.read_bytes()))
    return editor.count > 0


def words(found: list[Covered]) -> str:
    """Write the words for ``benchmarks/results/proof.md``."""
    fixed = [item for item in found if item.fixes]
    ceiling = [item for item in found if item.ceilings and not item.fixes]
    without = [item for item in found if not item.fixes and not item.ceilings]
    count = len(fixed) + len(ceiling)
    names = ", ".join(f"`{item.case.name}` ({item.case.codes[0]})" for item in without)
    return (
        f"An experiment exists for {count} of {len(found)} faults ({100 * count / len(found):.1f} %): a fix for "
        f"{len(fixed)}, a ceiling alone for {len(ceiling)}.\n\nNone for {names}."
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Counts the faults of the collection that have an experiment.")
    parser.add_argument("--each", action="store_true", help="every fault with its experiments first")
    arguments = parser.parse_args()
    found = coverage()
    if arguments.each:
        for item in found:
            print(item.case.name, item.case.codes[0], ", ".join(item.fixes + item.ceilings) or "none")
    print(words(found))


if __name__ == "__main__":
    main()
