"""Code that can run once instead of many times: it draws nothing, and its result is not used up by its first use."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.edit import NoFix
from tfperfkit.fixing.module import Module, dotted, find_called_bodies, method, walk
from tfperfkit.fixing.traceable import find_generators
from tfperfkit.syntax.effects import find_effect, list_drawing

#: Modules whose functions draw random numbers.
_RANDOM = ("numpy.random.", "random.", "tensorflow.random.", "secrets.", "uuid.")
#: Functions whose result is an open file, or an iterator, that the table of effects does not have.
_USED_UP = frozenset({"gzip.open", "bz2.open", "h5py.File", "csv.reader", "csv.DictReader", "os.scandir", "glob.iglob"})


def check_repeatable(module: Module, code: cst.CSTNode) -> None:
    """Raise NoFix if code, or a function of the file that it calls, draws random numbers, or asks for the next of
    something."""
    generators = find_generators(module)
    for body in find_called_bodies(module, code):
        for node in walk(body):
            if not isinstance(node, cst.Call):
                continue
            name = _name(module, node)
            effect = find_effect(name)
            kinds = effect.kinds if effect is not None else frozenset()
            owner = dotted(node.func.value) if isinstance(node.func, cst.Attribute) else None
            drawing = not module.imported(node.func) and (owner in generators or method(node) in list_drawing())
            if drawing or name.startswith(_RANDOM) or any(kind.startswith(("draws", "takes")) for kind in kinds):
                raise NoFix(f"line {module.line(node)} draws another value each time")


def check_reusable(
    module: Module, value: cst.BaseExpression, code: cst.CSTNode, known: tuple[cst.CSTNode, ...] = ()
) -> None:
    """Raise NoFix if a value is an open file or an iterator, which can be read only once.

    ``code``: the statements that give the names in the value theirs. ``known``: functions that were looked at.
    """
    functions = [node for node in module.nodes if isinstance(node, cst.FunctionDef)]
    found, seen = [value], set[str]()
    while found:
        at = found.pop()
        if isinstance(at, cst.Name) and at.value in seen:
            continue
        if isinstance(at, cst.Name):
            seen.add(at.value)
            found += [
                node.value
                for node in walk(code)
                if isinstance(node, cst.Assign) and any(dotted(item.target) == at.value for item in node.targets)
            ]  # fmt: skip
            found += [
                node.item
                for node in walk(code)
                if isinstance(node, cst.WithItem) and node.asname is not None and dotted(node.asname.name) == at.value
            ]
        elif isinstance(at, cst.Tuple):
            found += [item.value for item in at.elements]
        elif isinstance(at, cst.Call) and isinstance(at.func, cst.Name):
            function = next((node for node in functions if node.name.value == at.func.value), None)
            for node in walk(function.body) if function is not None and function not in known else ():
                if isinstance(node, cst.Return) and node.value is not None:
                    check_reusable(module, node.value, function, (*known, function))
        name = _name(module, at) if isinstance(at, cst.Call) else ""
        effect = find_effect(name)
        if isinstance(at, cst.GeneratorExp) or name in _USED_UP or (effect and effect.result in ("file", "iterator")):
            raise NoFix("the result is a file or an iterator, which can be read only once")


def _name(module: Module, call: cst.Call) -> str:
    """Return the full name of a function that is called: of an imported one, or of a builtin; "" for others."""
    found = module.imported(call.func)
    if found is None and isinstance(call.func, cst.Name):
        return f"builtins.{call.func.value}"
    return found or ""
