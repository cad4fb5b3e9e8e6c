"""Which datasets make up which pipeline: from the records of their making."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tfperfkit.records.pipelines import MadeDataset, MadeIterator, Origin
from tfperfkit_probes.input.nodes import kind_of

_LONGEST = 80
#: Layers that exist in Python only: no stage runs for them.
_PASSED = "Variant"  # a dataset that a compiled function gets as an argument
_NO_STAGES = ("Options", "Restructured", _PASSED)
#: TensorFlow's own functions around a loop over a dataset in a compiled function: the loop's body, not a stage.
_LOOPS = ("Scan", "Reduce", "TakeWhile")


class Link(msgspec.Struct, frozen=True):
    """A dataset in a pipeline. ``nested``: the index of the stage whose function makes it."""

    dataset: MadeDataset
    nested: int | None = None


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """A pipeline as it was built, ``times`` over; ``roots``: the numbers of the datasets at its end. ``in_graph``: the
    compiled function that iterates over it, wherever its datasets are made. ``begins``: for each link the different
    places at which it begins, see ``Stage.begins``."""

    links: tuple[Link, ...]
    roots: frozenset[int]
    iterators: tuple[MadeIterator, ...]
    times: int
    in_graph: str = ""
    begins: tuple[tuple[int, ...], ...] = ()


#: The parameter that says at which element a stage begins.
_BEGIN = {"Skip": "count", "Shard": "index"}
_MAX_BEGINS = 200


def build(datasets: Sequence[MadeDataset], iterators: Sequence[MadeIterator]) -> tuple[Built, ...]:
    """The pipelines that are iterated over, and those that end in a compiled function. Pipelines built by the
    same lines are one, unless they are iterated at different ones. In order of their making."""
    known = {made.number: made for made in datasets}
    consumed = {number for made in datasets for number in made.inputs}
    inside = {made.function_graph for made in datasets if made.function_graph}
    ends: dict[int, list[MadeIterator]] = {}
    lost: list[MadeIterator] = []
    for iterator in iterators:
        (ends.setdefault(iterator.dataset, []) if iterator.dataset in known else lost).append(iterator)
    for made in datasets:
        if made.graph and made.graph not in inside and made.number not in consumed and kind_of(made.cls) != _PASSED:
            ends.setdefault(made.number, [])
    grouped: dict[tuple[object, ...], list[int]] = {}
    chains: dict[int, tuple[Link, ...]] = {}
    for number in sorted(ends):
        links = chains[number] = chain(known, number)
        if links:
            key = tuple(_make_key(link) for link in links)
            grouped.setdefault(key, []).append(number)
    found = []
    for numbers in (numbers for alike in grouped.values() for numbers in _apart(alike, ends)):
        own = [iterator for number in numbers for iterator in ends[number]]
        origins: set[Origin] = {iterator.origin for iterator in own}
        own += [iterator for iterator in lost if iterator.origin in origins]
        root = known[numbers[0]]
        found.append(
            Built(
                links=chains[numbers[-1]],
                roots=frozenset(numbers),
                iterators=tuple(own),
                times=_times(
                    datasets,
                    [known[number] for number in numbers],
                    [chains[number][0].dataset for number in numbers],
                ),
                in_graph=root.graph_name if root.graph else "",
                begins=_list_begins([chains[number] for number in numbers]),
            )
        )
    return tuple(found)


def _list_begins(alike: Sequence[Sequence[Link]]) -> tuple[tuple[int, ...], ...]:
    """``alike``: the same pipeline each time that it was built."""
    found = []
    for same in zip(*alike, strict=True):
        name = _BEGIN.get(kind_of(same[0].dataset.cls), "")
        values = [link.dataset.about.parameters.get(name) for link in same] if name else []
        known = dict.fromkeys(value for value in values if isinstance(value, int))
        found.append(tuple(known)[:_MAX_BEGINS])
    return tuple(found)


def _apart(numbers: Sequence[int], ends: Mapping[int, Sequence[MadeIterator]]) -> list[list[int]]:
    """Of pipelines built by the same lines, those together of which one is iterated where another is: a function that
    makes a dataset for training makes the one for validation too."""
    found: list[tuple[set[Origin], list[int]]] = []
    for number in numbers:
        origins = {iterator.origin for iterator in ends[number]}
        near = [group for group in found if not origins or not group[0] or group[0] & origins]
        together: tuple[set[Origin], list[int]] = (origins, [number])
        for group in near:
            found.remove(group)
            together = (together[0] | group[0], group[1] + together[1])
        found.append(together)
    return sorted(sorted(group) for _, group in found)


def _times(datasets: Sequence[MadeDataset], roots: Sequence[MadeDataset], ends: Sequence[MadeDataset]) -> int:
    """How often a pipeline was built. A loop in a compiled function is a root of its own, at which nothing is built;
    what it gets in later calls is seen at the line that builds it alone."""
    found = len({end.number for end in ends})
    if not any(root.graph for root in roots):
        return found
    kinds = {(end.cls, end.origin) for end in ends}
    return max(found, sum(not made.graph and (made.cls, made.origin) in kinds for made in datasets))


def _make_key(link: Link) -> tuple[object, ...]:
    made = link.dataset
    # One ``fit`` makes those for training and for validation at the same line.
    return made.cls, made.origin, link.nested, made.about.element if made.origin.by == "keras" else ""


def chain(known: Mapping[int, MadeDataset], root: int) -> tuple[Link, ...]:
    """From the end to the sources; what a stage's function makes comes right after the stage."""
    links: list[Link] = []

    def walk(number: int, nested: int | None) -> None:
        made = known.get(number)
        if made is None or len(links) >= _LONGEST:
            return
        kind = kind_of(made.cls)
        mine = nested
        mapped = made.about.mapped
        loop = kind in _LOOPS and made.graph and (mapped is None or mapped.file.endswith("dataset_autograph.py"))
        if kind not in _NO_STAGES and not loop:
            mine = len(links)
            links.append(Link(made, nested))
            if made.function_graph:
                inner = [item.number for item in known.values() if item.graph == made.function_graph]
                # Of several (a reader is made of others) the last one is what the function returns.
                if inner and made.number not in inner:
                    walk(max(inner), mine)
        for item in made.inputs:
            walk(item, nested)

    walk(root, None)
    return tuple(links)
