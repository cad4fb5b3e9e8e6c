"""Loaders written by hand: files that the user's lines open during training, and functions that return the same."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tfperfkit.clock import ms
from tfperfkit.model import SourceSpan
from tfperfkit.probe import Capture
from tfperfkit.records.convert import each
from tfperfkit.records.samples import MIN, Samples
from tfperfkit.records.steps import Site, StepTable
from tfperfkit_probes.input.model import ConstantFunction, Loader
from tfperfkit_probes.input.streams import Watched

#: Fewer opens during training than this are no loader: a checkpoint, a vocabulary.
MIN_OPENS = 4
#: Opens that fall in fewer steps are of something done once.
MIN_STEPS = 3
_CODE = (".py", ".pyc", ".so")  # an import in the midst of training
#: A call below which more than this share of all of TensorFlow's samples lies does more than load.
MIXED = 0.3
#: Functions that take less of a step are left out.
MIN_SHARE = 0.01
#: Equal values count from this size in bytes on: a number or a flag that stays the same costs nothing.
MIN_BYTES = 256


#: file, line, function
Place = tuple[str, int, str]


class Opened(msgspec.Struct, frozen=True, array_like=True):
    """A record of the session's stream ``opens``: a file that the lines of ``chain`` open, innermost first."""

    path: str
    chain: tuple[Place, ...]
    count: int
    first_ns: int
    last_ns: int
    bytes: int


def loaders(
    table: StepTable,
    opens: Iterable[Any],
    sites: Iterable[Site],
    samples: Samples,
    step_ms: float | None,
    min_steps: int = MIN_STEPS,
) -> tuple[Loader, ...]:
    """Group by the calls that lead to the file, the most time first. ``opens`` and ``sites``: the session's, which
    keeps them whatever probes were asked for. ``min_steps``: in which opens must fall."""
    steps = table.steps
    if not steps:
        return ()
    grouped: dict[tuple[Place, ...], dict[str, Opened]] = {}
    for row in each(iter(opens), Opened):
        if row.chain:
            grouped.setdefault(row.chain, {})[row.path] = row  # a later row of the same file has the newer count
    updating = {place for site in sites for place in site.chain}
    found = []
    for chain, files in grouped.items():
        # A file opened once, before the first step or in it, was loaded for good.
        rows = [row for row in files.values() if row.last_ns >= steps[0].begin_ns]
        rows = [row for row in rows if not row.path.endswith(_CODE)]
        count = sum(row.count for row in rows)
        if count < MIN_OPENS:
            continue
        begin, end = min(row.first_ns for row in rows), max(row.last_ns for row in rows)
        if sum(step.count for step in steps if begin <= step.end_ns and step.begin_ns <= end) < min_steps:
            continue
        passed = sum(step.count for step in steps if begin <= step.end_ns)
        loader, share = _loader(chain, updating, samples)
        found.append(
            Loader(
                path=rows[0].path,
                paths=len(rows),
                chain=tuple(SourceSpan(*place) for place in chain),
                loader=SourceSpan(*loader),
                opens=count,
                opens_per_step=count / passed,
                bytes_per_step=sum(row.count * row.bytes for row in rows) / passed,
                share_of_step=share,
                ms_per_step=step_ms * share if step_ms is not None and share is not None else None,
            )
        )
    return tuple(sorted(found, key=lambda item: (-(item.share_of_step or 0.0), -item.opens_per_step)))


def _loader(chain: tuple[Place, ...], updating: set[tuple[str, int]], samples: Samples) -> tuple[Place, float | None]:
    """The outermost call on the way to the file that does nothing of the step but load, and its share."""
    loader = chain[0]
    for place in chain:
        if place[:2] in updating or samples.tensorflow_share((place[0], place[1])) > MIXED:
            break
        loader = place
    return loader, samples.share((loader[0], loader[1])) if samples.count >= MIN else None


def constant_functions(watched: Sequence[Watched], samples: Samples) -> tuple[ConstantFunction, ...]:
    """Functions with one value in all watched calls of two steps and more. The share is of all lines of the function;
    with recursion it would count twice, so it is held at 1."""
    values: dict[tuple[str, int, str], Counter[str]] = {}
    about: dict[tuple[str, int, str], list[Any]] = {}
    for step in watched:
        for row in step.functions:
            key = (row.file, row.line, row.function)
            values.setdefault(key, Counter()).update(row.values)
            entry = about.setdefault(key, [0, 0, 0, row.what, row.size])
            entry[0] += row.calls
            entry[1] += 1
            entry[2] += row.calls - sum(row.values.values())
    shares: defaultdict[tuple[str, int], float] = defaultdict(float)
    for (file, line, _), lines in samples.by_function().items():
        shares[file, line] += sum(lines.values())
    found = []
    for key, seen in values.items():
        calls, steps, unknown, what, size = about[key]
        share = min(shares[key[:2]], 1.0) if samples.count >= MIN else None
        if len(seen) != 1 or unknown or steps < 2 or size < MIN_BYTES or (share is not None and share < MIN_SHARE):
            continue
        found.append(
            ConstantFunction(
                file=key[0],
                line=key[1],
                function=key[2],
                calls=calls,
                steps=steps,
                calls_per_step=calls / steps,
                returns=what,
                size=size,
                share_of_step=share,
            )
        )
    return tuple(sorted(found, key=lambda item: -(item.share_of_step or 0.0)))


def typical_step_ms(capture: Capture) -> float | None:
    """The median of the clean steps; of all where none was."""
    durations = sorted(step.duration_ns for step in capture.steps.clean or capture.steps.steps)
    return ms(durations[len(durations) // 2]) if durations else None
