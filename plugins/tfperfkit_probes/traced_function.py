"""Which source function a trace belongs to: through the wrappers that TensorFlow, Keras and tf.data put around it."""

from __future__ import annotations

import dataclasses
import inspect
import zlib
from types import CodeType
from typing import Any

from tfperfkit.instruments.stacks import call_site
from tfperfkit_probes.function_records import Owner


@dataclasses.dataclass(frozen=True)
class Definition:
    """The place of a traced function in the source, and its owner."""

    function: str
    qualname: str
    file: str
    line: int  # as Python counts it: of the first decorator, if there is one
    code: str
    owner: Owner
    instance_of: str = ""
    nested: bool = False
    #: Names of the positional parameters, where TensorFlow only sees ``*args`` of a wrapper around it.
    parameters: tuple[str, ...] = ()


def definition(python_function: Any, name: str = "") -> Definition:
    """Describe the function behind what TensorFlow was given to trace. ``name`` is used when it has none."""
    function, instance_of = _unwrap(python_function)
    owner = _owner(_file(function))
    wrapped = False
    if owner in ("tensorflow", "tf.data"):
        inner = _person_function(function)
        if inner is not None:
            function, bound = _unwrap(inner)
            instance_of = instance_of or bound
            wrapped = owner == "tensorflow"
            owner = owner if owner == "tf.data" else _owner(_file(function))
    code = getattr(function, "__code__", None)
    if not isinstance(code, CodeType):
        return Definition(name or type(function).__name__, "", "", 0, "", owner, instance_of)
    short = getattr(function, "__name__", code.co_name)
    qualname = _own_name(getattr(function, "__qualname__", short))
    place = call_site.original_place(code.co_filename, code.co_firstlineno, short)
    file, line = (place.file, place.line) if place else (code.co_filename, code.co_firstlineno)
    mark = f"{zlib.crc32(code.co_code + repr(code.co_names).encode()):x}"
    if instance_of == "NoneType":  # the instance is gone already; its class still has a name
        instance_of = qualname.rpartition(".")[0].rpartition(".")[2] or "instance"
    parameters = code.co_varnames[: code.co_argcount] if wrapped else ()
    return Definition(
        short.removeprefix("tf__"), qualname, file, line, mark, owner, instance_of, "<locals>" in qualname, parameters
    )


def _own_name(qualname: str) -> str:
    """``outer_factory.<locals>.tf__outer.<locals>.inner``, as AutoGraph's copy calls it: ``outer.<locals>.inner``."""
    parts = qualname.split(".<locals>.")
    if any(part.startswith("tf__") for part in parts):
        parts = [part.removeprefix("tf__") for part in parts if not part.endswith("_factory")]
    return ".<locals>.".join(parts)


def _unwrap(function: Any) -> tuple[Any, str]:
    """The plain function, and the class of the instance that it is bound to."""
    instance_of = ""
    for _ in range(24):
        if hasattr(function, "python_function"):  # a tf.function
            function = function.python_function
        elif hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        elif hasattr(function, "func") and hasattr(function, "keywords"):  # functools.partial
            function = function.func
        elif hasattr(function, "__func__"):
            instance_of = instance_of or _class_of(function.__self__)
            function = function.__func__
        else:
            method = None if hasattr(function, "__code__") else _method(type(function))
            if method is None:
                break
            instance_of, function = instance_of or type(function).__name__, method
    return function, instance_of


def _method(kind: Any) -> Any:
    """Return the function that a call of a callable object runs: its ``__call__``; of a Keras layer or model its
    ``call``, which Keras' own ``__call__`` leads to. None where that is no Python function."""
    called = kind.__call__
    if hasattr(called, "__code__") and _owner(_file(inspect.unwrap(called))) == "keras":
        called = getattr(kind, "call", called)
    return called if hasattr(called, "__code__") else None


def _class_of(instance: Any) -> str:
    if type(instance).__name__ == "TfMethodTarget":
        instance = instance.weakrefself_target__()
    return type(instance).__name__


def _file(function: Any) -> str:
    return str(getattr(getattr(function, "__code__", None), "co_filename", ""))


def _person_function(function: Any) -> Any:
    """Return the function that a wrapper inside TensorFlow wraps: a map function of tf.data, a function given to
    ``strategy.run``.
    """
    cells = _closure(function)
    if "wrapper_helper" in cells:
        return getattr(_closure(cells["wrapper_helper"]).get("self"), "_func", None)
    if "strategy" in cells and "fn" in cells:
        return cells["fn"]
    return None


def _closure(function: Any) -> dict[str, Any]:
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    found = {}
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        try:
            found[name] = cell.cell_contents
        except ValueError:  # not filled yet
            continue
    return found


def _owner(file: str) -> Owner:
    place = file.replace("\\", "/")
    for name in ("keras", "tf_keras"):
        root = call_site.package_root(name)
        if root and file.startswith(root):
            return "keras"
    root = call_site.package_root("tensorflow")
    if root and file.startswith(root):
        return "tf.data" if "/tensorflow/python/data/" in place else "tensorflow"
    return "user" if file else "tensorflow"
