"""EAG016: tensors are made of Python lists, element by element, again and again."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.gain import from_shares, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit.syntax.call import bind_arguments
from tfperfkit.syntax.module import Syntax
from tfperfkit.syntax.nodes import get_last_name, get_method, get_receiver
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.machines import TWO_BUSY_CORES
from tfperfkit_rules.measures.source_text import loops
from tfperfkit_rules.measures.step_shares import interval, share_of, window
from tfperfkit_rules.measures.trace_window import reached
from tfperfkit_rules.measures.turns import where

LIST_MS = Threshold(
    0.2,
    "ms",
    "minimum time to make a tensor that tells a list from an array of up to 200,000 numbers",
    Measured("arrays of 256 to 200,000 numbers 0.01 to 0.09 ms", TWO_BUSY_CORES, 3),
)
LIST_LEFT_MIN = Threshold(
    0.003,
    "share",
    "minimum share of making a tensor from a list that remains with an array",
    Measured(
        "lists of 16 to 200 rows of 100 to 3,000 numbers: an array instead 0.001 to 0.003, 0.08 for a tensor of 3,200 "
        "numbers; stacked arrays 0.003 and 0.004, and 0.2 there",
        TWO_BUSY_CORES,
        12,
    ),
)
LIST_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share of making a tensor from a list that remains with an array",
    Measured("see LIST_LEFT_MIN; tf.constant of the same lists 0.005 to 0.016, 0.1 there", TWO_BUSY_CORES, 12),
)

_CONVERT, _MAKE = "tensorflow.convert_to_tensor", ("tensorflow.constant", "tensorflow.stack")
#: Goes through nested lists in Python itself, whatever they are.
_RAGGED = "tensorflow.ragged.constant"
_LISTS = ("builtins.list", "json.loads", "json.load")


def made_of_lists(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for the line with most of the time."""
    samples = evidence.samples
    if samples.count < MIN or not evidence.step_ms:
        return
    at: Counter[Place] = Counter()
    names: dict[Place, str] = {}
    doing: Counter[str] = Counter()
    for stack, count in samples.stacks.items():
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is None or stack.context in ("build", "evaluate") or stack.activity in ("tracing", "graph"):
            continue
        name = _name_maker(evidence, leaf)
        if name:
            at[leaf.file, leaf.line] += count
            doing[stack.activity] += count
            names[leaf.file, leaf.line] = name
    share = share_of(evidence, doing)
    if share < MIN_SHARE.value:
        return
    place = at.most_common(1)[0][0]
    times = reached(evidence, *place, place[1]) or float(bool(loops(evidence, *place)) or evidence.work is not None)
    each_ms = at[place] / at.total() * share * evidence.step_ms / times if times else 0.0
    if each_ms < LIST_MS.value:
        return  # that much every tensor takes
    low, high = interval(evidence, doing)
    left = LIST_LEFT_MIN.value, LIST_LEFT_MAX.value
    gained = from_shares(low * (1 - left[1]), min(high * (1 - left[0]), shared.MAX_STEP_SHARE.value))
    name = names[place].replace("tensorflow.", "tf.")
    yield Finding(
        code="EAG016",
        family="eager",
        remedy=ReplaceOps("array"),
        title=f"{name} makes a tensor of a Python list, element by element",
        severity=severity(gained.surely),
        share_of_step=share,
        gain=gained,
        where=where(evidence, [item for item, _ in at.most_common(3)]),
        evidence=(
            Measurement("time in it", share, "share", window(evidence)),
            Measurement("one tensor", each_ms, "ms", window(evidence)),
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=_ROWS if names[place] == _RAGGED else _NUMBERS if names[place] == _CONVERT else _ARRAYS,
        detail="TensorFlow looks at the type of each element first. An array of NumPy's is copied as a whole.",
        absorbs=("EAG008",),
        absorbs_here=("LIN001", "STP003"),
        parts=("dispatch", "eager_ops", "python", "other"),
    )


_NUMBERS = (
    "Keep the data as an array of NumPy's from where they come in, and convert that. Where they must be nested lists "
    "of numbers, tf.constant(rows, dtype=tf.float32) reads them far faster than convert_to_tensor."
)
_ROWS = (
    "Make it once, before the loop, of all rows, from one flat array: rows = tf.RaggedTensor.from_row_lengths("
    "numpy.concatenate(lists), [len(item) for item in lists]), and pick from it: tf.gather(rows, ids), which "
    ".to_tensor() pads."
)
_ARRAYS = (
    "Of a list of arrays make one array first, tf.constant(numpy.stack(rows)); or write the rows into an array that "
    "was made before the loop."
)


def _name_maker(evidence: Evidence, frame: Frame) -> str:
    """The function of TensorFlow's that a frame was in, if the source says that it was given a list; else ""."""
    syntax = evidence.syntax(frame.file)
    if syntax is None or not frame.calls or not frame.calls[0].startswith("tensorflow."):
        return ""
    for call in syntax.running(frame.line, frame.span):
        name = syntax.name(call.func) if isinstance(call, ast.Call) and call.args else ""
        if name == _RAGGED:
            return name
        if name in (_CONVERT, *_MAKE) and isinstance(call, ast.Call):
            listed = _may_be_list(syntax, call.args[0], 0) and not _holds_tensors(syntax, call.args[0])
            return name if listed else ""
    return ""


def _may_be_list(syntax: Syntax, node: ast.expr, depth: int) -> bool:
    """Whether one of the things that an expression stands for is a list: what it was assigned, what a function of the
    file returns, what a function was given where it is called."""
    bound = syntax.bound_to(node)
    if any(_is_list(syntax, item) for item in bound):
        return True
    if depth >= shared.FUNCTIONS_DEEP.value:
        return False
    returned = (value for item in bound for value in _list_returned(syntax, item))
    given = _list_given(syntax, node) if not bound and isinstance(node, ast.Name) else []
    return any(_may_be_list(syntax, item, depth + 1) for item in (*returned, *given))


def _holds_tensors(syntax: Syntax, node: ast.expr) -> bool:
    """Whether something that is put into the list is a tensor: such a list is joined by one operation."""
    put = [call.args[0] for call in syntax.calls if _appends_to(call, node) and call.args]
    for item in syntax.bound_to(node):
        put += [item.elt] if isinstance(item, ast.ListComp) else getattr(item, "elts", [])
    return any(_is_tensor(syntax, item, 0) for item in put)


def _appends_to(call: ast.Call, to: ast.expr) -> bool:
    owner = get_receiver(call)
    return get_method(call) == "append" and owner is not None and ast.unparse(owner) == ast.unparse(to)


def _is_tensor(syntax: Syntax, node: ast.expr, depth: int) -> bool:
    """A call of TensorFlow's, or what is made of one by operators, slices and names."""
    if isinstance(node, ast.Call):
        return syntax.name(node.func).startswith("tensorflow.")
    if isinstance(node, (ast.Subscript, ast.UnaryOp)):
        return _is_tensor(syntax, node.value if isinstance(node, ast.Subscript) else node.operand, depth)
    if isinstance(node, ast.BinOp):
        return any(_is_tensor(syntax, side, depth) for side in (node.left, node.right))
    if depth >= shared.FUNCTIONS_DEEP.value or not isinstance(node, ast.Name):
        return False
    return any(_is_tensor(syntax, item, depth + 1) for item in syntax.bound_to(node))


def _list_returned(syntax: Syntax, node: ast.expr) -> list[ast.expr]:
    """What a call of the file's only function of that name returns."""
    function = syntax.find_only_function(get_last_name(node.func)) if isinstance(node, ast.Call) else None
    return [item for item in function.returned if item is not None] if function is not None else []


def _list_given(syntax: Syntax, node: ast.Name) -> list[ast.expr]:
    """What is passed for a name that is a parameter of the function around it, wherever the file calls the function."""
    function = syntax.find_function(node.lineno)
    if function is None or node.id not in function.parameters:
        return []
    bound = (
        bind_arguments(function.node.args, call, skip=int(bool(get_method(call) and function.owner)))
        for call in syntax.find_calls(function.name)
    )
    return [value for given in bound if given is not None and node.id in given for value in given[node.id].values]


def _is_list(syntax: Syntax, node: ast.AST) -> bool:
    while isinstance(node, ast.Subscript):  # a part of what a file or a request held
        node = node.value
    if isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
        return True
    if not isinstance(node, ast.Call):
        return False
    return get_method(node) == "tolist" or syntax.name(node.func) in _LISTS
