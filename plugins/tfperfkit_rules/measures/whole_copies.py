"""Find where the source copies a whole array to make it longer, or to change a few elements."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.module import Syntax, get_file

#: Functions that make a new array of all their arguments, and how to join the parts once instead.
JOINS = {
    "numpy.append": "np.concatenate",
    "numpy.concatenate": "np.concatenate",
    "numpy.vstack": "np.vstack",
    "numpy.hstack": "np.hstack",
    "numpy.dstack": "np.dstack",
    "numpy.column_stack": "np.column_stack",
    "numpy.insert": "np.concatenate",
    "pandas.concat": "pd.concat",
    "tensorflow.concat": "tf.concat",
    "keras.ops.append": "keras.ops.concatenate",
    "keras.ops.concatenate": "keras.ops.concatenate",
}
#: The same by an index: ``np.r_[a, b]``.
BY_INDEX = {"numpy.r_": "np.concatenate", "numpy.c_": "np.column_stack"}
#: Without an axis these flatten what they are given, and take numbers.
_FLAT = {"numpy.append": "np.hstack", "keras.ops.append": "keras.ops.hstack"}
#: Take the axis as their second argument.
_AXIS_SECOND = ("numpy.concatenate", "tensorflow.concat", "keras.ops.concatenate")
#: Functions that make a new tensor with some elements changed, and how to change them in place: the sign for a NumPy
#: array, the method of a ``tf.Variable``.
_CHANGES = {
    "tensorflow.tensor_scatter_nd_update": ("=", "scatter_nd_update"),
    "tensorflow.tensor_scatter_nd_add": ("+=", "scatter_nd_add"),
    "tensorflow.tensor_scatter_nd_sub": ("-=", "scatter_nd_sub"),
}
#: Methods of containers that keep what they are given.
_KEEPING = ("append", "appendleft", "add", "insert", "put", "setdefault")
_SCATTERED = ("tensor", "indices", "updates")
_TENSORS = ("tensorflow.constant", "tensorflow.convert_to_tensor", "numpy.array", "numpy.asarray")


class Copied(NamedTuple):
    """``call``: the expression that copies; ``name``: what it is assigned to, as written; ``join``: how to join the
    parts once. ``kept``: only a part of the result is kept (``np.vstack([memory, row])[-size:]``), ``size`` rows, "" if
    unknown. ``new``: what is added. ``written``: how to change an element of a NumPy array, if the copy is made
    for that. ``scattered``: how to change it in a ``tf.Variable``, if the tensor stays in an attribute or is a
    variable's value; ``is_variable``: it is a variable already."""

    call: Expression
    name: str
    join: str
    kept: bool
    new: str = "new"
    size: str = ""
    written: str = ""
    scattered: str = ""
    is_variable: bool = False

    @property
    def changes_element(self) -> bool:
        """Return whether the copy is made to change one element, or one row."""
        return bool(self.written or self.scattered)


@lru_cache(maxsize=64)
def find_whole_copies(syntax: Syntax) -> tuple[Copied, ...]:
    """Find the joins of an array with something, assigned to the same name in a loop, or to the same attribute: its
    method may be called in a loop."""
    return (*_find_copies(syntax), *_find_assigned_copies(syntax))


def _find_copies(syntax: Syntax) -> Iterator[Copied]:
    for target, whole in _find_assignments(syntax):
        enlarged = _name_enlarged_frame(target)
        if enlarged:
            yield Copied(target, enlarged, "pd.concat(parts)", False)
        if not (target.kind == "attribute" or (target.kind == "name" and whole.is_in_loop)):
            continue
        value, kept, size, name = whole, False, "", target.text
        while value.owner is not None and not _name_join(value):
            if value.index is not None:
                kept, size = True, size or _write_kept_rows(value.index)
            value = value.owner
        if _joins(value, name):
            yield Copied(value, name, _write_join(value), kept, _write_added(value, name), size)
        elif isinstance(value, Call) and value.name in _CHANGES:
            kept_in_object = target.kind == "attribute"
            changed = (_write_scatter if kept_in_object else _write_in_place)(value, name) if value is whole else ""
            if changed and _keeps_old(syntax, name):
                continue
            if changed and kept_in_object:
                yield Copied(value, name, "", False, scattered=changed)
            elif changed:
                yield Copied(value, name, "", False, written=changed)
        elif isinstance(value, Call):
            yield from _find_copies_in_helper(value, name, kept)


def _keeps_old(syntax: Syntax, name: str) -> bool:
    """Return whether the file keeps the array of this name elsewhere, where a change in place would show."""
    values = [value for _, value in _find_assignments(syntax)]
    values += [item for call in syntax.calls if call.method in _KEEPING for item in call.arguments]
    parts = [part for value in values for part in (value, *value.items)]
    return any(part.is_plain and part.text == name for part in parts)


def _find_assigned_copies(syntax: Syntax) -> Iterator[Copied]:
    """Find ``v.assign(tf.tensor_scatter_nd_update(v, rows, new))``, in a loop or for an attribute."""
    for call in syntax.find_calls("assign"):
        variable, value = call.receiver, call.get_argument("value", 0)
        if variable is None or not (variable.kind == "attribute" or call.is_in_loop):
            continue
        scattered = _write_scatter(value, variable.text) if isinstance(value, Call) and value.name in _CHANGES else ""
        if scattered and isinstance(value, Call):
            yield Copied(value, variable.text, "", False, scattered=scattered, is_variable=True)


def _name_join(node: Expression) -> str:
    """Name the join that an expression is: a call, or ``np.r_[a, b]``; "" for none."""
    name = node.name if isinstance(node, Call) else node.owner.api if node.index and node.owner else ""
    return name if name in (JOINS if isinstance(node, Call) else BY_INDEX) else ""


