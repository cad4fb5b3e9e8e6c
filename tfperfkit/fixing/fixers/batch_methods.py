"""Keras' methods for one batch instead of those that make a dataset first: ``predict_on_batch``, ``train_on_batch``."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import libcst as cst

from tfperfkit.fixing.array_values import find_arguments, is_no_dataset
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword, without_argument
from tfperfkit.fixing.module import Module, dotted, method, walk

#: Arguments of ``predict`` and ``fit`` that say how, and not what.
_IGNORED = frozenset({"verbose"})
_KEPT = frozenset({"x", "y", "sample_weight", "class_weight"})
#: ``x`` and ``y`` are the only arguments that both ``fit`` and ``train_on_batch`` have in this order.
_POSITIONAL = 2
#: Methods that only datasets have.
_OF_DATASETS = frozenset({"prefetch", "padded_batch", "from_tensor_slices", "from_generator", "interleave", "flat_map"})
#: The measured number of batches of one call, as EAG006 states it.
_BATCHES = "batches per call of fit"


def _predict_on_batch(case: Case) -> list[Edit]:
    """Replace ``predict(x)`` by ``predict_on_batch(x)`` at each place where it gets nothing but arrays or tensors."""
    edits: dict[cst.Call, list[Edit]] = {}
    refused = NoFix("there is no predict() of a model at its place")
    for module, span in case.places():
        for call in module.methods_at(span.line, "predict"):
            try:
                edits.setdefault(call, _replace_predict(case, module, call))
            except NoFix as error:
                refused = error
    if not edits:
        raise refused
    return [edit for each in edits.values() for edit in each]


def _replace_predict(case: Case, module: Module, call: cst.Call) -> list[Edit]:
    given = [item for item in call.args if item.keyword is None or item.keyword.value == "x"]
    if len(given) != 1 or given[0].star:
        raise NoFix("predict() is not called with its data alone")
    others = {item.keyword.value for item in call.args if item.keyword is not None} - _IGNORED - {"x"}
    if others:
        raise NoFix(f"predict() has {min(others)}: more than predict_on_batch() does")
    if not any(isinstance(item, (cst.For, cst.While, cst.FunctionDef, cst.Lambda)) for item in module.around(call)):
        raise NoFix("predict() is called once: a larger batch_size is the remedy")
    if _is_dataset(module, given[0].value):
        raise NoFix("predict() gets a dataset")
    with case.assuming("predict() gets an array, and no dataset"):
        if not is_no_dataset(module, given[0].value):
            raise NoFix("which is not seen in the file")
    return [_rename(module, call, "predict_on_batch"), *_without(module, call, _IGNORED)]


def _train_on_batch(case: Case) -> list[Edit]:
    """Replace a ``fit`` of one batch and one epoch, whose history nobody reads, by ``train_on_batch``."""
    for module, _, call in case.lone_calls():
        if method(call) == "fit":
            return _replace_fit(case, module, call)
    raise NoFix("there is no line that only calls fit() at its places")


def _replace_fit(case: Case, module: Module, call: cst.Call) -> list[Edit]:
    batches = [item.value for item in case.finding.evidence if item.name == _BATCHES]
    if not batches or max(batches) > 1:
        raise NoFix("fit() makes more than one batch of its data, or how many is not known")
    epochs = argument(call, "epochs")
    if epochs is not None and not (isinstance(epochs.value, cst.Integer) and epochs.value.evaluated_value == 1):
        raise NoFix("fit() makes several epochs of its data")
    positional = [item for item in call.args if item.keyword is None]
    named = {item.keyword.value for item in call.args if item.keyword is not None}
    if len(positional) > _POSITIONAL or any(item.star for item in call.args):
        raise NoFix("fit() gets more than its data by position")
    dropped = named & {"epochs", "batch_size", "shuffle", *_IGNORED}
    if named - dropped - _KEPT:
        raise NoFix(f"fit() has {min(named - dropped - _KEPT)}: more than train_on_batch() does")
    data = [item.value for item in positional] + [item.value for item in (argument(call, "x"),) if item]
    if not data or _is_dataset(module, data[0]):
        raise NoFix("fit() gets a dataset")
    if len(data) + ("y" in named) < _POSITIONAL and not is_no_dataset(module, data[0]):
        raise NoFix("whether fit() gets an array, and no dataset, is not seen in the file")
    return [_rename(module, call, "train_on_batch"), *_without(module, call, dropped)]


def _train_with_loss(case: Case) -> list[Edit]:
    """Replace such a ``fit`` whose history is read by ``result.history["loss"][0]`` alone: metrics begin again, as in
    ``fit``, and the call returns what it measured by name."""
    for module, span in case.places():
        for line in module.lines_at(span.line):
            only = line.body[0] if len(line.body) == 1 else None
            target = only.targets[0].target if isinstance(only, cst.Assign) and len(only.targets) == 1 else None
            call = only.value if isinstance(only, cst.Assign) else None
            if not isinstance(target, cst.Name) or not isinstance(call, cst.Call) or method(call) != "fit":
                continue
            reads = list(_find_reads(module, target))
            edits = _replace_fit(case, module, call)
            owner = call.func.value
            code = module.tree.code_for_node(owner)
            reset = cst.parse_statement(f"{code}.reset_metrics()")
            return [
                *edits,
                keyword(module.file, call, "return_dict", cst.Name("True")),
                Edit(module.file, line, partial(_put_before, first=reset)),
                *(Edit(module.file, whole, _name_value(target.value, key)) for whole, key in reads),
            ]
    raise NoFix("there is no line that keeps the history of fit() at its places")


def _put_before(node: Any, first: Any) -> cst.FlattenSentinel:
    return cst.FlattenSentinel(
        [first.with_changes(leading_lines=node.leading_lines), node.with_changes(leading_lines=())]
    )


def _name_value(name: str, key: cst.BaseExpression) -> Callable[[Any], cst.Subscript]:
    return lambda node: cst.Subscript(cst.Name(name), [cst.SubscriptElement(cst.Index(key))])


def _find_reads(module: Module, target: cst.Name) -> Iterator[tuple[cst.Subscript, cst.BaseExpression]]:
    """Yield the uses of a history, ``name.history[key][0]``, each with its key; raises NoFix for any other."""
    for node in module.nodes:
        if not isinstance(node, cst.Name) or node.value != target.value or node is target:
            continue
        around = list(module.around(node))[:3]
        attribute, by_key, by_epoch = [*around, None, None, None][:3]
        key = by_key.slice[0].slice if isinstance(by_key, cst.Subscript) and len(by_key.slice) == 1 else None
        epoch = by_epoch.slice[0].slice if isinstance(by_epoch, cst.Subscript) and len(by_epoch.slice) == 1 else None
        is_first = isinstance(epoch, cst.Index) and module.tree.code_for_node(epoch.value) in ("0", "-1")
        if not isinstance(attribute, cst.Attribute) or attribute.attr.value != "history" or not is_first:
            raise NoFix(f"{target.value} is used for more than its first epoch")
        if not isinstance(key, cst.Index):
            raise NoFix(f"{target.value} is used for more than its first epoch")
        yield by_epoch, key.value


def _rename(module: Module, call: cst.Call, name: str) -> Edit:
    assert isinstance(call.func, cst.Attribute)
    return Edit(module.file, call.func.attr, lambda node: cst.Name(name))


def _without(module: Module, call: cst.Call, names: frozenset[str] | set[str]) -> Iterator[Edit]:
    given = [item.keyword.value for item in call.args if item.keyword is not None and item.keyword.value in names]
    return (without_argument(module.file, call, name) for name in given)


def _is_dataset(module: Module, data: cst.BaseExpression) -> bool:
    """Return whether data seem to come from ``tf.data`` or a generator.

    They do by themselves, by what the file assigns to a name, or by what its calls of a function pass for a parameter.
    """
    return any(
        method(node) in _OF_DATASETS or (module.imported(node.func) or "").startswith("tensorflow.data.")
        for value in _find_values(module, data, set())
        for node in walk(value)
        if isinstance(node, cst.Call)
    )


def _find_values(module: Module, data: cst.BaseExpression, seen: set[str]) -> Iterator[cst.BaseExpression]:
    """Yield an expression and, if it is a name, the expressions that the file gives the name."""
    yield data
    if not isinstance(data, cst.Name) or data.value in seen:
        return
    seen.add(data.value)
    for node in module.nodes:
        if isinstance(node, cst.Assign) and any(dotted(item.target) == data.value for item in node.targets):
            yield from _find_values(module, node.value, seen)
        if isinstance(node, cst.FunctionDef):
            names = [item.name.value for item in (*node.params.posonly_params, *node.params.params)]
            for position, name in enumerate(names):
                if name == data.value:
                    for given in find_arguments(module, node.name.value, name, position):
                        yield from _find_values(module, given, seen)


PREDICT = Fixer(
    "predicts the batch without a dataset of its own",
    _predict_on_batch,
    "all rows are one batch, without a progress bar; results may differ by rounding",
    keeps="mathematics",
)
FIT = Fixer(
    "trains on the batch without a dataset of its own",
    _train_on_batch,
    "metrics go on from call to call: fit() begins them again",
    keeps="mathematics",
)
FIT_LOSS = Fixer("trains on the batch without a dataset of its own", _train_with_loss, keeps="mathematics")
