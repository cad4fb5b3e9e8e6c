"""Keras' methods for one batch instead of those that make a dataset first: ``predict_on_batch``, ``train_on_batch``."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument, without_argument
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
                edits.setdefault(call, _replace_predict(module, call))
            except NoFix as error:
                refused = error
    if not edits:
        raise refused
    return [edit for each in edits.values() for edit in each]


def _replace_predict(module: Module, call: cst.Call) -> list[Edit]:
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
    return [_rename(module, call, "predict_on_batch"), *_without(module, call, _IGNORED)]


def _train_on_batch(case: Case) -> list[Edit]:
    """Replace a ``fit`` of one batch and one epoch, whose history nobody reads, by ``train_on_batch``."""
    batches = [item.value for item in case.finding.evidence if item.name == _BATCHES]
    for module, _, call in case.lone_calls():
        if method(call) != "fit":
            continue
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
        return [_rename(module, call, "train_on_batch"), *_without(module, call, dropped)]
    raise NoFix("there is no line that only calls fit() at its places")


def _rename(module: Module, call: cst.Call, name: str) -> Edit:
    assert isinstance(call.func, cst.Attribute)
    return Edit(module.file, call.func.attr, lambda node: cst.Name(name))


def _without(module: Module, call: cst.Call, names: frozenset[str] | set[str]) -> Iterator[Edit]:
    given = [item.keyword.value for item in call.args if item.keyword is not None and item.keyword.value in names]
    return (without_argument(module.file, call, name) for name in given)


def _is_dataset(module: Module, data: cst.BaseExpression) -> bool:
    """Return whether data seem to come from ``tf.data`` or a generator, by themselves or by their name."""
    found = [data]
    if isinstance(data, cst.Name):
        found += [
            node.value
            for node in module.nodes
            if isinstance(node, cst.Assign) and any(dotted(item.target) == data.value for item in node.targets)
        ]
    return any(
        method(node) in _OF_DATASETS or (module.imported(node.func) or "").startswith("tensorflow.data.")
        for value in found
        for node in walk(value)
        if isinstance(node, cst.Call)
    )


PREDICT = Fixer(
    "predicts the batch without a dataset of its own",
    _predict_on_batch,
    "all rows are one batch; results may differ by rounding",
    keeps="mathematics",
)
FIT = Fixer(
    "trains on the batch without a dataset of its own",
    _train_on_batch,
    "metrics go on from call to call: fit() begins them again",
    keeps="mathematics",
)
