"""Whether a loop goes over the parts of a program (layers, variables, optimizers) rather than over data.

Each turn over data runs the same operations, so all turns can be one operation on a batch. A turn over layers runs
another layer each time. Told by what the loop variable is: something that is called, an object whose methods are
those of Keras or of a variable by the frames below them, or an element of what the syntax tree knows to hold such.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.called import UPDATE, Api, calls
from tfperfkit_rules.measures.source_text import Loop

_PARTS = Api(
    (
        "keras.src.layers.",
        "keras.src.models.",
        "keras.src.engine.",
        "keras.src.optimizers.",
        "keras.src.metrics.",
        "keras.src.losses.",
        "keras.src.callbacks.",
        "keras.src.backend.common.variables",
        "keras.src.backend.tensorflow.core",
        "keras.src.backend.tensorflow.optimizer",
        "tensorflow.python.ops.resource_variable_ops",
        "tensorflow.python.ops.variables",
    ),
    methods=UPDATE.methods | {"assign", "assign_add", "assign_sub", "update_state", "reset_state"},
)
_CLASSES = (
    "keras.layers.",
    "keras.Model",
    "keras.Sequential",
    "keras.models.",
    "keras.applications.",
    "keras.optimizers.",
    "keras.metrics.",
    "keras.losses.",
    "keras.callbacks.",
    "keras.Variable",
    "tensorflow.Variable",
    "tensorflow.Module",
    "tensorflow.optimizers.",
)
_OF_LIBRARY = ("keras.", "tensorflow.")
_HELD = (".weights[]", ".variables[]", ".layers[]", ".metrics[]", ".losses[]")
_TRAINED = (".trainable_variables[]", ".trainable_weights[]", ".non_trainable_variables[]", ".non_trainable_weights[]")


def goes_over_parts(evidence: Evidence, file: str, loop: Loop) -> bool:
    """See the module; False for ``while`` and where the source was not kept."""
    syntax = evidence.syntax(file)
    node = _node(syntax, loop) if syntax is not None else None
    if syntax is None or node is None:
        return False
    target, over, body = node
    variables = {item.id for item in ast.walk(target) if isinstance(item, ast.Name)}
    if any(_is_part(name) for name in _elements(syntax, target, over)):
        return True
    if any(_is_gradients(syntax, item) for item in ast.walk(over) if isinstance(item, ast.Name)):
        return True
    inside = [item for part in body for item in ast.walk(part)]
    if any(isinstance(item, ast.Call) and _picks(item.func, variables) for item in inside):
        return True
    # A method of the loop variable, and whose it is by the frames below it.
    of_it = {id(item) for item in inside if _is_of(item, variables)}
    for stack in evidence.samples.stacks:
        for frame in stack.frames:
            inside_it = frame.file == file and loop.line <= frame.line <= loop.last
            if inside_it and calls(evidence, frame, _PARTS) and not of_it.isdisjoint(map(id, _running(syntax, frame))):
                return True
    return False


def _node(syntax: Syntax, loop: Loop) -> tuple[ast.expr, ast.expr, list[ast.AST]] | None:
    """What the loop binds, what it goes over, and its body."""
    for node in ast.walk(syntax.tree):
        if getattr(node, "lineno", 0) != loop.line or getattr(node, "end_lineno", 0) != loop.last:
            continue
        if isinstance(node, (ast.For, ast.AsyncFor)):
            return node.target, node.iter, [*node.body]
        if isinstance(node, (ast.ListComp, ast.SetComp, ast.GeneratorExp)):
            return node.generators[0].target, node.generators[0].iter, [node.elt]
        if isinstance(node, ast.DictComp):
            return node.generators[0].target, node.generators[0].iter, [node.key, node.value]
    return None


def _elements(syntax: Syntax, target: ast.expr, over: ast.expr) -> Iterator[str]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for position in range(len(target.elts)):
            yield syntax.element(over, position)
    else:
        yield syntax.element(over)


def _is_part(name: str) -> bool:
    if name.startswith(_CLASSES) and name.endswith("()"):
        return True
    known = name.startswith(_OF_LIBRARY)
    return name.endswith(_TRAINED) or (known and (name.endswith(_HELD) or ".gradient()[]" in name))


def _is_gradients(syntax: Syntax, name: ast.Name) -> bool:
    """Whether a name is bound to gradients that a function of the file returns: one for each variable."""
    for node in ast.walk(syntax.tree):
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
            continue
        target, called = node.targets[0], ast.unparse(node.value.func).rpartition(".")[2]
        bound = target.elts if isinstance(target, ast.Tuple) else [target]
        position = next((n for n, item in enumerate(bound) if isinstance(item, ast.Name) and item.id == name.id), None)
        if position is not None and any(
            _gives_gradient(function, position if isinstance(target, ast.Tuple) else None)
            for function in ast.walk(syntax.tree)
            if isinstance(function, ast.FunctionDef) and function.name == called
        ):
            return True
    return False


def _gives_gradient(function: ast.FunctionDef, position: int | None) -> bool:
    """Whether a function returns what ``gradient`` of a tape gave, as a whole or at a position of a tuple."""
    made = {
        item.id
        for node in ast.walk(function)
        if isinstance(node, ast.Assign) and _asks_gradient(node.value)
        for target in node.targets
        for item in ast.walk(target)
        if isinstance(item, ast.Name)
    }
    for node in ast.walk(function):
        value = node.value if isinstance(node, ast.Return) else None
        if position is not None:
            parts = value.elts if isinstance(value, ast.Tuple) else []
            value = parts[position] if position < len(parts) else None
        if value is not None and (_asks_gradient(value) or (isinstance(value, ast.Name) and value.id in made)):
            return True
    return False


def _asks_gradient(value: ast.expr) -> bool:
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == "gradient"


def _picks(called: ast.expr, variables: set[str]) -> bool:
    """Whether what is called is the loop variable itself, or picked by it: ``layer(x)``, ``self.layers[i](x)``."""
    if isinstance(called, ast.Name):
        return called.id in variables
    if isinstance(called, ast.Subscript):
        return any(isinstance(item, ast.Name) and item.id in variables for item in ast.walk(called.slice))
    return False


def _is_of(node: ast.AST, variables: set[str]) -> bool:
    """Whether a call is of a method of the loop variable, or of what it picks; or an operator's operand is."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        owners = [node.func.value]
    elif isinstance(node, ast.BinOp):
        owners = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        owners = [node.target]
    else:
        return False
    return any((isinstance(owner, ast.Name) and owner.id in variables) or _picks(owner, variables) for owner in owners)


def _running(syntax: Syntax, frame: Frame) -> list[ast.expr]:
    return syntax.running(frame.line, frame.span) if frame.span is not None else syntax.at_line(frame.line)
