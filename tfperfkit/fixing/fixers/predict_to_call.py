"""``model.predict(x)`` of a few rows becomes a call of the compiled model."""

from __future__ import annotations

from functools import partial

import libcst as cst

from tfperfkit.fixing.array_values import is_no_dataset
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, dotted

_IGNORED = ("verbose",)
_LITERALS = (cst.List, cst.Dict, cst.Tuple)


def fix(case: Case) -> list[Edit]:
    """Replace the calls if the model is made once in the same file, with one output.

    The compiled call is made right behind it.
    """
    for module, span in case.places():
        calls = module.methods_at(span.line, "predict")
        if len(calls) != 1 or not isinstance(calls[0].func, cst.Attribute):
            continue
        call = calls[0]
        model = call.func.value
        if not isinstance(model, cst.Name):
            raise NoFix("the model has no name of its own there")
        _check(module, call)
        with case.assuming("predict() gets one array, and no dataset"):
            _check_array(module, call)
        made = _find_definition(module, model.value)
        name = f"{model.value}_call"
        if any(isinstance(node, cst.Name) and node.value == name for node in module.nodes):
            raise NoFix(f"{name} is a name of the file already")
        function, tensor = (module.spelled(f"tensorflow.{word}", made) for word in ("function", "convert_to_tensor"))
        # The inputs may well get longer from call to call, as a text that is being made does.
        made_of = f"{module.tree.code_for_node(function)}({model.value}, reduce_retracing=True)"
        compiled = cst.parse_statement(f"{name} = {made_of}")
        return [
            Edit(module.file, made, partial(_followed, by=compiled)),
            Edit(module.file, call, partial(_make_call, name=name, tensor=tensor)),
        ]
    raise NoFix("there is no predict() of a model at its place")


def _check(module: Module, call: cst.Call) -> None:
    names = [item.keyword.value for item in call.args if item.keyword is not None]
    if len(call.args) - len(names) != 1 or call.args[0].keyword is not None or call.args[0].star:
        raise NoFix("predict() is not called with its data alone")
    if set(names) - set(_IGNORED):
        raise NoFix(f"predict() has {next(iter(set(names) - set(_IGNORED)))}: more than a call does")
    if isinstance(call.args[0].value, _LITERALS):
        raise NoFix("predict() gets several inputs, or a list")
    if not any(isinstance(item, (cst.For, cst.While, cst.FunctionDef, cst.Lambda)) for item in module.around(call)):
        raise NoFix("predict() is called once: a larger batch_size is the remedy")


def _check_array(module: Module, call: cst.Call) -> None:
    """Raise NoFix unless the file shows that a call gets an array."""
    if not is_no_dataset(module, call.args[0].value):
        raise NoFix("whether predict() gets an array, and no dataset, is not seen in the file")


def _find_definition(module: Module, name: str) -> cst.SimpleStatementLine:
    """Return the line at the file's top level on which the model gets its name; raises NoFix where that is not
    clear."""
    lines = [
        line
        for line in module.nodes
        if isinstance(line, cst.SimpleStatementLine)
        for node in line.body
        if isinstance(node, cst.Assign) and any(dotted(item.target) == name for item in node.targets)
    ]
    if len(lines) != 1 or lines[0] not in module.tree.body:
        raise NoFix(f"{name} is not made once, at the top level of this file")
    value = next(node.value for node in lines[0].body if isinstance(node, cst.Assign))
    kind = (module.imported(value.func) or "").rpartition(".")[2] if isinstance(value, cst.Call) else ""
    outputs = [item.value for item in value.args][1:2] if isinstance(value, cst.Call) else []
    if kind != "Sequential" and not (kind == "Model" and outputs and not isinstance(outputs[0], _LITERALS)):
        raise NoFix(f"whether {name} has one output is not seen where it is made")
    return lines[0]


def _followed(line: cst.SimpleStatementLine, by: cst.SimpleStatementLine) -> cst.FlattenSentinel:
    return cst.FlattenSentinel([line, by])


def _make_call(call: cst.Call, name: str, tensor: cst.BaseExpression) -> cst.BaseExpression:
    """Return a call of the model with a tensor, read as an array."""
    data = cst.Call(tensor, [cst.Arg(call.args[0].value)])
    made = cst.Call(cst.Name(name), [cst.Arg(data)])
    return cst.Call(cst.Attribute(made, cst.Name("numpy")), lpar=call.lpar, rpar=call.rpar)


FIXER = Fixer(
    "calls the compiled model",
    fix,
    "results may differ by rounding; each new number of rows is one trace",
    keeps="mathematics",
)