def _joins(node: Expression, name: str) -> bool:
    """Whether an expression joins all of the array of this name with something."""
    return bool(_name_join(node)) and any(_holds(item, name) for item in _list_joined(node))


def _list_joined(node: Expression) -> list[Expression]:
    """List what a join gets: its first two arguments, or those by name; the parts of ``np.r_[a, b]``."""
    if isinstance(node, Call):
        return [*node.arguments[:2], *node.keywords.values()]
    return [node.index] if node.index is not None else []


def _write_in_place(call: Call, name: str) -> str:
    """Write ``m[i, j] += x`` for ``tf.tensor_scatter_nd_add(m, [[i, j]], [x])``, if the call changes one element, or
    one row, of the array that it is assigned to; else ""."""
    tensor, indices, updates = _list_scattered(call)
    if tensor is None or indices is None or updates is None or tensor.text != name:
        return ""
    at, new = _find_only_element(indices), _find_only_element(updates)
    if at is None or at.kind not in ("list", "tuple") or not at.items:
        return ""
    index = ", ".join(item.text for item in at.items)
    sign = _CHANGES[call.name][0]
    return f"{name}[{index}] {sign} {new.text if new is not None else 'new'}"


def _write_scatter(call: Call, name: str) -> str:
    """Write ``m.scatter_nd_add(rows, new)`` for ``tf.tensor_scatter_nd_add(m, rows, new)`` under the same condition."""
    tensor, indices, updates = _list_scattered(call)
    if tensor is None or indices is None or updates is None or tensor.text != name:
        return ""
    if _find_only_element(indices) is None and _find_only_element(updates) is None:
        return ""
    return f"{name}.{_CHANGES[call.name][1]}({indices.text}, {updates.text})"


def _list_scattered(call: Call) -> tuple[Expression | None, ...]:
    return tuple(call.get_argument(word, position) for position, word in enumerate(_SCATTERED))


def _find_only_element(node: Expression) -> Expression | None:
    """Find the one element of a list that is written out, also if a tensor is made of the list, or if it is the only
    value of a name."""
    met: set[Expression] = set()
    while node not in met:
        met.add(node)
        is_made = isinstance(node, Call) and bool(node.arguments) and node.name in _TENSORS
        inner = node.arguments[0] if is_made and isinstance(node, Call) else node.only_value
        if inner is None:
            break
        node = inner
    if node.kind not in ("list", "tuple") or len(node.items) != 1 or node.items[0].kind == "starred":
        return None
    return node.items[0]


def _find_copies_in_helper(call: Call, name: str, kept: bool) -> Iterator[Copied]:
    """Find what a function of the file returns, if that is a join of an argument: ``kept = add(kept, new)``."""
    function = get_file(call).find_only_function(call.function.text) if call.function.kind == "name" else None
    if function is None:
        return
    mine = next((each for each in function.all_parameters if _gives(function, call, each, name)), None)
    for value in function.returned if mine is not None else ():
        while value is not None and value.index is not None and not _name_join(value):
            value, kept = value.owner, True
        if value is not None and mine is not None and _joins(value, mine):
            yield Copied(value, name, _write_join(value), kept)


def _gives(function: Function, call: Call, parameter: str, name: str) -> bool:
    given = function.find_given(call, parameter)
    return given is not None and given.text == name


def _name_enlarged_frame(target: Expression) -> str:
    """Name the data frame that ``df.loc[len(df)] = row`` makes one row longer; "" for none."""
    frame = target.owner.owner if target.owner is not None and target.owner.last_name == "loc" else None
    name = frame.text if frame is not None else ""
    return name if target.index is not None and target.index.text == f"len({name})" else ""


def _find_assignments(syntax: Syntax) -> Iterator[tuple[Expression, Expression]]:
    """Find (target, value) in the order of the source; those of ``a, b = f(a), g(b)`` one by one."""
    for item in syntax.assignments:
        target, value = item.targets[0], item.value
        if len(item.targets) != 1 or item.operator:
            continue
        if target.kind == value.kind == "tuple" and len(target.items) == len(value.items):
            yield from zip(target.items, value.items, strict=True)
        else:
            yield target, value


def _write_kept_rows(node: Expression) -> str:
    """Write ``size`` of ``[-size:]``."""
    lower, upper = node.bounds
    from_end = lower is not None and upper is None and lower.operator == "-" and len(lower.operands) == 1
    return lower.operands[0].text if from_end and lower is not None else ""


def _write_join(node: Expression) -> str:
    """Write the join of a list ``parts`` along the same axis."""
    api = _name_join(node)
    if not isinstance(node, Call):
        return f"{BY_INDEX[api]}(parts)"
    axis = node.get_argument("axis", 1 if api in _AXIS_SECOND else None)
    function = _FLAT.get(api, JOINS[api]) if axis is None else JOINS[api]
    axis_text = "" if axis is None else f", axis={axis.text}"
    return f"{function}(parts{axis_text or (', axis=0' if api == 'tensorflow.concat' else '')})"


def _write_added(node: Expression, name: str) -> str:
    """Write what the array is joined with, if it is one thing; else "new"."""
    parts = _list_joined(node)
    listed = (item.items for item in parts if item.kind in ("list", "tuple") and _holds(item, name))
    others = [item.text for item in next(listed, parts[:2]) if item.text != name]
    return others[0] if len(others) == 1 else "new"


def _holds(node: Expression, name: str) -> bool:
    """Whether an argument is the whole array, or a list that contains the whole array."""
    parts = node.items if node.kind in ("list", "tuple") else [node]
    return any(part.is_plain and part.text == name for part in parts)
