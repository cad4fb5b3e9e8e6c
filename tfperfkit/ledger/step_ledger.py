"""The mean step, or one iteration of other work, by call site: its account divided over the sampled stacks.

A sample stands for its part's time in the account, so the ledger's parts are those of the account, in ms. Garbage
collections and traces are timed one by one. No sample falls into a collection, so collections are placed by what ran
right after.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.model import StepAccount
from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.samples import MIN, SampleLog, Samples, Stack
from tfperfkit.records.spans import Span, Spans

#: A sample this soon after a garbage collection tells what the collection interrupted: twice the pause between two
#: samples.
_AFTER_NS = 20_000_000


def make_step_ledger(
    account: StepAccount | None,
    samples: Samples,
    log: SampleLog,
    clean: Sequence[Span],
    timed: Mapping[PartName, Spans],
) -> Ledger:
    """Divide the account of the mean step over the stacks; times in ms.

    Without an account all samples count the same, and the total is the time that they span. The ledger is empty if
    there are fewer than ``MIN`` samples. ``clean``: the steps that the account is of, in order. ``timed``: when a part
    ran, for the parts that were timed one by one; they are used for a part on which no sample fell.
    """
    if samples.count < MIN:
        return Ledger()
    parts_ms = account.parts_ms if account is not None else {}
    if not parts_ms:
        whole = account.mean_ms if account is not None and account.mean_ms else samples.span_s * 1e3
        each = whole / samples.count
        return Ledger(Entry(stack, part_of_stack(stack), count * each) for stack, count in samples.stacks.items())
    seen: Counter[PartName] = Counter()
    for stack, count in samples.stacks.items():
        seen[part_of_stack(stack)] += count
    entries = [
        Entry(stack, part, count * parts_ms.get(part, 0.0) / seen[part])
        for stack, count in samples.stacks.items()
        for part in (part_of_stack(stack),)
    ]
    unplaced = {part: ms for part, ms in parts_ms.items() if part not in seen}
    for part in [part for part in unplaced if part in timed]:
        placed = place_spans(part, unplaced[part], log, clean, timed[part])
        placed = placed or place_spans(part, unplaced[part], log, log.whole, timed[part])
        unplaced[part] -= sum(entry.value for entry in placed)
        entries += placed
    return Ledger(entries, unplaced)


def part_of_stack(stack: Stack) -> PartName:
    """Return the part of the account that a stack counts for."""
    return "evaluate" if stack.context == "evaluate" else part_of(stack.activity) or "other"


def place_spans(
    part: PartName, total_ms: float, log: SampleLog, clean: Sequence[Span], spans: Iterable[Span]
) -> list[Entry]:
    """Divide the time of a part over the stacks that were seen first within its spans or right after them.

    Time that no sample followed is in no entry.
    """
    begun, samples, index = [begin for begin, _ in clean], log.inside(clean), 0
    took: defaultdict[int, int] = defaultdict(int)
    whole = 0
    stacks: dict[int, Stack] = {}
    for begin, end in spans if total_ms > 0 and samples else ():
        step = bisect.bisect_right(begun, begin) - 1
        if step < 0 or begin >= clean[step][1]:
            continue
        whole += end - begin
        while index < len(samples) and samples[index][0] < begin:
            index += 1
        if index < len(samples) and samples[index][0] <= end + _AFTER_NS:
            stack = samples[index][1]
            took[id(stack)] += end - begin
            stacks[id(stack)] = stack
    return [Entry(stacks[key], part, total_ms * ns / whole) for key, ns in took.items()]
