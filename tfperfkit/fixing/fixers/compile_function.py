"""``@tf.function`` on a function whose operations are called one by one outside of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.fixers.compile_step import compiled
from tfperfkit.fixing.module import Module, dotted, walk

#: What a loop may go over that gives Python's own values: TensorFlow would trace it turn by turn.
_PYTHON = frozenset({"range", "enumerate", "zip", "reversed", "sorted"})
_NUMBERS = frozenset({"int", "float", "len", "round"})


def fix(case: Case) -> list[Edit]:
    """Of the first place, where it is a function."""
    module, span = next(iter(case.places()))
    function = module.function_at(span.line, span.function)
    if function is None:
        raise NoFix("the operations stand in no function of their own: make one of them first")
    for node in walk(function.body):
        if isinstance(node, (cst.For, cst.While)) and _is_pythons(node):
            raise NoFix(
                f"its loop in line {module.line(node)} may be traced turn by turn: loop over tf.range, or work on "
                "whole batches"
            )
    for call in module.calls:
        if (dotted(call.func) or "").removeprefix("self.") == function.name.value:
            number = next((item for given in call.args for item in _numbers(module, call, given.value)), "")
            if number:
                raise NoFix(
                    f"line {module.line(call)} gives it {number}, which may be another Python number at each call, "
                    "and each would be traced: give it a tensor first"
                )
    return compiled(module, function)


def _is_pythons(loop: cst.For | cst.While) -> bool:
    """Whether a loop would be unrolled: over Python's own values, or while a name or comparison holds, which may be a
    tensor's or not."""
    if isinstance(loop, cst.While):
        return True
    return isinstance(loop.iter, (cst.List, cst.Tuple)) or (
        isinstance(loop.iter, cst.Call) and isinstance(loop.iter.func, cst.Name) and loop.iter.func.value in _PYTHON
    )


def _numbers(module: Module, call: cst.Call, given: cst.BaseExpression) -> Iterator[str]:
    """What in an argument is a number of Python's that varies: a name that a loop around the call counts, or that is
    set to a number as it is written and set again, or a conversion."""
    counted = {*_counted(module, call), *_set_again(module, call)}
    for node in walk(given):
        if isinstance(node, cst.Name) and node.value in counted:
            yield node.value
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _NUMBERS:
            yield f"{node.func.value}(...)"


def _counted(module: Module, call: cst.Call) -> Iterator[str]:
    for around in module.around(call):
        if isinstance(around, cst.For) and isinstance(around.iter, cst.Call) and isinstance(around.iter.func, cst.Name):
            over, target = around.iter.func.value, around.target
            if over == "range" and isinstance(target, cst.Name):
                yield target.value
            if over == "enumerate" and isinstance(target, cst.Tuple) and isinstance(target.elements[0].value, cst.Name):
                yield target.elements[0].value.value
        if isinstance(around, (cst.For, cst.While)):
            for node in walk(around.body):
                if isinstance(node, cst.AugAssign) and isinstance(node.target, cst.Name):
                    yield node.target.value


def _set_again(module: Module, call: cst.Call) -> Iterator[str]:
    """The names of the function around the call that begin as a number and become something else: ``t, h = 0.0, 0.1``,
    then ``t = t + h``."""
    scope = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), module.tree)
    bound = [pair for node in walk(scope) if isinstance(node, (cst.Assign, cst.AugAssign)) for pair in _pairs(node)]
    times = Counter(name for name, _ in bound)
    for name, value in bound:
        number = value.expression if isinstance(value, cst.UnaryOperation) else value
        if isinstance(number, (cst.Integer, cst.Float)) and times[name] > 1:
            yield name


def _pairs(node: cst.Assign | cst.AugAssign) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Each name that a statement sets, with what it is set to."""
    targets = [node.target] if isinstance(node, cst.AugAssign) else [item.target for item in node.targets]
    for target in targets:
        if isinstance(target, cst.Name):
            yield target.value, node.value
        elif isinstance(target, (cst.Tuple, cst.List)):
            values = node.value.elements if isinstance(node.value, (cst.Tuple, cst.List)) else ()
            for at, item in enumerate(target.elements):
                if isinstance(item.value, cst.Name):
                    yield item.value.value, values[at].value if at < len(values) else node.value


FIXER = Fixer(
    "compiles the function",
    fix,
    "Python in it runs once for each trace; random numbers and rounding may differ. One batch of all turns, where that "
    "can be, gains more",
    keeps="mathematics",
)
