"""The lines where the Python that prepares batches spends its time: by samples, else by the reads in its source.

Keras takes the first batch of a ``PyDataset`` or a generator on the main thread; the others are made on a thread of
tf.data's. Both are sampled, other processes are not. A call of C code that keeps the interpreter's lock, such as
``tf.convert_to_tensor`` of a list, starves the sampler too: the first sample after it is at its line, and stands for
all of the time since the sample before. A line of NumPy that releases the lock attracts the samples of its neighbours:
the sampler gets the lock there. Unless nearly all samples are on such a line, the function around it is reported.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import NS_PER_S
from tfperfkit.model import SourceSpan
from tfperfkit.records.samples import FAST_S, MIN, Frame, Place, Stack, read_log
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit.syntax.function import Function
from tfperfkit.syntax.repeated_items import depends_on_number_only
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import name_apis, name_package
from tfperfkit_rules.measures.kinds import KINDS, Kind, kind_of
from tfperfkit_rules.measures.list_tensors import name_list_maker
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.source_text import find_function, find_running_calls

STARVED_MIN = Threshold(
    5,
    "samples",
    "minimum number of samples of what prepares batches, if they stand for as long as 20 usual ones do",
    Chosen("four may be chance; a call that keeps the interpreter's lock leaves one sample for each batch"),
)
CERTAIN_LINE = Threshold(
    0.9,
    "share",
    "minimum share of a function's samples on a line that releases the interpreter's lock, for that line to be named",
    Chosen("np.log had 48 % of the samples of a function of which it took 4 %: examples/slow_map.py, line_profiler"),
)
#: Libraries whose C code releases the interpreter's lock.
_RELEASE = ("numpy", "scipy")
#: Rows of samples of threads on which TensorFlow calls Python.
CALLED = "called"
READING = next(kind for kind in KINDS if kind.word == "reading")
#: An array that stays in its file, by its key: each access to elements of it reads. ``file["x"][:]`` is in memory.
_IN_FILES = re.compile(r"^(h5py|zarr|netCDF4|tables)\.[\w.]+\(\)[\w.]*\[\]$")
_IN_CHUNKS = re.compile(r"^(h5py|zarr|netCDF4|tables)\.")


class BatchLine(NamedTuple):
    """The innermost line of the user's with most of the time. ``part``: of the time of the ``samples`` in the function;
    both 0 where the source tells. ``reads``: what it does is mostly reading files; ``chunks``: that keep arrays in
    chunks. ``lists``: the function of TensorFlow by which it makes a tensor of a Python list, or "". ``waited``: the
    share of the time in which it waits, for time, another thread or the network, so that it needs no CPU core;
    ``waits``: what it mostly does meanwhile, if it mostly waits. ``block``: the first and the last of the lines that
    share the time but can't be told apart, in which case the place is the function's; else None."""

    place: Place
    function: str
    part: float
    samples: int
    reads: bool
    chunks: bool
    lists: str = ""
    waited: float = 0.0
    waits: Kind | None = None
    block: tuple[int, int] | None = None


def batch_line(evidence: Evidence, function: SourceSpan | None, *, sampled: bool) -> BatchLine | None:
    """None where neither samples nor the source tell. ``sampled``: its batches are made in this process."""
    own = find_function(evidence, function.file, function.line) if function is not None else None
    if function is None or own is None or own.line != function.line:
        return None
    seen = [
        (stack, ns)
        for stack, ns in (*_read_main(evidence), *_read_called(evidence))
        if any(frame.file == function.file and own.first <= frame.line <= own.last for frame in stack.frames)
    ]
    line = _find_costliest_line(evidence, seen) if sampled else None
    if line is None:
        return _by_source(evidence, function, own.first, own.last)
    within = own.first <= line.place[1] <= own.last and line.place[0] == function.file
    if not within or (line.block and line.place[1] != own.line):
        return line
    return line._replace(function=function.function)


def find_epoch_work(evidence: Evidence, method: SourceSpan | None) -> Call | None:
    """Find the call in ``__getitem__`` that takes most of its time, if each epoch gets the same from it."""
    own = find_function(evidence, method.file, method.line) if method is not None else None
    if method is None or own is None:
        return None
    spent: Counter[Call] = Counter()
    whole = 0
    for stack, ns in _read_called(evidence):
        inside = [frame for frame in stack.frames if frame.file == method.file and own.first <= frame.line <= own.last]
        whole += ns if inside else 0
        calls = [find_running_calls(evidence, frame) for frame in inside]
        spent.update(dict.fromkeys((found[0] for found in calls if len(found) == 1), ns))
    for call, ns in spent.most_common():
        if ns >= shared.MOSTLY.value * whole and depends_on_number_only(call, own):
            return call
    return None


def called_line(evidence: Evidence) -> BatchLine | None:
    """Return the line of what TensorFlow calls on its own threads, whatever that is; None with too few samples."""
    return _find_costliest_line(evidence, _read_called(evidence))


def count_at_once(evidence: Evidence) -> float:
    """Return on how many threads TensorFlow calls Python at the same time, in the mean; 8 at most are sampled."""
    called = read_log(evidence.records("samples"), CALLED)
    ticks = Counter(when for when, stack in called.inside(called.whole) if stack.frames)
    return ticks.total() / len(ticks) if ticks else 1.0


def _find_costliest_line(evidence: Evidence, seen: Sequence[tuple[Stack, int]]) -> BatchLine | None:
    """``seen``: samples with the ns that each stands for. None if there are few, or if they stand for little."""
    if len(seen) < STARVED_MIN.value or sum(ns for _, ns in seen) < MIN * FAST_S * NS_PER_S:
        return None
    leaves: Counter[Frame] = Counter()
    for stack, ns in seen:
        leaves[stack.frames[-1]] += ns
    places: Counter[tuple[Place, str]] = Counter()
    for frame, ns in leaves.items():
        places[(frame.file, frame.line), frame.name] += ns
    ((place, name), most), *_ = places.most_common(1)
    here = [frame for frame, _ in leaves.most_common() if (frame.file, frame.line) == place]
    reading = Counter({frame: n for frame, n in leaves.items() if kind_of(evidence, frame) is READING})
    waiting = Counter[Kind]()
    for frame, ns in leaves.items():
        kind = kind_of(evidence, frame)
        waiting[kind] += ns if _is_waiting(kind) else 0
    waited = waiting.total() / leaves.total()
    block = _find_block(evidence, place, here)
    inside, lines = most, list[int]()
    if block is not None:
        within = {at[1]: ns for (at, _), ns in places.items() if at[0] == place[0] and at[1] in block.lines}
        inside, lines = sum(within.values()), sorted(within)
        if most >= CERTAIN_LINE.value * inside:
            block = None
    return BatchLine(
        place=(place[0], block.line) if block is not None else place,
        function=block.name if block is not None else name,
        part=(most if block is None else inside) / leaves.total(),
        block=(lines[0], lines[-1]) if block is not None else None,
        samples=len(seen),
        reads=reading.total() >= shared.MOSTLY.value * leaves.total(),
        chunks=any(_IN_CHUNKS.search(word) for frame in reading for word in name_apis(evidence, frame)),
        lists=next(filter(None, (name_list_maker(evidence, frame) for frame in here)), ""),
        waited=waited,
        waits=waiting.most_common(1)[0][0] if waited >= shared.MOSTLY.value else None,
    )


def _find_block(evidence: Evidence, place: Place, here: Sequence[Frame]) -> Function | None:
    """Return the function around a line that releases the interpreter's lock; None for a line that keeps it."""
    releases = any(name_package(name_apis(evidence, frame)) in _RELEASE for frame in here)
    return find_function(evidence, *place) if releases else None


