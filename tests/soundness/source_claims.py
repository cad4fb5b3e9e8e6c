"""Compares what the analysis claims of a program with what happens when the program runs."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterable, Iterator
from typing import Any

from source_execution import LOOPS, Failed, Iterations, Runnable, find_expressions, shown, unordered
from source_programs import MAIN, Chance, make_program
from tally import Tally

from tfperfkit.syntax.flow.iteration import Iteration
from tfperfkit.syntax.iteration import analyse

#: Orders in which iterations are run: as they are, in reverse, and by two seeds.
ORDERS = (0, 1, 2, 3)
_COLLECTS = ("append", "extend", "put", "+=", "note", "text")


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
    program = Runnable(tree, _find_loop(tree, source))
    try:
        names, iterations = program.note()
        results = shown(names["results"]), unordered(names["results"])
    except Failed:
        tally.failed = 1
        return tally
    tree = ast.parse(source)
    loop = _find_loop(tree, source)
    analysis = analyse(tree, loop)
    tally.programs = 1
    _check_same(source, tree, loop, iterations, analysis, tally)
    _check_order(source, loop, program, results, analysis, tally)
    return tally


def _find_loop(tree: ast.Module, source: str) -> ast.AST:
    lines = source.splitlines()
    head = lines.index(MAIN) + 1 if MAIN in lines else 0
    return next(node for node in ast.walk(tree) if isinstance(node, (*LOOPS, ast.While)) and node.lineno > head)


def _check_same(
    source: str,
    tree: ast.Module,
    loop: ast.AST,
    iterations: Iterations,
    analysis: Iteration | None,
    tally: Tally,
) -> None:
    inside = set(find_expressions(loop))
    expressions = find_expressions(tree)
    for number, places in iterations.seen.items():
        if not any(len(values) > 1 for values in places.values()):
            continue
        node = expressions[number]
        same = all(len(set(values.values())) == 1 for values in places.values())
        claimed = analysis is not None and analysis.varies(node) is False
        if tally.count("same" if node in inside else "same in a function", claimed, same):
            found = next(values for values in places.values() if len(set(values.values())) > 1)
            tally.examples.append(
                f"# same, refuted: {ast.unparse(node)} (line {node.lineno}) {dict(list(found.items())[:3])}\n{source}"
            )


def _check_order(
    source: str, loop: ast.AST, program: Runnable, plain: tuple[str, str], analysis: Iteration | None, tally: Tally
) -> None:
    if isinstance(loop, ast.While):  # no other order can be tried, so nothing may be claimed
        claimed = analysis is not None and not analysis.dependence(draws=True)
        if claimed and tally.count("independent", claimed, False):
            tally.examples.append(f"# independent, refuted: a while loop\n{source}")
        return
    body = "\n".join(ast.unparse(item) for item in (loop.body if isinstance(loop, ast.For) else [loop]))
    collects = not isinstance(loop, ast.For) or any(word in body for word in _COLLECTS) or "shared" in body
    draws_at_random = any(word in source for word in ("ran", "rng", "noisy"))
    for draws in (True, False) if draws_at_random else (True,):
        results = [plain[collects]] if draws else []
        for order in ORDERS[1:] if draws else ORDERS:
            results.append(_run_in_order(program, order, random if draws else Drawing(), collects))
            if results[-1] != results[0]:
                break
        claimed = analysis is not None and not analysis.dependence(draws=draws)
        kind = "independent" if draws else "independent but for draws"
        if tally.count(kind, claimed, len(set(results)) == 1):
            tally.examples.append(f"# {kind}, refuted: {list(dict.fromkeys(results))[:2]}\n{source}")


def _run_in_order(program: Runnable, order: int, drawing: Any, collects: bool) -> str:
    """Run the iterations in an order; return the results as text. ``collects``: whatever the order of elements."""
    _Drawn.iteration = -1
    try:
        results = program.run(order, drawing)["results"]
    except Failed:
        return "failed"
    return unordered(results) if collects else shown(results)


def check_seeds(seeds: Iterable[int]) -> Tally:
    """Check a program for each seed."""
    tally = Tally()
    for each in check_each(seeds):
        tally.add(each)
    return tally


def check_each(seeds: Iterable[int]) -> Iterator[Tally]:
    """Check a program for each seed; yield the counts of each."""
    for seed in seeds:
        yield check(make_program(Chance(random.Random(seed))))
