"""Successive statements of a block that can be traced, moved into a compiled function: a candidate, because the source
does not show which values are tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.step_from_loop import list_counted, make_function, read_outside
from tfperfkit.fixing.module import Module, walk
from tfperfkit.fixing.traceable import obstacle

_LEAVES = (cst.Return, cst.Yield, cst.Await, cst.Global, cst.Nonlocal, cst.Break, cst.Continue, cst.Del, cst.Raise,
           cst.Import, cst.ImportFrom, cst.FunctionDef, cst.ClassDef, cst.Try)  # fmt: skip
#: A call of a compiled function costs about as much as this many operations, so fewer calls gain nothing.
_LEAST_CALLS = 4
_NAMES = ("compiled_part", "compiled_lines")


def compile_stretch(case: Case) -> list[Edit]:
    """At the first place in a block with such statements: those around the place, or the ones with the most calls."""
    reason = NoFix("no statements around its places can be traced")
    for module, span in case.places():
        for block in _find_blocks(module, span.line):
            runs = [run for run in _find_runs(module, block) if _count_calls(run) >= _LEAST_CALLS]
            here = [run for run in runs if any(module.spans(item, span.line) for item in run)]
            best = max(here or runs, key=_count_calls, default=None)
            if best is not None:
                edits = _extract(module, best)
                first, last = module.line(best[0]), module.last_line(best[-1])
                case.assumed.append(f"lines {first} to {last} work on tensors, and a trace of them does the same")
                return edits
    raise reason


def _find_blocks(module: Module, line: int) -> Iterator[Any]:
    """Yield the body of a loop or function that begins on a line, then the blocks around that line."""
    for node in module.nodes:
        if isinstance(node, (cst.For, cst.While, cst.FunctionDef)) and module.line(node) == line:
            yield node.body
    for statement in module.lines_at(line):
        yield from (node for node in module.around(statement) if isinstance(node, cst.IndentedBlock))


def _find_runs(module: Module, block: Any) -> Iterator[list[Any]]:
    """Yield the longest runs of statements of a block that can be traced."""
    run: list[Any] = []
    for item in block.body:
        inside = not isinstance(item, cst.While) and not any(isinstance(node, _LEAVES) for node in walk(item))
        if inside and not obstacle(module, make_function("step", (), [item])):
            run.append(item)
        elif run:
            yield run
            run = []
    if run:
        yield run


def _count_calls(run: Sequence[cst.CSTNode]) -> int:
    operators = (cst.Call, cst.BinaryOperation)
    return sum(isinstance(node, operators) for item in run for node in walk(item))


def _extract(module: Module, run: Sequence[Any]) -> list[Edit]:
    around = list(module.around(run[0]))
    function = next((node for node in around if isinstance(node, cst.FunctionDef)), None)
    home: Any = next((node for node in around if node in module.tree.body), None)
    if home is None:
        raise NoFix("it is in no loop and in no function of the file")
    name = next((item for item in _NAMES if all(node.value != item for node in module.nodes
                                                if isinstance(node, cst.Name))), "")  # fmt: skip
    if not name:
        raise NoFix(f"{' and '.join(_NAMES)} are names of the file already")
    scope = function if function is not None else module.tree
    local = names.parameters(scope) | names.binds([function.body if function is not None else home])
    made, read = names.binds(run), names.incoming(run)
    given = sorted(read & local)
    inside = {node for item in run for node in walk(item)}
    back = sorted(made & (read_outside(scope, inside) | read))
    if not back:
        raise NoFix("nothing uses what these lines compute")
    loops = [node for node in around if isinstance(node, (cst.For, cst.While))]
    counted = list_counted(loops)
    constant = module.tree.code_for_node(module.spelled("tensorflow.constant", run[0]))
    passed = [f"{constant}({item})" if item in counted else item for item in given]
    decorator = cst.parse_expression("f(reduce_retracing=True)").with_changes(
        func=module.spelled("tensorflow.function", home)
    )
    body = [run[0].with_changes(leading_lines=()), *run[1:], cst.parse_statement(f"return {', '.join(back)}")]
    blank = [cst.EmptyLine(indent=False)] * 2
    compiled = make_function(name, given, body).with_changes(
        decorators=[cst.Decorator(decorator)], leading_lines=home.leading_lines
    )
    call = cst.parse_statement(f"{', '.join(back)} = {name}({', '.join(passed)})")
    return [
        Edit(module.file, run[0], lambda node: call.with_changes(leading_lines=node.leading_lines)),
        *(Edit(module.file, item, lambda node: cst.RemoveFromParent()) for item in run[1:]),
        Edit(module.file, home, lambda node: cst.FlattenSentinel([compiled, node.with_changes(leading_lines=blank)])),
    ]


FIXER = Fixer(
    "compiles these lines as a function",
    compile_stretch,
    "Python in these lines runs once for each trace; random numbers and rounding may differ",
    keeps="mathematics",
)
