"""Compares what the analysis claims of a program with what happens when the program runs."""

from __future__ import annotations

import ast
import random
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from source_execution import LOOPS, Failed, Ordered, run_noting, shown, unordered
from source_programs import MAIN, Chance, make_program

from tfperfkit.syntax.flow.iteration import Iteration
from tfperfkit.syntax.iteration import analyse

#: Orders in which iterations are run: as they are, in reverse, and by two seeds.
ORDERS = (0, 1, 2, 3)
_COLLECTS = ("append", "extend", "put", "+=", "note", "text")


@dataclass
class Tally:
    """``programs`` that ran, and those that ``failed`` by themselves; by kind of claim, how many were made, how many
    were refuted, and how many are true by execution."""

    programs: int = 0
    failed: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    refuted: Counter[str] = field(default_factory=Counter)
    true: Counter[str] = field(default_factory=Counter)
    examples: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        """Add the figures of other programs."""
        self.programs += other.programs
        self.failed += other.failed
        self.claims += other.claims
        self.refuted += other.refuted
        self.true += other.true
        self.examples += other.examples

    def share(self, kind: str) -> float:
        """The share of the true claims of a kind that was found."""
        return self.claims[kind] / self.true[kind] if self.true[kind] else 1.0


class Drawing:
    """Stands for the module ``random``: what is drawn follows from the iteration, whatever its order."""

    def __init__(self) -> None:
        self._chance = random.Random(0)
        self.Random = _Drawn

    def begin(self, iteration: int) -> None:
        self._chance = random.Random(iteration)
        _Drawn.iteration = iteration

    def __getattr__(self, name: str) -> Any:
        return getattr(self._chance, name)

    def seed(self, value: Any = None) -> None:
        self._chance.seed(value)


class _Drawn:
    iteration = -1

    def __init__(self, seed: Any = None) -> None:
        self._seed = seed
        self._of: dict[int, random.Random] = {}

    def __getattr__(self, name: str) -> Any:
        if self.iteration not in self._of:
            self._of[self.iteration] = random.Random(f"{self._seed} {self.iteration}")
        return getattr(self._of[self.iteration], name)


def check(source: str) -> Tally:
    """Run a program and compare what is claimed of its first loop."""
    tally = Tally()
    tree = ast.parse(source)
    loop = next(node for node in ast.walk(tree) if isinstance(node, LOOPS) and node.lineno > _head_lines(source))
    program = Ordered(source, tree, loop)
    try:
        plain = program.run(0)
    except Failed:
        tally.failed = 1
        return tally
    analysis = analyse(tree, loop)
    tally.programs = 1
    _check_same(source, tree, loop, analysis, tally)
    _check_order(source, loop, program, plain, analysis, tally)
    return tally


def _head_lines(source: str) -> int:
    lines = source.splitlines()
    return lines.index(MAIN) + 1 if MAIN in lines else 0


def _check_same(source: str, tree: ast.Module, loop: ast.AST, analysis: Iteration | None, tally: Tally) -> None:
    inside = set(ast.walk(loop))
    expressions = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.expr)
        and not isinstance(node, (ast.Constant, ast.Starred, ast.Slice, ast.FormattedValue, ast.Lambda))
        and not isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del))
        and not _is_index(node)
    ]
    numbers = {node: number for number, node in enumerate(expressions)}
    try:
        iterations = run_noting(source, tree, loop, numbers)
    except Failed:
        return
    for node, number in numbers.items():
        places = iterations.seen.get(number, {})
        if not any(len(values) > 1 for values in places.values()):
            continue
        same = all(len(set(values.values())) == 1 for values in places.values())
        claimed = analysis is not None and analysis.varies(node) is False
        kind = "same" if node in inside else "same in a function"
        tally.true[kind] += same
        tally.claims[kind] += claimed
        if claimed and not same:
            tally.refuted[kind] += 1
            found = next(values for values in places.values() if len(set(values.values())) > 1)
            tally.examples.append(
                f"# same, refuted: {ast.unparse(node)} (line {node.lineno}) {dict(list(found.items())[:3])}\n{source}"
            )


def _is_index(node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and any(isinstance(item, ast.Slice) for item in node.elts)


def _check_order(
    source: str, loop: ast.AST, program: Ordered, plain: dict[str, Any], analysis: Iteration | None, tally: Tally
) -> None:
    body = "\n".join(ast.unparse(item) for item in (loop.body if isinstance(loop, ast.For) else [loop]))
    collects = not isinstance(loop, ast.For) or any(word in body for word in _COLLECTS) or "shared" in body
    show = unordered if collects else shown
    draws_at_random = any(word in source for word in ("ran", "rng", "noisy"))
    for draws in (True, False) if draws_at_random else (True,):
        results = [show(plain["results"])] if draws else []
        for order in ORDERS[1:] if draws else ORDERS:
            drawing: Any = random if draws else Drawing()
            _Drawn.iteration = -1
            try:
                results.append(show(program.run(order, drawing)["results"]))
            except Failed:
                results.append("failed")
        same = len(set(results)) == 1
        claimed = analysis is not None and not analysis.dependence(draws=draws)
        kind = "independent" if draws else "independent but for draws"
        tally.true[kind] += same
        tally.claims[kind] += claimed
        if claimed and not same:
            tally.refuted[kind] += 1
            tally.examples.append(f"# {kind}, refuted: {list(dict.fromkeys(results))[:2]}\n{source}")


def check_seeds(seeds: Iterable[int]) -> Tally:
    """Check a program for each seed."""
    tally = Tally()
    for seed in seeds:
        tally.add(check(make_program(Chance(random.Random(seed)))))
    return tally
