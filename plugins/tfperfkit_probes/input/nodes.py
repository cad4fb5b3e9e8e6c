"""From readings of an iterator's model to figures by stage, and the order in which stages are set side by side."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from tfperfkit.records.pipelines import Node
from tfperfkit_probes.input.streams import Reading

Path = tuple[str, ...]
_WRAPPED = re.compile(r"^_|Dataset(V\d+)?$|V\d+$")
_VARIANT = re.compile(r"^(Legacy)?(Parallel|Forever|Finite|Empty|Memory(?=Cache)|File(?=Cache))")
#: The stages of the source that one stage of the optimised graph replaces, from the end of the pipeline to its source.
#: The last has the time.
FUSED = {
    "MapAndBatch": ("Batch", "Map"),
    "ParallelMapAndBatch": ("Batch", "Map"),
    "ShuffleAndRepeat": ("Repeat", "Shuffle"),
}
_ALIASES = {"FromTensor": "Tensor", "PaddedBatch": "Batch"}


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """One stage of the running pipeline. Figures are per element at the pipeline's end."""

    name: str
    path: tuple[str, ...]
    self_ns: float | None  # None: not told apart from waiting
    elements: float
    parallelism: float | None = None
    buffer: float | None = None
    buffered: float | None = None
    tuned: bool = False
    nested: bool = False  # runs inside the function of a stage above
    filled: float | None = None  # of padded batches: bytes that went in over bytes that came out


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """A pipeline's stages from its end to its source, and how many elements the end gave in how many steps."""

    stages: tuple[Measured, ...]
    outputs: int
    steps: int  # 0: not known
    step_outputs: int  # elements in those steps
    readings: int
    each: float = 0.0  # elements that an iterator had given when it was last read, in the mean


def kind_of(name: str) -> str:
    """Return a stage's name without what changes from version to version: "_ParallelMapDataset" → "ParallelMap"."""
    previous = ""
    while previous != name:
        previous, name = name, _WRAPPED.sub("", name)
    return name


def family(name: str) -> str:
    """Stages of one family do the same: "ParallelMapV2" and "_MapDataset" are both "Map"."""
    kind = _ALIASES.get(kind_of(name), kind_of(name))
    return _VARIANT.sub("", _ALIASES.get(kind, kind)) or kind


def measure(readings: Iterable[Reading]) -> Measurement | None:
    """The figures of all iterators of one pipeline together. None where no element was fetched between readings.

    Added up from reading to reading of each iterator; of one that was read once, from its making on. A stretch at
    whose end a stage is gone (its source was exhausted) is left out: TensorFlow forgets its figures.
    """
    by_iterator: dict[int, list[Reading]] = {}
    for reading in readings:
        by_iterator.setdefault(reading.iterator, []).append(reading)
    sums: dict[Path, list[int]] = {}
    last: dict[Path, Node] = {}
    buffered: dict[Path, list[int]] = {}
    order: tuple[tuple[Path, bool], ...] = ()
    outputs = steps = step_outputs = number = 0
    given_by: list[int] = []
    for rows in by_iterator.values():
        tables = [_table(row) for row in rows]
        given_by.append(max(map(_elements, tables)))
        # Without a second reading the first one tells, though it holds the filling of buffers too.
        stretches = list(zip(tables, tables[1:], strict=False)) or [({}, tables[0])]
        numbers: list[tuple[Reading | None, Reading]] = list(zip(rows, rows[1:], strict=False)) or [(None, rows[0])]
        for (begin, end), (before, after) in zip(stretches, numbers, strict=True):
            given = _elements(end) - _elements(begin)
            if given <= 0 or not begin.keys() <= end.keys():
                continue
            number += 1
            outputs += given
            if before is not None and before.step and after.step > before.step:
                steps += after.step - before.step
                step_outputs += given
            known = {node.id: node for nodes, _ in begin.values() for node in nodes}
            for path, (nodes, _) in end.items():
                entry = sums.setdefault(path, [0, 0, 0])
                for node in nodes:
                    old = known.get(node.id)
                    entry[0] += max(node.processing_ns - (old.processing_ns if old else 0), 0)
                    entry[1] += max(node.elements - (old.elements if old else 0), 0)
                    entry[2] += max(node.produced_bytes - (old.produced_bytes if old else 0), 0)
                last[path] = nodes[0]
                buffered.setdefault(path, []).append(sum(node.buffered for node in nodes))
            if len(end) > len(order):
                order = tuple((path, nested) for path, (_, nested) in end.items())
    if not outputs:
        return None
    stages = tuple(
        Measured(
            name=last[path].name,
            path=path,
            self_ns=sums[path][0] / outputs,
            elements=sums[path][1] / outputs,
            parallelism=last[path].parallelism,
            buffer=last[path].buffer,
            buffered=sum(buffered[path]) / len(buffered[path]),
            tuned=last[path].tuned,
            nested=nested,
            filled=_filled(path, sums) if kind_of(last[path].name) == "PaddedBatch" else None,
        )
        for path, nested in order
        if len(path) > 1
    )
    return Measurement(
        stages=_folded(stages),
        outputs=outputs,
        steps=steps,
        step_outputs=step_outputs,
        readings=number,
        each=sum(given_by) / len(given_by),
    )


