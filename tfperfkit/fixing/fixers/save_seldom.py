"""Saving at each step, done rarely: ``save_freq="epoch"`` of Keras' callbacks, or an ``if`` on the loop's counter."""

from __future__ import annotations

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
    raise NoFix("no callback with a save_freq in batches stands at its places")


def _by_counter(case: Case) -> list[Edit]:
    turns = every(case.finding.share_of_step or 0.0)
    for module, span in case.places():
        for node in module.lines_at(span.line):
            call = node.body[0].value if len(node.body) == 1 and isinstance(node.body[0], cst.Expr) else None
            if isinstance(call, cst.Call) and method(call) in _SAVES:
                test = cst.parse_expression(f"{_counter(module, node)} % {turns} == 0")
                return [Edit(module.file, node, under_if(test))]
    raise NoFix("no line that only saves stands at its places")


def _counter(module: Module, node: cst.CSTNode) -> str:
    """Of the loop that the statement stands in at each turn; raises NoFix."""
    for around in module.around(node):
        if isinstance(around, cst.If):
            raise NoFix("it stands in an if already")
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
    raise NoFix("no loop that counts its turns stands around it")


BY_EPOCH = Fixer("saves once an epoch", _by_epoch, "a crash loses up to an epoch", keeps="mathematics")
BY_COUNTER = Fixer(
    "saves rarely",
    _by_counter,
    "a crash loses the steps since the last save; save once behind the loop, so that the last weights are kept",
    keeps="mathematics",
)
