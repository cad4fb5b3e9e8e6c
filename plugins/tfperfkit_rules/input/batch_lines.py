"""Where the Python that prepares batches spends its time: by samples, else by what its source reads.

Keras takes the first batch of a ``PyDataset`` or a generator on the main thread; the others are made on a thread of
tf.data's. Both are sampled, other processes are not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import MIN, Frame, Place, Stack, read_log
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import name_apis
from tfperfkit_rules.measures.kinds import KINDS, kind_of
from tfperfkit_rules.measures.source_text import find_function

#: Rows of samples of threads on which TensorFlow calls Python.
CALLED = "called"
READING = next(kind for kind in KINDS if kind.word == "reading")
#: An array that stays in its file, by its key: each access to elements of it reads. ``file["x"][:]`` is in memory.
_IN_FILES = re.compile(r"^(h5py|zarr|netCDF4|tables)\.[\w.]+\(\)[\w.]*\[\]$")
_IN_CHUNKS = re.compile(r"^(h5py|zarr|netCDF4|tables)\.")


class BatchLine(NamedTuple):
    """The innermost line of the user's with most of the time. ``part``: of the ``samples`` in the function; both 0
    where the source tells. ``reads``: what it does is mostly reading files; ``chunks``: that keep arrays in chunks."""

    place: Place
    function: str
    part: float
    samples: int
    reads: bool
    chunks: bool


def batch_line(evidence: Evidence, function: SourceSpan | None, *, sampled: bool) -> BatchLine | None:
    """None where neither samples nor the source tell. ``sampled``: its batches are made in this process."""
    own = find_function(evidence, function.file, function.line) if function is not None else None
    if function is None or own is None or own.line != function.line:
        return None
    leaves: Counter[Frame] = Counter()
    for stack in _stacks(evidence) if sampled else ():
        if stack.activity != "tracing" and any(
            frame.file == function.file and own.first <= frame.line <= own.last for frame in stack.frames
        ):
            leaves[stack.frames[-1]] += 1
    if leaves.total() < MIN:
        return _by_source(evidence, function, own.first, own.last)
    line = _most(evidence, leaves)
    within = own.first <= line.place[1] <= own.last and line.place[0] == function.file
    return line._replace(function=function.function) if within else line


def _most(evidence: Evidence, leaves: Counter[Frame]) -> BatchLine:
    places: Counter[tuple[Place, str]] = Counter()
    for frame, count in leaves.items():
        places[(frame.file, frame.line), frame.name] += count
    ((place, name), most), *_ = places.most_common(1)
    reading = Counter({frame: n for frame, n in leaves.items() if kind_of(evidence, frame) is READING})
    return BatchLine(
        place=place,
        function=name,
        part=most / leaves.total(),
        samples=leaves.total(),
        reads=reading.total() >= shared.MOSTLY.value * leaves.total(),
        chunks=any(_IN_CHUNKS.search(word) for frame in reading for word in name_apis(evidence, frame)),
    )


def called_line(evidence: Evidence) -> BatchLine | None:
    """Return the line of what TensorFlow calls on its own threads, whatever that is; None with too few samples."""
    leaves: Counter[Frame] = Counter(stack.frames[-1] for stack in _called(evidence))
    return _most(evidence, leaves) if leaves.total() >= MIN else None


def _stacks(evidence: Evidence) -> Iterator[Stack]:
    yield from (stack for _, stack in evidence.log.inside(evidence.log.whole))
    yield from _called(evidence)


def _called(evidence: Evidence) -> Iterator[Stack]:
    log = read_log(evidence.records("samples"), CALLED)
    yield from (stack for _, stack in log.inside(log.whole) if stack.frames and stack.activity != "tracing")


def _by_source(evidence: Evidence, function: SourceSpan, first: int, last: int) -> BatchLine | None:
    """Return the first line of the function that takes elements of an array which stays in its file."""
    syntax = evidence.syntax(function.file)
    lines = [
        node.line
        for node in (syntax.find_expressions("subscript") if syntax is not None else ())
        if node.is_read and first <= node.line <= last
        if node.owner is not None and _IN_FILES.search(node.owner.api)
    ]
    return BatchLine((function.file, min(lines)), function.function, 0.0, 0, True, True) if lines else None
