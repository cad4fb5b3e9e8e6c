"""Lists and tensors that TensorFlow or protobuf go through element by element become one array first."""

from __future__ import annotations

import builtins
from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix, argument
from tfperfkit.fixing.fixers.step_from_loop import is_tape
from tfperfkit.fixing.module import Module, method, walk

_CONVERSIONS = ("tensorflow.convert_to_tensor", "tensorflow.constant")
#: Fields of ``tf.train.Example`` that hold numbers, with the method that their messages have.
_NUMBERS = ("tensorflow.train.FloatList", "tensorflow.train.Int64List")


def _convert_array(case: Case) -> list[Edit]:
    """Pass an array instead of the list of a function that it collected, or of a comprehension."""
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) not in _CONVERSIONS or not _is_at(module, call, span.line) or not call.args:
                continue
            given = argument(call, "value") or call.args[0]
            dtype = argument(call, "dtype") or (
                call.args[1] if len(call.args) > 1 and not call.args[1].keyword else None
            )
            with case.assuming("the list holds arrays of one shape, or numbers of the dtype"):
                if dtype is None:
                    raise NoFix("the call has no dtype, and an array of Python numbers has another one than their list")
                if not _is_list(module, given.value):
                    raise NoFix("what is converted is not seen to be a list")
            if any(isinstance(item, cst.With) and is_tape(module, item) for item in module.around(call)):
                raise NoFix("a tape is recording, and no gradient goes through an array")
            return [_wrap(module, call, given)]
    raise NoFix("there is no conversion of a list to a tensor at its places")


def _is_list(module: Module, value: cst.BaseExpression) -> bool:
    """Return whether a value is a list of the function around it: a literal, a comprehension, or a name that is bound
    to those alone."""
    if isinstance(value, (cst.List, cst.ListComp)):
        return True
    if not isinstance(value, cst.Name):
        return False
    scope = next((node for node in module.around(value) if isinstance(node, cst.FunctionDef)), module.tree)
    found = [given for name, given in _bindings(scope) if name == value.value]
    return bool(found) and all(isinstance(given, (cst.List, cst.ListComp)) for given in found)


def _bindings(scope: cst.CSTNode) -> Iterator[tuple[str, cst.BaseExpression | None]]:
    """Yield the names that a piece of code binds, with their values; None for a value that is not seen."""
    for node in walk(scope):
        if isinstance(node, cst.Assign):
            for target in (item.target for item in node.targets):
                if isinstance(target, cst.Tuple) and isinstance(node.value, cst.Tuple):
                    pairs = zip(target.elements, node.value.elements, strict=False)
                    yield from ((at.value.value, to.value) for at, to in pairs if isinstance(at.value, cst.Name))
                else:
                    names = [at for at in walk(target) if isinstance(at, cst.Name)]
                    yield from ((at.value, node.value if at is target else None) for at in names)
        elif isinstance(node, (cst.For, cst.CompFor, cst.NamedExpr, cst.AugAssign, cst.AnnAssign)):
            yield from ((at.value, None) for at in walk(node.target) if isinstance(at, cst.Name))
        elif isinstance(node, cst.Param):
            yield node.name.value, None


def _read_array(case: Case) -> list[Edit]:
    """Give ``FloatList`` and ``Int64List`` an array instead of a tensor, which protobuf reads one element at a time."""
    for module, span in case.places():
        for call in module.calls:
            if module.imported(call.func) not in _NUMBERS or not _is_at(module, call, span.line):
                continue
            given = argument(call, "value")
            if given is None or isinstance(given.value, (cst.List, cst.ListComp)):
                raise NoFix("its values are a list already")
            if isinstance(given.value, (cst.GeneratorExp, cst.SetComp, cst.Set)) or _is_builtin(given.value):
                raise NoFix("its values are an iterator or a set, which NumPy does not go through")
            return [_wrap(module, call, given)]
    raise NoFix("there is no FloatList or Int64List at its places")


def _is_builtin(value: cst.BaseExpression) -> bool:
    """Return whether a value is the result of one of Python's own functions: ``map(int, x)``."""
    return isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and hasattr(builtins, value.func.value)


def _is_at(module: Module, call: cst.Call, line: int) -> bool:
    return module.line(call) == line or module.spans(call, line)


def _wrap(module: Module, call: cst.Call, given: cst.Arg) -> Edit:
    """Return the edit that converts an argument to an array. Raises NoFix if it is one, or NumPy is not imported."""
    value = given.value
    if isinstance(value, cst.Call) and (
        method(value) == "numpy" or (module.imported(value.func) or "")[:6] == "numpy."
    ):
        raise NoFix("it is an array already")
    array = module.spelled("numpy.asarray", call)
    return Edit(module.file, given, lambda node: node.with_changes(value=cst.Call(array, [cst.Arg(node.value)])))


LIST = Fixer("converts the list to an array first", _convert_array)
MESSAGE = Fixer("reads the tensor as one array first", _read_array)
