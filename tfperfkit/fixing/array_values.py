"""Values that are arrays or tensors as far as the source shows: a dataset or an unknown object is none."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.fixing.names import gives, plain_names
from tfperfkit.syntax.effects import find_effect

#: Modules of TensorFlow whose functions may return datasets, models or other objects.
_OTHER = ("tensorflow.data.", "tensorflow.keras.", "tensorflow.saved_model.", "tensorflow.io.gfile.")
#: Libraries that hand no dataset to a program which does not ask for one; and words of programs that do.
_LIBRARIES = frozenset({"numpy", "scipy", "tensorflow", "keras", "tf_keras", "pandas", "matplotlib", "sklearn", "gym",
                        "gymnasium"})  # fmt: skip
_ASKING = ("dataset", "pydataset", "sequence", "generator", "tf.data", "tfrecord")
#: Functions of Keras that return arrays, by their last names.
_OF_KERAS = frozenset({"pad_sequences", "img_to_array", "to_categorical"})
#: Methods of arrays and tensors that return one; these and further attributes that a dataset does not have.
_MADE = frozenset({"reshape", "astype", "numpy", "ravel", "flatten", "transpose", "squeeze", "toarray", "to_numpy"})
_OF_ARRAYS = _MADE | {"shape", "dtype", "ndim", "T", "tolist"}
#: The ends of annotations of arrays and tensors.
_ANNOTATIONS = frozenset({"ndarray", "NDArray", "ArrayLike", "Tensor", "EagerTensor"})


def is_no_dataset(module: Module, value: cst.BaseExpression) -> bool:
    """Return whether a value is an array, or there is no dataset in the program: the file imports known libraries
    alone, has no word for a dataset, and calls the functions around the value itself."""
    if is_array(module, value):
        return True
    text = module.tree.code.lower()
    if any(word in text for word in _ASKING) or any(isinstance(node, cst.Yield) for node in module.nodes):
        return False
    imported = {
        name.partition(".")[0]
        for node in module.nodes
        for name in _list_imported(node)
    }  # fmt: skip
    around = [node for node in module.around(value) if isinstance(node, cst.FunctionDef)]
    called = {(method(call) or dotted(call.func)) for call in module.calls}
    return imported <= _LIBRARIES | sys.stdlib_module_names and all(node.name.value in called for node in around)


def _list_imported(node: cst.CSTNode) -> Iterator[str]:
    """Yield the modules that a statement imports; "." for one of the user's package."""
    if isinstance(node, cst.Import):
        yield from (item.evaluated_name for item in node.names)
    elif isinstance(node, cst.ImportFrom):
        yield "." if node.relative else dotted(node.module or cst.Name("")) or ""


