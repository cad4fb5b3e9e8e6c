"""What a loop over the steps of sequences makes of each sequence alone, as a recurrent layer does: its tensors have the
sequences along their second axis, lists have them along the first axis of their elements."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import NamedTuple

from tfperfkit.graph.costs import cost, moved
from tfperfkit.graph.iterations import iterations_of
from tfperfkit.graph.model import Node
from tfperfkit.graph.staying import slots_of
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import LOOPS


class Following(NamedTuple):
    """The operations that follow, those in bodies of loops among them; of those in bodies the FLOPs and bytes of all
    turns, as far as sizes tell."""

    nodes: list[Node]
    flops: float = 0.0
    bytes: float = 0.0


class Loop(NamedTuple):
    """A loop of which each turn works sequence by sequence. ``states``: the results that have the sequences along their
    first axis; ``lists``: those that hold a tensor of that kind for each turn."""

    inside: Following
    states: list[int]
    lists: list[int]


class SecondAxis:
    """The tensors that have along their second axis what follows, and the lists of what follows."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._tensors: set[str] = set()
        self._lists: set[tuple[str, int]] = set()

    def takes(self, node: Node, found: Set[str]) -> bool:
        """Whether an operation leaves what follows along a second axis, or in a list."""
        if node.type == "Transpose" and _swaps(self._view, node):
            source = self._view.source(node, 0)
            if source is not None and source.name in found:
                self._tensors.add(node.name)
                return True
        if not self._is_second(node):
            return False
        if node.type == "TensorListFromTensor":
            self._lists.add((node.name, 0))
        elif node.type == "ReverseV2" and self._view.integers(self._view.source(node, 1)) == [0]:
            self._tensors.add(node.name)
        else:
            return False
        return True

    def gives_back(self, node: Node) -> bool:
        """Whether an operation makes what follows the first axis again: the axes changed back, or one step taken."""
        if not self._is_second(node):
            return False
        before, made = self._view.shape(*node.inputs[0]) or (), self._view.shape(node.name) or ()
        if node.type == "StridedSlice":
            shrunk = node.attr("shrink_axis_mask")
            return shrunk is not None and shrunk.i == 1 and len(made) == len(before) - 1 > 0
        return node.type == "Transpose" and _swaps(self._view, node)

    def stacks(self, node: Node) -> bool:
        """Whether an operation puts a list's elements together."""
        if node.type != "TensorListStack" or node.inputs[0] not in self._lists:
            return False
        self._tensors.add(node.name)
        return True

    def turns(self, loop: Node, found: Set[str], follow: Callable[[View, list[Node]], Following]) -> Loop | None:
        """A loop that reads a list; None unless each turn makes the sequences of what it has of the same ones alone."""
        read = [slot for slot, owner in enumerate(loop.inputs) if owner in self._lists]
        body = self._view.graph.body((loop.functions().get("body") or [""])[0])
        if loop.type not in LOOPS or not read or body is None:
            return None
        view, slots, results = View(body, self._view.open_size), slots_of(body), body.record.results
        given = [slot for slot in range(min(len(slots), len(loop.inputs), len(results))) if slot not in read]
        states = [slot for slot in given if self._is_state(view, slots[slot], loop, slot, found)]
        items = [use.node for slot in read if slot < len(slots) for use in view.uses(view.nodes[slots[slot]])]
        starts = [node for node in items if node.type == "TensorListGetItem"]
        inside = follow(view, [*starts, *(view.nodes[slots[slot]] for slot in states)])
        known = {node.name for node in inside.nodes} | {node.name for node in starts} | {slots[slot] for slot in states}
        ends = {slot: view.made(results[slot]) for slot in given}
        if not inside.nodes or any(
            end is None or end.name not in known for slot, end in ends.items() if slot in states
        ):
            return None
        lists = [slot for slot, end in ends.items() if end is not None and _writes(view, end, known)]
        self._lists |= {(loop.name, slot) for slot in lists}
        times = float(iterations_of(self._view.graph, loop) or 1)
        return Loop(
            Following(
                inside.nodes,
                times * (inside.flops + sum(cost(body, node, view.open_size) or 0.0 for node in inside.nodes)),
                times * (inside.bytes + sum(moved(body, node, view.open_size) for node in inside.nodes)),
            ),
            states,
            lists,
        )

    def _is_second(self, node: Node) -> bool:
        source = self._view.source(node, 0)
        return source is not None and source.name in self._tensors

    def _is_state(self, body: View, slot: str, loop: Node, number: int, found: Set[str]) -> bool:
        source = self._view.source(loop, number)
        return source is not None and source.name in found and bool(body.shape(slot))


def _swaps(view: View, node: Node) -> bool:
    order = view.integers(view.source(node, 1))
    return order is not None and order[:2] == [1, 0]


def _writes(view: View, node: Node, known: Set[str]) -> bool:
    item = view.source(node, 2) if node.type == "TensorListSetItem" else None
    return item is not None and item.name in known
