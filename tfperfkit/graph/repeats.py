"""Calls of a model, or of a compiled function, within one graph, and whether one could have served for another.

Two calls have the same ``structure`` when what goes into them was computed by the same operations on the same source
lines: one piece of code that ran twice, called from one place or from two. They have the same ``inputs`` when the very
same tensors go in, and no variable that they use was assigned to in between: not by an optimizer, not by the first call
itself (batch normalisation, the seeds of dropout). ``serves`` tells which optimizers, in the end, use the gradients
through a call: updates of the same variables, one after the other, are one optimizer's.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from tfperfkit.graph import optable
from tfperfkit.graph.stages import BACKWARD, UPDATE

#: Maximum number of optimizers (or lines that assign to variables) that are distinguished.
_MAX_UPDATES = 48
_ON_VARIABLES = ("ReadVariable", "Assign", "Resource")
#: Kinds of operations that draw random numbers, or may: Python can.
_DRAWING = frozenset({*optable.DRAWING, "python"})


class LayerCall(msgspec.Struct, frozen=True, array_like=True):
    """A call of a layer that is called several times in its graph; see the module."""

    layer: int
    scope: str
    structure: int
    inputs: int
    serves: int  # bits
    random: bool  # random numbers are drawn within: dropout


class Called(NamedTuple):
    """An operation that calls a compiled function: its number in the graph, the function as a layer, and whether
    random numbers are drawn in it, or variables assigned to."""

    operation: int
    layer: int
    random: bool
    assigns: bool


def layer_calls(
    names: Sequence[str],
    kinds: Sequence[str],
    stacks: Sequence[int],
    inputs: Sequence[Sequence[int]],
    stages: str,
    differentiated: dict[int, int],
    layers: dict[str, int],
    optimizers: set[str],
    lines: Sequence[int],
    functions: Sequence[Called] = (),
    variables: Collection[int] = (),
) -> list[LayerCall]:
    """Return the calls of layers and functions that are called more than once, without those inside of such calls.

    ``layers``: name scope -> layer. ``optimizers``: their name scopes. ``differentiated``: gradient operation ->
    the operation that it differentiates, in this graph. ``lines``: stack -> the number of its innermost line.
    """
    by_name = {names[item.operation]: item for item in functions if stages[item.operation] != BACKWARD}
    every = layers | {name: item.layer for name, item in by_name.items()}
    often = Counter(every.values())
    repeated = {scope for scope, layer in every.items() if often[layer] > 1}
    wanted = {scope for scope in repeated if not _enclosed(scope, repeated)}
    if not wanted:
        return []
    calls, scopes = _Scopes(wanted), _Scopes(optimizers)
    inside = [name if name in by_name and name in wanted else calls.find_scope(name) for name in names]
    inside = [scope if scope in wanted else "" for scope in inside]
    shapes = _structures(kinds, [lines[stack] if stack >= 0 else -1 for stack in stacks], inputs, names)
    updates = {index for index, stage in enumerate(stages) if stage == UPDATE and _updates(kinds[index])}
    keys: dict[int, Any] = {index: scopes.find_scope(names[index]) or stacks[index] for index in sorted(updates)}
    serving = _serving(inputs, _bits(inputs, keys, variables))
    entering: dict[str, list[int]] = {scope: [] for scope in wanted}
    used: dict[str, set[tuple[int, int]]] = {scope: set() for scope in wanted}
    versions = _versions(kinds, inputs, set(variables), {item.operation for item in functions if item.assigns})
    random = {name for name, item in by_name.items() if item.random}
    serves = dict.fromkeys(wanted, 0)
    for index, scope in enumerate(inside):
        if scope and stages[index] != BACKWARD:
            # A variable that goes in is the layer's own.
            own = ("Const", "Placeholder") if kinds[index].startswith(_ON_VARIABLES) else ("Const",)
            for item in inputs[index]:
                if item in versions[index]:
                    used[scope].add((item, versions[index][item]))
                elif inside[item] != scope and kinds[item] not in own:
                    entering[scope].append(item)
            if optable.row(kinds[index]).kind in _DRAWING:
                random.add(scope)
        of = differentiated.get(index)
        if of is not None and inside[of]:
            serves[inside[of]] |= serving[index]
    return [
        LayerCall(
            every[scope],
            scope,
            _mark(sorted({shapes[item] for item in entering[scope]})),
            _mark((sorted(set(entering[scope])), sorted(used[scope]))),
            serves[scope],
            scope in random,
        )
        for scope in every
        if scope in wanted and entering[scope]
    ]


def draws(kinds: Iterable[str]) -> bool:
    """Return whether operations of these types draw random numbers, or may: what calls back into Python."""
    return any(optable.row(kind).kind in _DRAWING for kind in kinds)


def assigns(kinds: Iterable[str]) -> bool:
    """Return whether operations of these types assign to variables."""
    return any("writes-variable" in optable.row(kind).traits for kind in kinds)


def _versions(
    kinds: Sequence[str], inputs: Sequence[Sequence[int]], variables: set[int], assigning: set[int]
) -> list[dict[int, int]]:
    """For each operation its variables, and how often each was assigned to before it: a graph is built in the order in
    which it uses variables. ``assigning``: calls of functions that assign, to any of theirs."""
    made: dict[int, int] = {}
    found = []
    for index, kind in enumerate(kinds):
        mine = [item for item in inputs[index] if item in variables]
        found.append({item: made.get(item, 0) for item in mine})
        if index in assigning or assigns((kind,)):
            made.update({item: made.get(item, 0) + 1 for item in mine})
    return found


class _Scopes:
    """Finds the scope, of a given set, that an operation is in."""

    def __init__(self, scopes: set[str]) -> None:
        self.scopes = scopes
        self._known: dict[str, str] = {}

    def find_scope(self, name: str) -> str:
        scope = name.rpartition("/")[0]
        found = self._known.get(scope)
        if found is None:
            found = scope
            while found and found not in self.scopes:
                found = found.rpartition("/")[0]
            self._known[scope] = found
        return found


def _enclosed(scope: str, scopes: Collection[str]) -> bool:
    while scope := scope.rpartition("/")[0]:
        if scope in scopes:
            return True
    return False


def _structures(
    kinds: Sequence[str], lines: Sequence[int], inputs: Sequence[Sequence[int]], names: Sequence[str]
) -> list[int]:
    """For each operation a number that is the same for another one made alike, from alike inputs, on the same lines."""
    found: list[int] = []
    for index, kind in enumerate(kinds):
        own = (names[index] if kind == "Placeholder" else kind, lines[index])
        found.append(hash((own, tuple(found[item] for item in inputs[index]))))
    return found


def _updates(kind: str) -> bool:
    return kind.startswith(("Assign", "Resource"))


def _bits(inputs: Sequence[Sequence[int]], keys: Mapping[int, Any], variables: Collection[int]) -> dict[int, int]:
    """For each update of a variable the bit of its optimizer. ``keys``: what it is part of, an optimizer's scope or a
    line. Two of these that assign to one variable are one optimizer at two times, as in a loop of updates."""
    first: dict[Any, Any] = {}  # key -> one that stands for it
    writer: dict[int, Any] = {}  # variable -> key

    def stands(key: Any) -> Any:
        while first.setdefault(key, key) != key:
            key = first[key]
        return key

    for index, key in keys.items():
        for item in inputs[index]:
            if item in variables:
                first[stands(writer.setdefault(item, key))] = stands(key)
    numbers: dict[Any, int] = {}
    return {
        index: 1 << numbers.setdefault(stands(key), min(len(numbers), _MAX_UPDATES))
        for index, key in sorted(keys.items(), reverse=True)
    }


def _serving(inputs: Sequence[Sequence[int]], bits: Mapping[int, int]) -> list[int]:
    """For each operation, as bits, the updates of variables that its result goes into."""
    found = [0] * len(inputs)
    for index in reversed(range(len(inputs))):
        found[index] |= bits.get(index, 0)
        if found[index]:
            for item in inputs[index]:
                found[item] |= found[index]
    return found


def _mark(values: Sequence[object]) -> int:
    return zlib.crc32(repr(values).encode())
