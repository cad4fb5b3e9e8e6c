"""INP014: a generator, a PyDataset or a mapped Python function opens the same file again and again.

An audit hook counts the lines that open files. tf.data runs such Python on threads of its own, which are sampled from
the second opening on: the samples show which share of this Python is loading. Files that TensorFlow or HDF5 opens in C
are not seen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from tfperfkit_probes.input.model import KerasInput, Loader, Stage

from tfperfkit import gain
from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, price
from tfperfkit.records.samples import MIN, Place, Samples, read_log
from tfperfkit.records.spans import Span
from tfperfkit.remedy import Hoist
from tfperfkit.rule import Evidence
from tfperfkit_rules.input.also_validated import also_validated
from tfperfkit_rules.input.interpreter_lock import Lock, lock
from tfperfkit_rules.input.python_batches import keras_input, python_stage, python_words
from tfperfkit_rules.input.reloading import ONLY_LOADS, function_at, loading_lines, opened_files
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.feed import Feed, feed, own_time, places, waiting
from tfperfkit_rules.measures.input_bounds import MIN_PART
from tfperfkit_rules.measures.source_text import find_function, find_yielding_loops

MIN_AGAIN = Threshold(
    3.0, "number", "minimum number of opens of a file, in all or per pass over many files", Chosen("two may be chance")
)
FEW_FILES = Threshold(
    2,
    "count",
    "maximum number of files of one line that each pass may keep loaded",
    Chosen("examples and their labels"),
)


TITLES = {"INP014": "A file is reopened for every batch"}


class _Load(NamedTuple):
    """``where``: from the outermost call that only loads to the line that opens; ``lines``: that take the time."""

    loader: Loader
    where: tuple[SourceSpan, ...]
    lines: frozenset[Place]


@also_validated
def opened_again(evidence: Evidence) -> Iterator[Finding]:
    """INP014: most of what the pipeline's Python does is loading a file that it had loaded before."""
    item = feed(evidence)
    stage = python_stage(item.pipeline, item.bound) if item is not None and item.bound is not None else None
    if item is None or stage is None or item.part(stage) < MIN_PART.value:
        return
    again = [row for row in opened_files(evidence) if _is_opened_again(row, item)]
    samples = read_log(evidence.records("samples"), "beside").samples(_spans(evidence)) if again else Samples()
    if samples.count < MIN:
        return
    loads = [load for row in again if (load := _load(evidence, samples, row)).lines]
    taken = [(load, _sampled(samples, load.lines)) for load in loads]
    taken = sorted((row for row in taken if row[1]), key=lambda row: -row[1])
    share = _sampled(samples, frozenset().union(*(load.lines for load in loads))) / samples.count
    if not taken or share < MIN_PART.value:
        return
    source = keras_input(evidence, item.pipeline)
    held = lock(evidence, item.pipeline, stage) if item.overlaps else Lock()
    left = max(held.left(item.min_other_ms) - evidence.part("gc"), shared.MIN_REST_MS.value)
    part = gain.interval(share, samples.count)
    first = taken[0][0]
    yield Finding(
        code="INP014",
        remedy=Hoist("reader"),
        title=f"{_files(first.loader)} {_often(first.loader, item)} by {python_words(evidence, stage, source)}",
        share_of_step=item.share,
        gain=price(Hoist("reader"), left=_rerun(item, stage, left, part)),
        where=places(evidence, *(span for load, _ in taken for span in load.where), *_lines(taken), stage.mapped),
        evidence=(
            *waiting(item, evidence.unit),
            Measurement("share of loading in the Python that prepares batches", share, "share", "samples"),
            Measurement(
                "times the file was opened", float(sum(load.loader.opens for load, _ in taken)), "count", "run"
            ),
            Measurement("size of the file", first.loader.bytes_per_step / first.loader.opens_per_step, "bytes", "run"),
            *own_time(stage),
        ),
        advice=_advice(first.loader, stage, source),
        detail="Each time, what was loaded is discarded after a part of it was used.",
        absorbs=(
            "INP001",
            "INP003",
            "INP004",
            *(("INP005", "OPS004", "STP017") if share >= shared.MOSTLY.value else ()),
        ),
    )


def _is_opened_again(row: Loader, item: Feed) -> bool:
    """Files that are opened more often than once for each pass over the data; one or two files, also once a pass."""
    each = row.opens / row.paths
    return each >= MIN_AGAIN.value * (1 if row.paths <= FEW_FILES.value else max(item.pipeline.iterators, 1))


