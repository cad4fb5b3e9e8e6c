"""The order in which a file does things: whether it changes what it loads while it goes on loading."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import libcst as cst

from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.syntax.effects import find_effect, list_changing

#: Methods that write files, of any object; further modules whose functions move, remove or write them.
_WRITING = frozenset({"save", "save_weights", "export", "to_csv", "to_parquet", "to_pickle", "to_json", "write",
                      "write_text", "write_bytes", "tofile", "unlink", "rename", "replace_file"})  # fmt: skip
_MODULES = ("shutil.", "os.rename", "os.replace", "os.remove", "os.unlink", "tensorflow.saved_model.save", "numpy.save",
            "tensorflow.io.gfile.", "zipfile.", "tarfile.")  # fmt: skip
#: Made once, they write whenever Keras calls them.
_CALLBACKS = frozenset({"ModelCheckpoint", "BackupAndRestore", "CSVLogger", "CheckpointManager"})
#: They may run a part of a statement several times.
_AGAIN = (cst.Lambda, cst.ListComp, cst.DictComp, cst.SetComp, cst.GeneratorExp)
_READING = frozenset({"r", "rb", "rt"})
#: A method of this name takes, or only reads.
_TAKING = frozenset({"get"})


def writes_file(module: Module, node: cst.CSTNode) -> bool:
    """Return whether a node is a call that writes, moves or removes a file."""
    if not isinstance(node, cst.Call):
        return False
    name = module.imported(node.func) or ""
    if dotted(node.func) in ("open", "io.open", "gzip.open"):
        given = [item.value for item in node.args[1:2] if item.keyword is None or item.keyword.value == "mode"]
        return any(not isinstance(item, cst.SimpleString) or item.raw_value not in _READING for item in given)
    effect = find_effect(name)
    written = effect is not None and "writes" in effect.kinds and name not in ("os.makedirs", "os.mkdir")
    own = not name and method(node) in _WRITING
    return written or own or name.startswith(_MODULES) or name.rpartition(".")[2] in _CALLBACKS


def changes_model(node: cst.CSTNode) -> bool:
    """Return whether a node is a call that trains a model, compiles it or gives it other weights."""
    return isinstance(node, cst.Call) and method(node) in list_changing("variable", "optimizer", "layer")


def find_effect_of(module: Module, value: cst.CSTNode) -> cst.CSTNode | None:
    """Return the first call in an expression that has an effect besides its result; None if there is none."""
    return next((node for node in walk(value) if _is_change(module, node)), None)


def _is_change(module: Module, node: cst.CSTNode) -> bool:
    """Return whether a node is a call that has an effect besides its result."""
    if not isinstance(node, cst.Call):
        return False
    effect = find_effect(module.imported(node.func) or f"builtins.{dotted(node.func)}")
    known = effect is not None and bool(effect.kinds & {"writes", "output", "seeds", "changes"})
    return known or method(node) in list_changing() - _TAKING or writes_file(module, node)


def explain_changed(module: Module, reading: cst.CSTNode, is_change: Callable[[cst.CSTNode], bool], what: str) -> str:
    """Return why what some code reads may change between two runs of that code; "" if all changes of the file come
    before its first run, or after its last. ``what``: in a message."""
    changes = {node for node in module.nodes if is_change(node)}
    home = next((node for node in module.around(reading) if isinstance(node, cst.FunctionDef)), None)
    if home is None:
        inside = next((node for node in module.around(reading) if isinstance(node, (cst.For, cst.While))), None)
        found = changes & set(_reach(module, inside)) if inside is not None else set()
        return f"line {module.line(min(found, key=module.line))} changes {what} between" if found else ""
    if not changes:
        return ""
    hidden = [node for node in changes if _is_hidden(module, node)]
    if hidden:
        return f"when line {module.line(hidden[0])} changes {what} is not seen"
    body: Sequence[Any] = list(module.tree.body)
    reached = False
    while True:
        touch = [set(_reach(module, item)) for item in body]
        reads = [index for index, nodes in enumerate(touch) if _is_reached(module, home, reading, nodes)]
        writes = [index for index, nodes in enumerate(touch) if nodes & changes]
        reached = reached or bool(reads)
        if not reached:
            return "its function is called from another file"
        between = [index for index in writes if reads and reads[0] <= index <= reads[-1]]
        if not between:
            return ""
        if between != [reads[0]] or len(reads) != 1:
            return f"line {module.line(body[between[0]])} changes {what} between"
        below = _inside(module, body[between[0]])
        if below is None:
            return f"line {module.line(body[between[0]])} changes {what} again and again"
        body = below


def _is_hidden(module: Module, node: cst.CSTNode) -> bool:
    """Return whether the function around a node is called by nobody in the file: Keras may call it at any time."""
    function = next((item for item in module.around(node) if isinstance(item, cst.FunctionDef)), None)
    return function is not None and not _is_called(module, function)


def _is_called(module: Module, function: cst.FunctionDef) -> bool:
    name = function.name.value
    if name == "__init__":
        return True
    return any((method(call) or dotted(call.func)) == name for call in module.calls)


def _is_reached(module: Module, home: cst.FunctionDef, reading: cst.CSTNode, nodes: set[cst.CSTNode]) -> bool:
    """Return whether code reaches the reading, or an object that may reach it later.

    Python or Keras calls a method that nobody in the file calls, such as ``__getitem__``: from its making on.
    """
    if reading in nodes:
        return True
    for function in [home, *_list_callers(module, home)]:
        owner = next((node for node in module.around(function) if isinstance(node, cst.ClassDef)), None)
        made = owner.name.value if owner is not None and not _is_called(module, function) else ""
        if made and any(isinstance(node, cst.Name) and node.value == made for node in nodes):
            return True
    return False


def _list_callers(module: Module, function: cst.FunctionDef) -> Iterator[cst.FunctionDef]:
    """Yield the functions of the file that call a function, directly or not."""
    known, pending = {function}, [function]
    while pending:
        name = pending.pop().name.value
        for call in module.calls:
            around = next((node for node in module.around(call) if isinstance(node, cst.FunctionDef)), None)
            if (method(call) or dotted(call.func)) == name and around is not None and around not in known:
                known.add(around)
                pending.append(around)
                yield around


def _reach(module: Module, code: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Yield the nodes that run with a piece of code: its own, and those of functions and classes of the file whose name
    it uses. The body of a definition does not run where it stands, and a table of functions runs none."""
    own: dict[str, list[Any]] = {}
    tables = dict(_list_tables(module))
    keyed = {name for name, value in tables.items() if _has_text_keys(value)}
    for node in module.nodes:
        if isinstance(node, cst.FunctionDef):
            own.setdefault(node.name.value, []).append(node.body)
        elif isinstance(node, cst.ClassDef):
            inits = [item for item in node.body.body if isinstance(item, cst.FunctionDef)]
            own.setdefault(node.name.value, []).extend(
                item.body for item in inits if item.name.value in ("__init__", "__post_init__")
            )
            own[node.name.value] += [item.value for item in node.bases]
    pending, seen = [code], {code}
    while pending:
        at = pending.pop()
        if isinstance(at, (cst.FunctionDef, cst.ClassDef)) or (at is code and _is_table(code, tables)):
            continue
        yield at
        more = list(own.get(at.value, ())) if isinstance(at, cst.Name) else []
        if isinstance(at, cst.Name) and at.value in tables:
            above = next(module.around(at), None)
            if at.value not in keyed or not isinstance(above, (cst.For, cst.CompFor, cst.ComparisonTarget)):
                more.append(tables[at.value])
        for child in [*at.children, *more]:
            if child not in seen:
                seen.add(child)
                pending.append(child)