def _is_waiting(kind: Kind) -> bool:
    """Whether what a frame does needs no CPU core of this machine."""
    return kind.role == "wait" or kind.word == "network"


def _read_main(evidence: Evidence) -> list[tuple[Stack, int]]:
    """List the samples of the training thread in Python, each with the time since the sample before."""
    return [(stack, ns) for _, stack, ns in moments(evidence) if stack.frames and stack.activity != "tracing"]


def _read_called(evidence: Evidence) -> list[tuple[Stack, int]]:
    """List the samples of threads on which TensorFlow calls Python, each with the time that it stands for.

    That is the time since any thread was sampled before, if the training thread was in C code meanwhile, so that it did
    not hold the lock; else the usual pause between two samples.
    """
    rows = list(evidence.records("samples"))
    own, called = read_log(rows), read_log(rows, CALLED)
    training = dict(own.inside(own.whole))
    found = called.inside(called.whole)
    ticks = sorted({*training, *(when for when, _ in found)})
    before = dict(zip(ticks[1:], ticks, strict=False))
    seen = []
    for when, stack in found:
        usual, other = called.pause(when), training.get(when)
        starved = other is None or other.activity not in ("python", "dispatch", "tracing")
        since = when - before.get(when, when - usual)
        ns = since if starved else min(since, usual)
        if stack.frames and stack.activity != "tracing":
            seen.append((stack, ns))
    return seen


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
