"""Do the tests of central modules notice a changed line? Mutants by Cosmic Ray's operators, a sample of each module.

    pip install cosmic-ray
    python -m benchmarks.mutants [--each 40] [--seed 1] [MODULE ...]

One process imports the tests and runs them once. Each mutant is a fork of this process with the code of one function
replaced, so a mutant costs no more than its tests. Mutants outside of functions are left out. A mutant that is not
noticed is printed with its line.
"""

from __future__ import annotations

import argparse
import importlib
import os
import random
import signal
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
UNIT = "tests/unit"
#: The unit tests of each module.
TESTS = {
    "tfperfkit.pricing.spread": (f"{UNIT}/pricing/test_spread.py", f"{UNIT}/pricing/test_price.py"),
    "tfperfkit.ledger.call_tree": (f"{UNIT}/ledger/test_call_tree.py",),
    "tfperfkit.graph.flow": (f"{UNIT}/graph/test_flow.py",),
    "tfperfkit.syntax.flow.statements": (f"{UNIT}/syntax/test_effects.py", f"{UNIT}/syntax/test_iteration.py"),
    "tfperfkit.report.verdict.findings": (f"{UNIT}/report/test_report_verdict.py",),
}
#: A mutant that loops for ever is noticed.
TIMEOUT_S = 120


class Mutant(NamedTuple):
    """A changed source: the operator's name, the number and text of the first line that differs, and the source."""

    operator: str
    line: int
    text: str
    source: str


def mutants(path: Path, seed: int) -> Iterator[Mutant]:
    """Yield every mutant of a source file, in an order of chance."""
    from cosmic_ray.ast import ast_nodes, get_ast
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator, operator_names

    source = path.read_text(encoding="utf-8")
    before, nodes = source.splitlines(), list(ast_nodes(get_ast(source)))
    operators = {name: get_operator(name) for name in sorted(operator_names())}
    places = [
        (name, occurrence)
        for name, operator in operators.items()
        if not operator.arguments()
        for occurrence in range(sum(len(list(operator().mutation_positions(node))) for node in nodes))
    ]
    random.Random(seed).shuffle(places)
    for name, occurrence in places:
        after = mutate_code(source, operators[name](), occurrence)
        if after is not None:
            lines = after.splitlines()
            number = next((n for n, (old, new) in enumerate(zip(before, lines, strict=False)) if old != new), 0)
            yield Mutant(name, number + 1, lines[number].strip(), after)


def functions(code: types.CodeType, prefix: str = "") -> Iterator[tuple[str, types.CodeType]]:
    """Yield the functions that a module's code defines, by qualified name."""
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant.co_qualname, constant
            if "<locals>" not in constant.co_qualname:
                yield from functions(constant)


def install(module: types.ModuleType, source: str) -> bool:
    """Replace the code of the module's functions by that of the source. Tell whether any function changed."""
    path = str(module.__file__)
    changed = False
    for name, code in functions(compile(source, path, "exec")):
        found: object = module
        for part in name.split("."):
            found = vars(found).get(part) if found is not None and hasattr(found, "__dict__") else None
        found = getattr(found, "fget", None) or getattr(found, "func", None) or found
        function = getattr(found, "__func__", found)
        function = getattr(function, "__wrapped__", function)
        if isinstance(function, types.FunctionType) and function.__code__.co_freevars == code.co_freevars:
            old = function.__code__
            changed |= (old.co_code, old.co_consts, old.co_names) != (code.co_code, code.co_consts, code.co_names)
            function.__code__ = code
    return changed


def is_noticed(module: types.ModuleType, mutant: Mutant, tests: tuple[str, ...]) -> bool | None:
    """Run the tests on a mutant in a fork. None if the mutant changes no function."""
    pid = os.fork()
    if pid == 0:
        signal.alarm(TIMEOUT_S)
        if not install(module, mutant.source):
            os._exit(100)
        os._exit(int(run(tests) != 0))
    status = os.waitpid(pid, 0)[1]
    return None if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 100 else status != 0


def run(tests: tuple[str, ...]) -> int:
    """Run tests in this process, silently. Return pytest's exit status."""
    silent = os.open(os.devnull, os.O_WRONLY)
    kept = os.dup(1), os.dup(2)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    try:
        return int(pytest.main(["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-n0", *tests]))
    finally:
        os.dup2(kept[0], 1)
        os.dup2(kept[1], 2)


def main() -> None:
    """Print the survivors and the score of each module."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=", ".join(TESTS))
    parser.add_argument("--each", type=int, default=40, help="mutants of each module [default: %(default)s]")
    parser.add_argument("--seed", type=int, default=1, help="of the sample [default: %(default)s]")
    given = parser.parse_args()
    os.chdir(ROOT)
    for name in given.modules or TESTS:
        module, tests = importlib.import_module(name), TESTS[name]
        if run(tests):
            sys.exit(f"{name}: its tests fail without a mutant")
        noticed = asked = 0
        for mutant in mutants(Path(str(module.__file__)), given.seed):
            if asked == given.each:
                break
            seen = is_noticed(module, mutant, tests)
            if seen is None:
                continue
            asked += 1
            noticed += seen
            if not seen:
                print(f"  {name}:{mutant.line} {mutant.operator.rpartition('/')[2]}: {mutant.text}", flush=True)
        print(f"{name}: {noticed} of {asked} mutants noticed", flush=True)


if __name__ == "__main__":
    main()