def _list_tables(module: Module) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield the names of the file that hold something which no call makes: ``MODELS = {"small": Small}``."""
    for line in module.tree.body:
        only = line.body[0] if isinstance(line, cst.SimpleStatementLine) and len(line.body) == 1 else None
        if isinstance(only, cst.Assign) and not any(isinstance(node, cst.Call) for node in walk(only.value)):
            for item in only.targets:
                if isinstance(item.target, cst.Name):
                    yield item.target.value, only.value


def _has_text_keys(value: cst.BaseExpression) -> bool:
    return isinstance(value, cst.Dict) and all(
        isinstance(item, cst.DictElement) and isinstance(item.key, cst.SimpleString) for item in value.elements
    )


def _is_table(statement: cst.CSTNode, tables: dict[str, cst.BaseExpression]) -> bool:
    only = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return isinstance(only, cst.Assign) and only.value in tables.values()


def _inside(module: Module, statement: Any) -> Sequence[Any] | None:
    """Return the statements that a statement runs once, in their order; None if it runs them in a loop, or is a call of
    no one function."""
    if isinstance(statement, cst.With):
        return list(statement.body.body)
    if isinstance(statement, cst.Try):
        last = statement.finalbody.body.body if statement.finalbody is not None else ()
        return [*statement.body.body, *statement.handlers, *last]
    if isinstance(statement, cst.If) and statement.orelse is None:
        return list(statement.body.body)
    if not isinstance(statement, cst.SimpleStatementLine) or any(isinstance(node, _AGAIN) for node in walk(statement)):
        return None
    functions = {node.name.value: node for node in module.tree.body if isinstance(node, cst.FunctionDef)}
    called = [
        functions[node.value] for node in walk(statement) if isinstance(node, cst.Name) and node.value in functions
    ]
    return list(called[0].body.body) if len(called) == 1 else None
