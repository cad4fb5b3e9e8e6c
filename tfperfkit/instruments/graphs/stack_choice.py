"""Which operations' stacks are read: TensorFlow works out a stack when it is first read, for 15 to 30 us and 8 KB."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from tfperfkit.graph import optable
from tfperfkit.records.graph_contents import Added

#: Distance of the stacks that are read among the operations that one call builds in a row, such as a gradient. If two
#: of these stacks are equal, the operations between them have the same stack.
INTERVAL = 48
#: At most so many stacks of a graph are read.
MAX_STACKS = 10_000
_WITHOUT_LINE = optable.names(kind=("constant", "placeholder", "noop"))
#: How optimizers name what they make, if nothing else tells that they made it.
_OPTIMIZER = re.compile(
    r"(?:adam|adamw|adamax|adadelta|adagrad|adafactor|nadam|ftrl|lamb|lion|muon|rmsprop|sgd|loss_scale_optimizer)(?:_\d+)?"
)


def choose_stacks(
    names: Sequence[str],
    kinds: Sequence[str],
    scopes: Mapping[str, Any],
    gradients: Sequence[Added],
    large: Collection[int],
    user_frames: Callable[[int], str],
) -> list[int]:
    """For each operation the number of the one whose stack it shares, often its own; -1 if none is read.

    ``scopes``: name scope -> the Keras layer or optimizer that entered it. All that one call of a stock layer or
    optimizer builds has the same stack, as far as the user's frames go. ``large``: constants whose stacks are read; of
    other constants and placeholders none is. ``user_frames`` returns an operation's stack as text.
    """
    same = [-1 if kind in _WITHOUT_LINE and index not in large else index for index, kind in enumerate(kinds)]
    in_row = _find_rows(names, gradients)
    _share_in_scopes(names, same, in_row, {scope for scope, owner in scopes.items() if _is_stock(owner)})
    _Rows(same, user_frames).share(in_row)
    return same


def _find_rows(names: Sequence[str], gradients: Sequence[Added]) -> list[str]:
    """For each operation what most likely built it in one call together with its neighbours; "" for nothing."""
    heads: dict[str, str] = {}
    found = []
    for name in names:
        head = name[: name.find("/")] if "/" in name else ""
        builder = heads.get(head)
        if builder is None:
            builder = heads[head] = head if head == "gradient_tape" or _OPTIMIZER.fullmatch(head) else ""
        found.append(builder)
    for item in gradients:
        end = min(item.end, len(found))
        found[item.begin : end] = ["gradient_tape"] * (end - item.begin)
    return found


def _share_in_scopes(names: Sequence[str], same: list[int], in_row: Sequence[str], stock: set[str]) -> None:
    owners: dict[str, str] = {}  # name scope -> the stock layer's scope around it, "" for none
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if same[index] < 0 or in_row[index] == "gradient_tape":
            continue
        scope = name.rpartition("/")[0]
        owner = owners.get(scope)
        if owner is None:
            owner = scope
            while owner and owner not in stock:
                owner = owner.rpartition("/")[0]
            owners[scope] = owner
        if owner:
            same[index] = first.setdefault(owner, index)


class _Rows:
    """Shares stacks among operations that one call built in a row."""

    def __init__(self, same: list[int], user_frames: Callable[[int], str]) -> None:
        self._same = same
        self._user_frames = user_frames
        self._read = 0

    def share(self, in_row: Sequence[str]) -> None:
        row: list[int] = []
        before = ""
        for index, builder in enumerate(in_row):
            if self._same[index] != index:
                continue
            if builder != before:
                self._end(row, before != "")
                row, before = [], builder
            row.append(index)
        self._end(row, before != "")

    def _end(self, row: list[int], built_by_one: bool) -> None:
        same = self._same
        if not built_by_one:
            room = max(MAX_STACKS - self._read, 0)
            self._read += len(row[:room])
            for index in row[room:]:
                same[index] = -1
            return
        for begin in range(0, len(row), INTERVAL + 1):
            part = row[begin : begin + INTERVAL + 1]
            full = self._read >= MAX_STACKS
            if full or self._user_frames(part[0]) == self._user_frames(part[-1]):
                for index in part:
                    same[index] = -1 if full else part[0]
                self._read += not full
            else:
                self._end(part, False)


def _is_stock(owner: Any) -> bool:
    """Return whether no code of the user's runs within: a layer of Keras' own without layers in it, an optimizer whose
    schedule and whose weights' constraints are Keras' own too."""
    constraints = (getattr(weight, "constraint", None) for weight in getattr(owner, "_trainable_variables", None) or ())
    inside = (getattr(owner, "activation", None), getattr(owner, "_learning_rate", None), *constraints)
    own = (owner, *(item for item in inside if item is not None))
    modules = [getattr(item, "__module__", None) or "" for item in own]
    return all(module.startswith(("keras.", "tensorflow.")) for module in modules) and not getattr(
        owner, "_layers", None
    )
