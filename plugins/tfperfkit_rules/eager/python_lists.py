"""EAG016: tensors are made of Python lists, element by element, again and again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.gain import from_shares, severity
from tfperfkit.model import Finding, Measurement
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.machines import TWO_BUSY_CORES
from tfperfkit_rules.measures.source_text import find_loops, find_running
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
    """Return the finding, for the line with most of the time."""
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
    times = reached(evidence, *place, place[1]) or float(
        bool(find_loops(evidence, *place)) or evidence.work is not None
    )
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
        advice=_advise(names[place], looped=bool(find_loops(evidence, *place))),
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
    "Make it once{before}, of all rows, from one flat array: rows = tf.RaggedTensor.from_row_lengths("
    "numpy.concatenate(lists), [len(item) for item in lists]), and pick from it: tf.gather(rows, ids), which "
    ".to_tensor() pads."
)
_ARRAYS = "Of a list of arrays make one array first, tf.constant(numpy.stack(rows))"
_INTO_ARRAY = "; or write the rows into an array that was made before the loop"


def _advise(name: str, *, looped: bool) -> str:
    """Say what to do in place of a call of TensorFlow's function ``name``. ``looped``: a loop is around it."""
    if name == _RAGGED:
        return _ROWS.format(before=", before the loop" if looped else "")
    return _NUMBERS if name == _CONVERT else f"{_ARRAYS}{_INTO_ARRAY if looped else ''}."


def _name_maker(evidence: Evidence, frame: Frame) -> str:
    """Name the function of TensorFlow that a frame was in, if the source says that it was given a list; else ""."""
    if not frame.calls or not frame.calls[0].startswith("tensorflow."):
        return ""
    for call in find_running(evidence, frame):
        name = call.name if isinstance(call, Call) and call.arguments else ""
        if name == _RAGGED:
            return name
        if name in (_CONVERT, *_MAKE) and isinstance(call, Call):
            given = call.arguments[0]
            return name if _may_be_list(given, 0) and not _holds_tensors(given) else ""
    return ""


def _may_be_list(node: Expression, depth: int) -> bool:
    """Whether one of the things that an expression stands for is a list: what it was assigned, what a function of the
    file returns, what a function was given where it is called."""
    assigned = node.assigned
    if any(_is_list(item) for item in assigned):
        return True
    if depth >= shared.FUNCTIONS_DEEP.value:
        return False
    further = [value for item in assigned for value in _find_returned(item)]
    further += _find_passed(node) if not assigned and node.kind == "name" else []
    return any(_may_be_list(item, depth + 1) for item in further)


def _holds_tensors(node: Expression) -> bool:
    """Whether something that is put into the list is a tensor: such a list is joined by one operation."""
    appending = (call for call in get_file(node).find_calls("append") if call.function.text == f"{node.text}.append")
    put = [item for call in appending for item in call.arguments[:1]]
    for item in node.assigned:
        put += [item.element] if item.element is not None else item.items
    return any(_is_tensor(item, 0) for item in put)


def _is_tensor(node: Expression, depth: int) -> bool:
    """Whether it is a call of TensorFlow, or made of one by operators, slices and names."""
    if isinstance(node, Call):
        return node.name.startswith("tensorflow.")
    if node.index is not None and node.owner is not None:
        return _is_tensor(node.owner, depth)
    if node.kind == "operation":
        return any(_is_tensor(side, depth) for side in node.operands)
    if depth >= shared.FUNCTIONS_DEEP.value or node.kind != "name":
        return False
    return any(_is_tensor(item, depth + 1) for item in node.assigned)


def _find_returned(node: Expression) -> list[Expression]:
    """Find what a call of the file's only function of that name returns."""
    function = get_file(node).find_only_function(node.function.last_name) if isinstance(node, Call) else None
    return [item for item in function.returned if item is not None] if function is not None else []


def _find_passed(node: Expression) -> list[Expression]:
    """Find what is passed for a name that is a parameter of the function around it, wherever the file calls that."""
    function = get_file(node).find_function(node.line)
    if function is None or node.text not in function.parameters:
        return []
    passed = (function.find_given(call, node.text) for call in get_file(node).find_calls(function.name))
    return [value for value in passed if value is not None]


def _is_list(node: Expression) -> bool:
    while node.index is not None and node.owner is not None:  # a part of what a file or a request held
        node = node.owner
    if isinstance(node, Call):
        return node.method == "tolist" or node.name in _LISTS
    return node.is_list
