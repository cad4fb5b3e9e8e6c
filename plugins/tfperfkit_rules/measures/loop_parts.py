"""Decide whether a loop goes over the parts of a program (layers, variables, optimizers) rather than over data.

Iterations over data run the same operations, so they can be one operation on a batch. Iterations over layers each run
another layer. The loop variable decides: it is called, or its methods are those of Keras or of a variable by the frames
below them, or the source shows that it is an element of a list of such objects.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.loop import Loop
from tfperfkit.syntax.module import Syntax, get_file
from tfperfkit_rules.measures.called import UPDATE, Api, is_calling

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
    """Return whether a loop goes over parts of a program; False for ``while``."""
    target, over = loop.target, loop.iterable
    if target is None or over is None:
        return False
    variables = set(loop.targets)
    if any(_is_part(name) for name in _name_elements(target, over)):
        return True
    if any(_holds_gradients(get_file(loop), name) for name in over.names):
        return True
    inside = loop.body_parts
    if any(isinstance(item, Call) and _is_picked(item.function, variables) for item in inside):
        return True
    # A method of the loop variable, and whose it is by the frames below it.
    of_it = {item for item in inside if any(_is_picked(owner, variables) for owner in _list_owners(item))}
    return any(
        is_calling(evidence, frame, _PARTS) and not of_it.isdisjoint(_find_running(get_file(loop), frame))
        for stack in evidence.samples.stacks
        for frame in stack.frames
        if frame.file == file and frame.line in loop.lines
    )


def _name_elements(target: Expression, over: Expression) -> Iterator[str]:
    if target.kind in ("tuple", "list"):
        yield from (over.name_element(position) for position in range(len(target.items)))
    else:
        yield over.name_element()


def _is_part(name: str) -> bool:
    if name.startswith(_CLASSES) and name.endswith("()"):
        return True
    known = name.startswith(_OF_LIBRARY)
    return name.endswith(_TRAINED) or (known and (name.endswith(_HELD) or ".gradient()[]" in name))


def _holds_gradients(syntax: Syntax, name: str) -> bool:
    """Whether a name is bound to gradients that a function of the file returns: one for each variable."""
    for item in syntax.assignments:
        target = item.targets[0]
        bound = target.items if target.kind == "tuple" else [target]
        position = next((n for n, each in enumerate(bound) if each.text == name), None)
        if isinstance(item.value, Call) and position is not None and not item.operator:
            called = item.value.function.last_name
            place = position if target.kind == "tuple" else None
            if any(_returns_gradient(each, place) for each in syntax.functions if each.name == called):
                return True
    return False


def _returns_gradient(function: Function, position: int | None) -> bool:
    """Whether a function returns what ``gradient`` of a tape returned, as a whole or at a position of a tuple."""
    asked = (item.targets for item in function.assignments if _asks_for_gradient(item.value))
    made = {name for targets in asked for target in targets for name in target.names}
    for value in function.returned:
        if position is not None:
            parts = value.items if value is not None and value.kind == "tuple" else []
            value = parts[position] if position < len(parts) else None
        if value is not None and (_asks_for_gradient(value) or (value.kind == "name" and value.text in made)):
            return True
    return False


def _asks_for_gradient(value: Expression) -> bool:
    return isinstance(value, Call) and value.method == "gradient"


def _is_picked(called: Expression, variables: set[str]) -> bool:
    """Whether an expression is the loop variable itself, or picked by it: ``layer``, ``self.layers[i]``."""
    if called.kind == "name":
        return called.text in variables
    return called.index is not None and not variables.isdisjoint(called.index.names)


def _list_owners(node: Expression) -> list[Expression]:
    """List the objects that a call of a method, or an operator, works on."""
    if isinstance(node, Call):
        return [node.receiver] if node.receiver is not None else []
    return node.operands if len(node.operands) == 2 else []


def _find_running(syntax: Syntax, frame: Frame) -> list[Expression]:
    if frame.span is None:
        return syntax.find_line_expressions(frame.line)
    return syntax.find_running(frame.line, frame.span)