def _spans(evidence: Evidence) -> list[Span]:
    """Return the span from the first step to the last, with the beginnings of epochs; for other work, all of it."""
    steps = evidence.steps.steps
    if evidence.work is not None or not steps:
        return list(evidence.log.whole)
    return [(steps[0].begin_ns, steps[-1].end_ns)]


def _load(evidence: Evidence, samples: Samples, row: Loader) -> _Load:
    """The lines that load, and the calls around them that do nothing else."""
    chain, depth = row.chain, 0
    lines = _loading(evidence, samples, row, 0)
    for index in range(1, len(chain)):
        key = function_at(samples, chain[index - 1])
        whole = sum(samples.doing_in(key).values()) if key is not None else 0
        if not whole or _sampled(samples, lines) < ONLY_LOADS.value * whole:
            break
        depth = index
        lines = _loading(evidence, samples, row, index)
    return _Load(row, tuple(reversed(chain[: depth + 1])), lines)


def _loading(evidence: Evidence, samples: Samples, row: Loader, depth: int) -> frozenset[Place]:
    """In the function of ``row.chain[depth]``.

    Code in a loop that yields runs for each element, not each time that the file is opened before the loop: that is
    reading, not loading again.
    """
    at = row.chain[depth]
    key = function_at(samples, at)
    apart = [loop for loop in find_yielding_loops(evidence, at.file, at.line) if not loop.line <= at.line <= loop.last]
    found = loading_lines(evidence, samples, key, row) if depth == 0 else [at.line]
    function = find_function(evidence, at.file, at.line)
    return frozenset(
        (at.file, line)
        for line in found
        if not any(loop.line <= line <= loop.last for loop in apart)
        and (function is None or function.line <= line <= function.last)
    )


def _sampled(samples: Samples, lines: frozenset[Place]) -> int:
    return sum(
        count
        for stack, count in samples.stacks.items()
        if any((frame.file, frame.line) in lines for frame in stack.frames)
    )


def _lines(taken: list[tuple[_Load, int]]) -> list[SourceSpan]:
    there = {(span.file, span.line) for load, _ in taken for span in load.where}
    return [
        SourceSpan(file, line, load.where[-1].function)
        for load, _ in taken
        for file, line in sorted(load.lines)
        if (file, line) not in there
    ]


def _rerun(item: Feed, stage: Stage, left: float, loading: tuple[float, float]) -> Left:
    """The step when so much (min, max) of the stage's time is gone. ``left``: of the rest of the step at
    best: what is loaded no more needs no garbage collection either."""
    worked = item.section_ms * item.part(stage)
    rest = item.section_ms - worked
    lower, upper = (rest + (1 - part) * worked for part in reversed(loading))
    return Left(item.rerun(max(left, lower), item.step_ms).low, item.after(lower, upper).high)


def _files(row: Loader) -> str:
    name = os.path.basename(row.path)
    return f"{name} is reopened" if row.paths <= FEW_FILES.value else f"Files like {name} are reopened"


def _often(row: Loader, item: Feed) -> str:
    each = row.opens_per_step / item.batches if item.batches else 0.0
    if abs(each - 1) <= 1 - shared.NEARLY_ALWAYS.value:
        return "for every batch"
    return f"{each:.0f} times for every batch" if each > 1 + shared.MOSTLY.value else f"{row.opens:,} times"


def _advice(row: Loader, stage: Stage, source: KerasInput | None) -> str:
    name = os.path.basename(row.path)
    if row.paths > FEW_FILES.value:
        return (
            "Cache the function that loads one file, @functools.lru_cache(maxsize=8), and go through the examples file "
            "by file. Or: write the examples once in the order in which they are read."
        )
    if source is not None and source.kind == "PyDataset":
        owner = source.cls or "the class"
        text = f"Load {name} once, in {owner}.__init__, and keep the arrays; __getitem__ then only picks its batch."
    else:
        function = stage.mapped.function if stage.mapped is not None else "the generator"
        text = f"Load {name} once, before {function} begins, and let it only pick from the arrays."
    return (
        f'{text} Or: keep the file open if it does not fit into memory: np.load(path, mmap_mode="r") of a .npy, an '
        "h5py.File."
    )