def _filled(path: Path, sums: dict[Path, list[int]]) -> float | None:
    """Return the part of a stage's output, in bytes, that went in: its input's output, if it has an input."""
    made = sums[path][2]
    inputs = [given for below, given in sums.items() if below[: len(path)] == path and len(below) == len(path) + 1]
    return min(1.0, inputs[0][2] / made) if made and len(inputs) == 1 and inputs[0][2] else None


def _folded(stages: tuple[Measured, ...]) -> tuple[Measured, ...]:
    """Join a cache with its second node, which does its work: one stage."""
    found: list[Measured] = []
    for stage in stages:
        if stage.name.endswith("Impl") and found:
            found[-1] = msgspec.structs.replace(found[-1], self_ns=(found[-1].self_ns or 0.0) + (stage.self_ns or 0.0))
        else:
            found.append(stage)
    return tuple(found)


def _elements(table: dict[Path, tuple[list[Node], bool]]) -> int:
    return next((nodes[0].elements for path, (nodes, _) in table.items() if len(path) == 1), 0)


def _table(reading: Reading) -> dict[Path, tuple[list[Node], bool]]:
    """The nodes by path from the root, in order from the end to the sources.

    Stages that a stage like ``interleave`` runs several times at once are one path, which comes before the stage's own
    input.
    """
    nodes = {node.id: node for node in reading.nodes}
    found: dict[Path, tuple[list[Node], bool]] = {}

    def walk(node: Node, path: Path, nested: bool, depth: int) -> None:
        found.setdefault(path, ([], nested))[0].append(node)
        if depth > 60:
            return
        inputs = [nodes[item] for item in node.inputs if item in nodes]
        if family(node.name) in ("Interleave", "FlatMap"):
            for item in inputs[1:]:
                walk(item, (*path, f"{item.name}*"), True, depth + 1)
            inputs = inputs[:1]
        for place, item in enumerate(inputs):
            walk(item, (*path, item.name if not place else f"{item.name}#{place}"), nested, depth + 1)

    root = nodes.get(reading.root)
    if root is not None:
        walk(root, (root.name,), False, 0)
    return found


def align(ours: Sequence[str], theirs: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Both sequences of names side by side, in order: the longest common subsequence by family is matched."""
    left, right = [family(name) for name in ours], [family(name) for name in theirs]
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i in range(len(left) - 1, -1, -1):
        for j in range(len(right) - 1, -1, -1):
            match = best[i + 1][j + 1] + 1 if left[i] == right[j] else 0
            best[i][j] = max(match, best[i + 1][j], best[i][j + 1])
    pairs: list[tuple[int | None, int | None]] = []
    i = j = 0
    while i < len(left) or j < len(right):
        if i < len(left) and j < len(right) and left[i] == right[j] and best[i][j] == best[i + 1][j + 1] + 1:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif j < len(right) and (i == len(left) or best[i][j + 1] >= best[i + 1][j]):
            pairs.append((None, j))
            j += 1
        else:
            pairs.append((i, None))
            i += 1
    return pairs
