"""Tensors that are made of Python lists: TensorFlow looks at each element, with the interpreter's lock."""

from __future__ import annotations

from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_running

_CONVERT = "tensorflow.convert_to_tensor"
#: Goes through nested lists in Python itself, whatever they are.
_RAGGED = "tensorflow.ragged.constant"
#: How the first parameters are called.
_GIVEN = {_CONVERT: "value", "tensorflow.constant": "value", "tensorflow.stack": "values", _RAGGED: "pylist"}
_LISTS = ("builtins.list", "json.loads", "json.load")
#: TensorFlow makes float32 of Python floats.
_DTYPE = "NumPy makes float64 of Python floats: add .astype('float32') for these."
_NUMBERS = (
    f"Keep the data as one NumPy array and convert that: tf.convert_to_tensor(numpy.stack(rows)). {_DTYPE} Or: if the "
    "data must be nested lists of numbers, use tf.constant(rows, dtype=tf.float32), which is far faster than "
    "convert_to_tensor."
)
_ROWS = (
    "Create the ragged tensor once{before}, from one flat array: rows = tf.RaggedTensor.from_row_lengths("
    "numpy.concatenate(lists), [len(item) for item in lists]). Pick rows of it with tf.gather(rows, ids); "
    ".to_tensor() pads them."
)
_ARRAYS = f"Make one array of the list first: tf.constant(numpy.stack(rows)). {_DTYPE}"
_INTO_ARRAY = " Or: write the rows into an array that is created before the loop."


def advise_array(name: str, *, looped: bool) -> str:
    """Say what to do instead of calling TensorFlow's function ``name``. ``looped``: a ``for`` or ``while`` statement is
    around the call."""
    if name == _RAGGED:
        return _ROWS.format(before=", before the loop" if looped else "")
    return _NUMBERS if name == _CONVERT else f"{_ARRAYS}{_INTO_ARRAY if looped else ''}"


def name_list_maker(evidence: Evidence, frame: Frame) -> str:
    """Name the function of TensorFlow that a frame was in, if the source says that it was given a list; else ""."""
    if not frame.calls or not frame.calls[0].startswith("tensorflow."):
        return ""
    for call in find_running(evidence, frame):
        if not isinstance(call, Call) or call.name not in _GIVEN:
            continue
        given = call.get_argument(_GIVEN[call.name], 0)
        if given is not None and (call.name == _RAGGED or _is_list_of_no_tensors(given)):
            return call.name
        return ""
    return ""


def _is_list_of_no_tensors(node: Expression) -> bool:
    """Whether one of the things that an expression stands for is a list, and none holds tensors: a list of tensors is
    joined by one operation."""
    sources = _find_sources(node, 0)
    return any(_is_list(item) for source in sources for item in source.assigned) and not any(
        map(_holds_tensor, sources)
    )


def _find_sources(node: Expression, depth: int) -> list[Expression]:
    """Find the expressions that an expression stands for, itself first: what a function of the file returns, what a
    function was given where it is called."""
    assigned = node.assigned
    further = [value for item in assigned for value in _find_returned(item)]
    if not assigned and node.kind == "name":
        further = [*_find_passed(node), *_find_unpacked(node)]
    deeper = depth < shared.FUNCTIONS_DEEP.value
    return [node, *(source for item in further if deeper for source in _find_sources(item, depth + 1))]


def _holds_tensor(node: Expression) -> bool:
    """Whether something that is put into the list is a tensor."""
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


def _find_unpacked(node: Expression) -> list[Expression]:
    """Find what a name gets of the tuples that a call of the file's only function of its name returns:
    ``keys, rows = take()``."""
    around = get_file(node).find_function(node.line)
    found = []
    for assignment in around.assignments if around is not None else get_file(node).assignments:
        for target in assignment.targets:
            names = [item.text for item in target.items]
            if node.text in names and assignment.value is not None:
                made = (returned.items for returned in _find_returned(assignment.value))
                found += [items[names.index(node.text)] for items in made if len(items) == len(names)]
    return found


def _is_list(node: Expression) -> bool:
    while node.index is not None and node.owner is not None:  # a part of what a file or a request held
        node = node.owner
    if isinstance(node, Call):
        return node.method == "tolist" or node.name in _LISTS
    return node.is_list
