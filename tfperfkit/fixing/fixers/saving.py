"""Saving in each step, done seldom (``save_freq="epoch"``, or an ``if`` on the loop's counter), or as bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, under_if
from tfperfkit.fixing.module import Module, method
from tfperfkit.gain import every

_CALLBACKS = tuple(f"keras.callbacks.{name}" for name in ("ModelCheckpoint", "BackupAndRestore"))
_SAVES = ("save", "save_weights", "write")
_COUNTING = ("range", "enumerate")
_EPOCH = cst.SimpleString('"epoch"')


def _by_epoch(case: Case) -> list[Edit]:
    for module, span in case.places():
        for call in module.calls:
            name = (module.imported(call.func) or "").removeprefix("tensorflow.")
            given = argument(call, "save_freq")
            if name not in _CALLBACKS or given is None or not module.spans(call, span.line):
                continue
            if isinstance(given.value, cst.Integer):
                return [Edit(module.file, given, lambda node: node.with_changes(value=_EPOCH))]
    raise NoFix("there is no callback with a save_freq in batches at its places")


def _by_counter(case: Case) -> list[Edit]:
    interval = every(case.finding.share_of_step or 0.0)
    for module, node, call in case.lone_calls():
        if method(call) in _SAVES:
            test = cst.parse_expression(f"{_find_counter(module, node)} % {interval} == 0")
            return [Edit(module.file, node, under_if(test))]
    raise NoFix("there is no line that only saves at its places")


def _find_counter(module: Module, node: cst.CSTNode) -> str:
    """Find the counter of the loop that runs the statement in each iteration. Raises NoFix if there is none."""
    for around in module.around(node):
        if isinstance(around, cst.If):
            raise NoFix("it is in an if already")
        if isinstance(around, cst.FunctionDef):
            break
        if isinstance(around, cst.For):
            over, target = around.iter, around.target
            if (
                not isinstance(over, cst.Call)
                or not isinstance(over.func, cst.Name)
                or over.func.value not in _COUNTING
            ):
                break
            if over.func.value == "enumerate":
                target = target.elements[0].value if isinstance(target, cst.Tuple) else target
            if isinstance(target, cst.Name):
                return str(target.value)
            break
    raise NoFix("no loop around it counts its iterations")


BY_EPOCH = Fixer("saves once an epoch", _by_epoch, "a crash loses up to an epoch", keeps="mathematics")
BY_COUNTER = Fixer(
    "saves rarely",
    _by_counter,
    "a crash loses the steps since the last save; save once behind the loop, so that the last weights are kept",
    keeps="mathematics",
)


_ENDS = (".txt", ".csv", ".dat", ".tsv")


def _write_bytes(case: Case) -> list[Edit]:
    """Replace ``np.savetxt`` by ``np.save`` in calls with a name and an array only: bytes have no format of text."""
    for module, span in case.places():
        for call in module.calls:
            if module.line(call) != span.line or module.imported(call.func) != "numpy.savetxt":
                continue
            if len(call.args) != 2 or any(item.keyword or item.star for item in call.args):
                raise NoFix("np.savetxt gets options for the format of the text")
            edits = [Edit(module.file, call.func, _replace_by(module.spelled("numpy.save", call)))]
            end = _find_ending(call.args[0].value)
            return [*edits, Edit(module.file, end, _rename)] if end is not None else edits
    raise NoFix("there is no np.savetxt at its places")


def _replace_by(other: cst.BaseExpression) -> Callable[[Any], Any]:
    return lambda node: other


def _find_ending(node: cst.CSTNode) -> cst.CSTNode | None:
    """Find the literal at the end of the file's name."""
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, (cst.Add, cst.Modulo)):
        return _find_ending(node.right if isinstance(node.operator, cst.Add) else node.left)
    if isinstance(node, cst.FormattedString):
        return _find_ending(node.parts[-1]) if node.parts else None
    return node if isinstance(node, (cst.SimpleString, cst.FormattedStringText)) else None


def _rename(node: Any) -> Any:
    text: str = node.value
    quote = text[-1] if isinstance(node, cst.SimpleString) else ""
    for end in _ENDS:
        if text.endswith(end + quote):
            return node.with_changes(value=text[: -len(end + quote)] + ".npy" + quote)
    return node


BINARY_ARRAYS = Fixer(
    "writes arrays as bytes",
    _write_bytes,
    "code that reads the files needs np.load instead of np.loadtxt; nobody reads them by eye",
    keeps="mathematics",
)
