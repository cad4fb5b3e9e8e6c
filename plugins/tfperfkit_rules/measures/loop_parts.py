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
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import find_nodes, get_last_name, get_method, get_receiver, list_names
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
    syntax, head = evidence.syntax(file), loop.head
    if syntax is None or head is None:
        return False
    variables = set(loop.names)
    if any(_is_part(name) for name in _name_elements(syntax, head.target, head.iter)):
        return True
    if any(_holds_gradients(syntax, name) for name in list_names(head.iter)):
        return True
    inside = [item for part in loop.body for item in find_nodes(part, ast.AST)]
    if any(isinstance(item, ast.Call) and _is_picked(item.func, variables) for item in inside):
        return True
    # A method of the loop variable, and whose it is by the frames below it.
    of_it = {id(item) for item in inside if _is_of(item, variables)}
    for stack in evidence.samples.stacks:
        for frame in stack.frames:
            inside_it = frame.file == file and frame.line in loop.lines
            if (
                inside_it
                and calls(evidence, frame, _PARTS)
                and not of_it.isdisjoint(map(id, _find_running(syntax, frame)))
            ):
                return True
    return False


def _name_elements(syntax: Syntax, target: ast.expr, over: ast.expr) -> Iterator[str]:
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


def _holds_gradients(syntax: Syntax, name: str) -> bool:
    """Whether a name is bound to gradients that a function of the file returns: one for each variable."""
    for node in syntax.find_nodes(ast.Assign):
        target, called = node.targets[0], get_last_name(node.value.func) if isinstance(node.value, ast.Call) else ""
        bound = target.elts if isinstance(target, ast.Tuple) else [target]
        position = next((n for n, item in enumerate(bound) if isinstance(item, ast.Name) and item.id == name), None)
        if position is not None and any(
            _returns_gradient(function, position if isinstance(target, ast.Tuple) else None)
            for function in syntax.functions
            if function.name == called
        ):
            return True
    return False


def _returns_gradient(function: Function, position: int | None) -> bool:
    """Whether a function returns what ``gradient`` of a tape returned, as a whole or at a position of a tuple."""
    asked = [node for node in find_nodes(function.node, ast.Assign) if get_method(node.value) == "gradient"]
    made = {name for node in asked for target in node.targets for name in list_names(target)}
    for value in function.returned:
        if position is not None:
            parts = value.elts if isinstance(value, ast.Tuple) else []
            value = parts[position] if position < len(parts) else None
        if get_method(value) == "gradient" or (isinstance(value, ast.Name) and value.id in made):
            return True
    return False


def _is_picked(called: ast.expr, variables: set[str]) -> bool:
    """Whether an expression is the loop variable itself, or picked by it: ``layer``, ``self.layers[i]``."""
    if isinstance(called, ast.Name):
        return called.id in variables
    return isinstance(called, ast.Subscript) and not variables.isdisjoint(list_names(called.slice))


def _is_of(node: ast.AST, variables: set[str]) -> bool:
    """Whether a call is of a method of the loop variable, or of what it picks; or an operator's operand is."""
    if (owner := get_receiver(node)) is not None:
        owners = [owner]
    elif isinstance(node, ast.BinOp):
        owners = [node.left, node.right]
    elif isinstance(node, ast.AugAssign):
        owners = [node.target]
    else:
        return False
    return any(_is_picked(owner, variables) for owner in owners)


def _find_running(syntax: Syntax, frame: Frame) -> list[ast.expr]:
    return syntax.running(frame.line, frame.span) if frame.span is not None else syntax.at_line(frame.line)
