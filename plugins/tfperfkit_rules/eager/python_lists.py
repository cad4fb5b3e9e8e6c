"""EAG016: tensors are made of Python lists, element by element, again and again."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import from_shares, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.calibration import work as of_work
from tfperfkit_rules.measures.source_text import loops
from tfperfkit_rules.measures.step_shares import interval, share_of, window
from tfperfkit_rules.measures.trace_window import reached
from tfperfkit_rules.measures.turns import where

_CONVERT, _MAKE = "tensorflow.convert_to_tensor", ("tensorflow.constant", "tensorflow.stack")
#: Goes through nested lists in Python itself, whatever they are.
_RAGGED = "tensorflow.ragged.constant"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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
        name = _made_by(evidence, leaf)
        if name:
            at[leaf.file, leaf.line] += count
            doing[stack.activity] += count
            names[leaf.file, leaf.line] = name
    share = share_of(evidence, doing)
    if share < calibrated.MIN_SHARE.value:
        return
    place = at.most_common(1)[0][0]
    times = reached(evidence, *place, place[1]) or float(bool(loops(evidence, *place)) or evidence.work is not None)
    each_ms = at[place] / at.total() * share * evidence.step_ms / times if times else 0.0
    if each_ms < of_work.LIST_MS.value:
        return  # that much every tensor takes
    low, high = interval(evidence, doing)
    left = of_work.LIST_LEFT_MIN.value, of_work.LIST_LEFT_MAX.value
    gained = from_shares(low * (1 - left[1]), min(high * (1 - left[0]), shared.MAX_STEP_SHARE.value))
    name = names[place].replace("tensorflow.", "tf.")
    yield Finding(
        code="EAG016",
        family="eager",
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


def _made_by(evidence: Evidence, frame: Frame) -> str:
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
    returned = (value for item in bound for value in _returned(syntax, item))
    given = _given(syntax, node) if not bound and isinstance(node, ast.Name) else []
    return any(_may_be_list(syntax, item, depth + 1) for item in (*returned, *given))


def _holds_tensors(syntax: Syntax, node: ast.expr) -> bool:
    """Whether something that is put into the list is a tensor: such a list is joined by one operation."""
    put = [call.args[0] for call in syntax.calls if _appends(call, node) and call.args]
    for item in syntax.bound_to(node):
        put += [item.elt] if isinstance(item, ast.ListComp) else getattr(item, "elts", [])
    return any(_is_tensor(syntax, item, 0) for item in put)


def _appends(call: ast.Call, to: ast.expr) -> bool:
    method = call.func
    return (
        isinstance(method, ast.Attribute) and method.attr == "append" and ast.unparse(method.value) == ast.unparse(to)
    )


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


def _returned(syntax: Syntax, node: ast.expr) -> list[ast.expr]:
    """What the one function of the file that an expression calls by its name returns."""
    if not isinstance(node, ast.Call):
        return []
    name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
    found = [item for item in ast.walk(syntax.tree) if isinstance(item, _FUNCTIONS) and item.name == name]
    inside = ast.walk(found[0]) if len(found) == 1 else ()
    return [item.value for item in inside if isinstance(item, ast.Return) and item.value is not None]


def _given(syntax: Syntax, node: ast.Name) -> list[ast.expr]:
    """What the function whose argument a name is was given, wherever the file calls it."""
    around = [
        item
        for item in ast.walk(syntax.tree)
        if isinstance(item, _FUNCTIONS) and item.lineno <= node.lineno <= (item.end_lineno or item.lineno)
    ]
    function = max(around, key=lambda item: item.lineno, default=None)
    if function is None:
        return []
    names = [item.arg for item in (*function.args.posonlyargs, *function.args.args)]
    in_class = any(isinstance(item, ast.ClassDef) and function in item.body for item in ast.walk(syntax.tree))
    found: list[ast.expr] = []
    for call in syntax.calls if node.id in names else ():
        method = isinstance(call.func, ast.Attribute)
        name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
        at = names.index(node.id) - (method and in_class)
        if name == function.name:
            found += call.args[at : at + 1] if at >= 0 else []
            found += [word.value for word in call.keywords if word.arg == node.id]
    return found


def _is_list(syntax: Syntax, node: ast.AST) -> bool:
    while isinstance(node, ast.Subscript):  # a part of what a file or a request held
        node = node.value
    if isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
        return True
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return method == "tolist" or syntax.name(node.func) in _LISTS
