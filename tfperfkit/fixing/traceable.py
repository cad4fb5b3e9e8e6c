"""Code in a function whose meaning changes when TensorFlow traces the function, as far as the source shows."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.module import Module, dotted, method, walk

_READS = frozenset({"numpy", "item", "tolist"})
_BUILTINS = frozenset({"print", "float", "int", "bool", "open", "input", "next"})
#: Modules whose functions have their effect once, while the function is traced.
_MODULES = frozenset({"numpy", "random", "time", "os", "pandas", "scipy", "cv2", "PIL", "matplotlib"})
#: They make variables, which a traced function may do once only.
_MAKERS = ("tensorflow.Variable", "tensorflow.keras.layers.", "keras.layers.", "tensorflow.keras.optimizers.",
           "keras.optimizers.", "tensorflow.keras.Sequential", "keras.Sequential")  # fmt: skip
_KEEPS = frozenset({"append", "extend", "add", "insert", "popleft", "pop", "write", "writerow"})
_FILES = ("numpy.load", "numpy.save", "numpy.genfromtxt")
_DEEPEST = 20
#: They make generators whose draws a graph does not repeat.
_GENERATORS = ("numpy.random.", "random.Random", "random.SystemRandom")


def obstacle(module: Module, function: cst.FunctionDef, doubts: list[str] | None = None) -> str:
    """Return why a function can't become a tf.function as it is; "" if nothing is seen. Functions of the same file
    that it calls by name, and methods that it calls on ``self``, are looked at, too. ``doubts``: gets reasons that only
    running it can settle, which are otherwise as good as others."""
    own = {node.name.value: node for node in module.nodes if isinstance(node, cst.FunctionDef) and node is not function}
    pending, seen = [function], {function}
    while pending and len(seen) < _DEEPEST:
        at = pending.pop()
        reason = _in_one(module, at, doubts)
        if reason:
            return reason if at is function else f"{reason} (in {at.name.value})"
        for node in walk(at.body):
            called = own.get(_callee(node))
            if called is not None and called not in seen:
                seen.add(called)
                pending.append(called)
    return ""


def find_generators(module: Module) -> set[str]:
    """Return the names and attributes of the file that hold a random generator of NumPy or of Python."""
    return {
        text
        for node in module.nodes
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call)
        and (module.imported(node.value.func) or "").startswith(_GENERATORS)
        for text in (dotted(item.target) for item in node.targets)
        if text
    }  # fmt: skip


def makes_variables(module: Module, code: cst.CSTNode) -> bool:
    """Return whether code makes a variable, a layer or an optimizer."""
    calls = (node for node in walk(code) if isinstance(node, cst.Call))
    return any((module.imported(call.func) or "").startswith(_MAKERS) for call in calls)


def _callee(node: cst.CSTNode) -> str:
    if not isinstance(node, cst.Call):
        return ""
    words = dotted(node.func) or ""
    return words.removeprefix("self.") if "." not in words.removeprefix("self.") else ""


def _in_one(module: Module, function: cst.FunctionDef, doubts: list[str] | None) -> str:
    if function.asynchronous is not None:
        return "an async function can't be compiled"
    local = {item.name.value for item in function.params.params}
    local |= {
        name
        for node in walk(function.body)
        if isinstance(node, cst.AssignTarget)
        for part in walk(node.target)
        if isinstance(part, cst.Name) and (name := part.value)
    }
    for node in walk(function.body):
        reason = explain_refusal(module, node, local)
        if reason and doubts is not None and _is_doubt(module, node):
            doubts.append(f"line {module.line(node)} {reason}")
        elif reason:
            return f"line {module.line(node)} {reason}"
    return ""


def _is_doubt(module: Module, node: cst.CSTNode) -> bool:
    """Return whether a call may compute a constant of the graph: a function of NumPy, of values that are no tensors."""
    name = (module.imported(node.func) or "") if isinstance(node, cst.Call) else ""
    return name.startswith(("numpy.", "scipy.")) and not name.startswith((*_GENERATORS, *_FILES))


def explain_refusal(module: Module, node: cst.CSTNode, local: set[str]) -> str:
    """Return why a node can't be traced; "" if it can."""
    if isinstance(node, (cst.Yield, cst.Await)):
        return "makes it a generator or a coroutine"
    if isinstance(node, (cst.Global, cst.Nonlocal)):
        return "sets a name outside of the function, which would happen once for each trace"
    if isinstance(node, (cst.AugAssign, cst.Assign)):
        targets = [node.target] if isinstance(node, cst.AugAssign) else [item.target for item in node.targets]
        if any(isinstance(item, (cst.Attribute, cst.Subscript)) for item in targets):
            return "keeps something outside of the function, which would happen once for each trace"
    if not isinstance(node, cst.Call):
        return ""
    name = module.imported(node.func) or ""
    if name.partition(".")[0] in _MODULES:
        return f"calls {name}, which would run once for each trace"
    if name.startswith(_MAKERS):
        return f"makes a new {name.rpartition('.')[2]}"
    if method(node) in _READS and not node.args and not name:
        return f"reads a tensor's value with .{method(node)}()"
    if isinstance(node.func, cst.Name) and node.func.value in _BUILTINS:
        return f"calls {node.func.value}(), which needs values that a trace does not have"
    owner = dotted(node.func.value) if isinstance(node.func, cst.Attribute) else None
    if owner is not None and owner in find_generators(module):
        return f"draws from {owner}, which would happen once for each trace"
    if method(node) in _KEEPS and owner is not None and owner.partition(".")[0] not in local and not name:
        return f"changes {owner}, which would happen once for each trace"
    return ""