def is_array(module: Module, value: cst.BaseExpression, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether an expression is proven to be an array or a tensor, or a list with nothing else.

    A slice is one: a dataset has none. A name is one if each value that the file gives it is, or if the function around
    it uses it as an array; a parameter also by its annotation, or by the arguments of all calls in the file.
    """
    if isinstance(value, (cst.BinaryOperation, cst.Integer, cst.Float)):
        return True
    if isinstance(value, cst.Subscript):
        return _is_slice(value) or is_array(module, value.value, seen)
    if isinstance(value, cst.ListComp):
        return is_array(module, value.elt, seen)
    if isinstance(value, (cst.List, cst.Tuple)):
        return all(is_array(module, item.value, seen) for item in value.elements)
    if isinstance(value, cst.Dict):
        return all(isinstance(item, cst.DictElement) and is_array(module, item.value, seen) for item in value.elements)
    if isinstance(value, cst.IfExp):
        return is_array(module, value.body, seen) and is_array(module, value.orelse, seen)
    if isinstance(value, cst.Call):
        return _is_made(module, value, seen)
    if isinstance(value, cst.Attribute):
        return value.attr.value in ("T", "values") or _is_used(module, value) or _is_set(module, value, seen)
    if not isinstance(value, cst.Name):
        return False
    return _is_used(module, value) or _is_bound(module, value, seen)


def _is_made(module: Module, call: cst.Call, seen: frozenset[str]) -> bool:
    """Return whether a call returns an array: of NumPy or TensorFlow, of a method of arrays, or of a function of the
    file all of whose results are."""
    name = module.imported(call.func)
    if name is not None:
        effect = find_effect(name)
        if effect is not None and effect.result in ("ndarray", "tensor"):
            return True
        if name.startswith(("tensorflow.keras.", "keras.")):
            return name.rpartition(".")[2] in _OF_KERAS
        return name.startswith("numpy.") or (name.startswith("tensorflow.") and not name.startswith(_OTHER))
    if method(call) in _MADE:
        return True
    words = (dotted(call.func) or "").removeprefix("self.")
    if "." in words or f"{words}()" in seen:
        return False
    functions = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == words]
    returns = [
        node.value for node in functions for node in walk(node.body) if isinstance(node, cst.Return) and node.value
    ]
    inside = seen | {f"{words}()"}
    return len(functions) == 1 and bool(returns) and all(is_array(module, item, inside) for item in returns)


def _scope(module: Module, node: cst.CSTNode) -> cst.CSTNode:
    return next((item for item in module.around(node) if isinstance(item, cst.FunctionDef)), module.tree)


def _is_used(module: Module, value: cst.BaseExpression) -> bool:
    """Return whether the function around a value uses it as only an array can be used."""
    text = dotted(value)
    for node in walk(_scope(module, value)) if text else ():
        if isinstance(node, cst.Attribute) and node.attr.value in _OF_ARRAYS and dotted(node.value) == text:
            return True
        if isinstance(node, cst.Subscript) and dotted(node.value) == text and _is_slice(node):
            return True
    return False


def _is_slice(node: cst.Subscript) -> bool:
    """Return whether a subscript has a slice, a new axis or several parts: ``x[i : i + 1]``, ``x[None]``."""
    indexes = [item.slice for item in node.slice]
    return len(indexes) > 1 or isinstance(indexes[0], cst.Slice) or (
        isinstance(indexes[0], cst.Index) and (dotted(indexes[0].value) or "").rpartition(".")[2] in ("None", "newaxis")
    )  # fmt: skip


def _is_set(module: Module, attribute: cst.Attribute, seen: frozenset[str]) -> bool:
    """Return whether all values that the file gives an attribute by this spelling are arrays."""
    text = dotted(attribute)
    if text is None or text in seen:
        return False
    assigned = [
        (node.value, item.target) for node in module.nodes if isinstance(node, cst.Assign) for item in node.targets
    ]
    found = [value for value, target in assigned if dotted(target) == text]
    parts = [at for _, target in assigned if isinstance(target, cst.Tuple) for at in walk(target)]
    if any(dotted(at) == text for at in parts):
        return False
    return bool(found) and all(is_array(module, value, seen | {text}) for value in found)


def _is_bound(module: Module, name: cst.Name, seen: frozenset[str]) -> bool:
    """Return whether all that gives a name its value in the function around it, or in the file, gives an array."""
    if name.value in seen:
        return False
    inside = seen | {name.value}
    for scope in dict.fromkeys((_scope(module, name), module.tree)):
        found = list(_list_values(module, scope, name.value))
        if found:
            return all(item is not None and is_array(module, item, inside) for item in found)
        if isinstance(scope, cst.FunctionDef) and name.value in _list_parameters(scope):
            return _is_given(module, scope, name.value, inside)
    return False


def _list_values(module: Module, scope: cst.CSTNode, name: str) -> Iterator[cst.BaseExpression | None]:
    """Yield what a function, or the file outside of functions, gives a name; None for a value that is not seen."""
    for node in walk(scope):
        if _scope(module, node) is not scope or isinstance(node, cst.FunctionDef):
            continue
        if isinstance(node, cst.Assign):
            for target in (item.target for item in node.targets):
                if name in _names(target):
                    yield node.value if isinstance(target, cst.Name) else None
        elif isinstance(node, (cst.For, cst.CompFor)) and name in _names(node.target):
            yield _find_iterated(node.target, node.iter, name)
        elif name in gives(node) and not isinstance(node, cst.AssignTarget):
            yield None


def _names(target: cst.CSTNode) -> set[str]:
    return {at.value for at in plain_names(target)}


def _find_iterated(target: cst.CSTNode, over: cst.BaseExpression, name: str) -> cst.BaseExpression | None:
    """Return the values that a loop gives a name one after another: ``x`` for ``row`` in ``enumerate(x)``."""
    if isinstance(target, cst.Name):
        return None if isinstance(over, cst.Dict) else over
    if not isinstance(target, cst.Tuple) or not isinstance(over, cst.Call) or not isinstance(over.func, cst.Name):
        return None
    given = [item.value for item in over.args]
    through = {"zip": given, "enumerate": [cst.Integer("0"), *given[:1]]}.get(over.func.value, [])
    pairs = zip(target.elements, through, strict=False)
    return next((_find_iterated(to.value, value, name) for to, value in pairs if name in _names(to.value)), None)


def _list_parameters(function: cst.FunctionDef) -> dict[str, cst.Param]:
    parameters = function.params
    every = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    return {item.name.value: item for item in every}


def _is_given(module: Module, function: cst.FunctionDef, name: str, seen: frozenset[str]) -> bool:
    """Return whether a parameter is annotated as an array, or each call of the function in the file gives it one."""
    parameters = _list_parameters(function)
    annotation = parameters[name].annotation
    if annotation is not None:
        words = module.tree.code_for_node(annotation.annotation).strip("\"' ")
        return words.partition("[")[0].rpartition(".")[2] in _ANNOTATIONS
    given = list(find_arguments(module, function.name.value, name, list(parameters).index(name)))
    return bool(given) and all(is_array(module, item, seen) for item in given)


def find_arguments(module: Module, function: str, name: str, position: int) -> Iterator[cst.BaseExpression]:
    """Yield what calls of a function or method pass for one parameter. A method's first parameter is no argument."""
    for call in module.calls:
        spelled = dotted(call.func) or ""
        if spelled.split(".")[-1] == function:
            place = position - ("." in spelled)
            positional = [item.value for item in call.args if item.keyword is None]
            yield from positional[max(place, 0) : position + 1]
            yield from (item.value for item in call.args if item.keyword is not None and item.keyword.value == name)
