"""EAG016: tensors are made of Python lists, element by element, again and again."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable

from tfperfkit.gain import middle, severity, speedups
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit.syntax.names import Syntax
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
    bounds = speedups(low * (1 - left[1]), min(high * (1 - left[0]), shared.MAX_STEP_SHARE.value))
    name = names[place].replace("tensorflow.", "tf.")
    yield Finding(
        code="EAG016",
        family="eager",
        title=f"{name} makes a tensor of a Python list, element by element",
        severity=severity(1 - 1 / bounds[0]),
        share_of_step=share,
        predicted_speedup=middle(bounds),
        predicted_range=bounds,
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
            return name if any(_is_list(syntax, node) for node in syntax.bound_to(call.args[0])) else ""
    return ""


def _is_list(syntax: Syntax, node: ast.AST) -> bool:
    while isinstance(node, ast.Subscript):  # a part of what a file or a request held
        node = node.value
    if isinstance(node, (ast.List, ast.ListComp, ast.Tuple)):
        return True
    if not isinstance(node, ast.Call):
        return False
    method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    return method == "tolist" or syntax.name(node.func) in _LISTS
