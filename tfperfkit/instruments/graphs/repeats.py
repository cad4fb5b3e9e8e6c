"""Calls of a model within one graph, and whether one of them could have served for another.

Two calls have the same ``structure`` when what goes into them was computed by the same operations on the same source
lines: one piece of code that ran twice, called from one place or from two. They have the same ``inputs`` when the very
same tensors go in. ``serves`` tells which optimizers, in the end, use the gradients through a call.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

from tfperfkit.records.graphs import BACKWARD, UPDATE, LayerCall

#: Optimizers (or lines that assign to variables) that are told apart.
_MAX_UPDATES = 48
_ON_VARIABLES = ("ReadVariable", "Assign", "Resource")
_RANDOM = ("Random", "StatelessRandom", "Dropout", "StatelessMultinomial", "Multinomial")


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
) -> list[LayerCall]:
    """The outermost calls of layers that are called more than once.

    ``layers``: name scope -> layer. ``optimizers``: their name scopes. ``differentiated``: gradient operation ->
    the operation that it differentiates, in this graph. ``lines``: stack -> the number of its innermost line.
    """
    calls = _Scopes({scope for scope in layers if not _enclosed(scope, layers)})
    often: dict[int, int] = {}
    for scope in calls.scopes:
        often[layers[scope]] = often.get(layers[scope], 0) + 1
    wanted = {scope for scope in calls.scopes if often[layers[scope]] > 1}
    if not wanted:
        return []
    inside = [scope if (scope := calls.of(name)) in wanted else "" for name in names]
    shapes = _structures(kinds, [lines[stack] if stack >= 0 else -1 for stack in stacks], inputs, names)
    serving = _serving(names, kinds, stacks, inputs, stages, optimizers)
    entering: dict[str, list[int]] = {scope: [] for scope in wanted}
    random: set[str] = set()
    serves = dict.fromkeys(wanted, 0)
    for index, scope in enumerate(inside):
        if scope and stages[index] != BACKWARD:
            # A variable that goes in is the layer's own.
            own = ("Const", "Placeholder") if kinds[index].startswith(_ON_VARIABLES) else ("Const",)
            entering[scope] += [item for item in inputs[index] if inside[item] != scope and kinds[item] not in own]
            if kinds[index].startswith(_RANDOM):
                random.add(scope)
        of = differentiated.get(index)
        if of is not None and inside[of]:
            serves[inside[of]] |= serving[index]
    return [
        LayerCall(
            layers[scope],
            scope,
            _mark(sorted({shapes[item] for item in entering[scope]})),
            _mark(sorted(set(entering[scope]))),
            serves[scope],
            scope in random,
        )
        for scope in calls.scopes
        if scope in wanted and entering[scope]
    ]


class _Scopes:
    """Finds the scope, of a given set, that an operation is in."""

    def __init__(self, scopes: set[str]) -> None:
        self.scopes = scopes
        self._known: dict[str, str] = {}

    def of(self, name: str) -> str:
        scope = name.rpartition("/")[0]
        found = self._known.get(scope)
        if found is None:
            found = scope
            while found and found not in self.scopes:
                found = found.rpartition("/")[0]
            self._known[scope] = found
        return found


def _enclosed(scope: str, layers: dict[str, int]) -> bool:
    while scope := scope.rpartition("/")[0]:
        if scope in layers:
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


def _serving(
    names: Sequence[str],
    kinds: Sequence[str],
    stacks: Sequence[int],
    inputs: Sequence[Sequence[int]],
    stages: str,
    optimizers: set[str],
) -> list[int]:
    """For each operation, as bits, the updates of variables that its result goes into."""
    scopes = _Scopes(optimizers)
    bits: dict[Any, int] = {}
    found = [0] * len(names)
    for index in reversed(range(len(names))):
        if stages[index] == UPDATE and kinds[index].startswith(("Assign", "Resource")):
            key: Any = scopes.of(names[index]) or stacks[index]
            found[index] |= 1 << bits.setdefault(key, min(len(bits), _MAX_UPDATES))
        if found[index]:
            for item in inputs[index]:
                found[item] |= found[index]
    return found


def _mark(values: Sequence[int]) -> int:
    return zlib.crc32(repr(values).encode())
