"""Facts that stack samples of one rank show about its computing and its waiting, without a trace.

A sample of a process that trains with others has the processor time of the process. While the training thread is in a
compiled function and the process uses a processor, it computes, and else it waits for the others or for what they send.
Threads that are ready and have no processor compute too, only longer: the scheduler tells how much.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any, NamedTuple

import msgspec

from tfperfkit.clock import ms
from tfperfkit.records.samples import MIN, NEAR_NS
from tfperfkit.records.steps import StepTable
from tfperfkit.rule import Evidence

#: Steps that are looked at together.
BLOCK = 10


class Sampled(msgspec.Struct, frozen=True, kw_only=True):
    """``compute_share``: of the time in compiled functions, in which the process computed, without what passes there
    of its input (``StepAccount.input_in_graph_ms``). ``stretched``: how much longer that took because threads waited
    for CPU cores (1: not at all). ``own_ms``: of a step, out of compiled functions or
    computing in them, by block of ``BLOCK`` steps (a step's number, divided); empty in watch mode, whose samples
    are too far apart for that."""

    compute_share: float
    stretched: float
    own_ms: dict[int, float]


def sampled(evidence: Evidence) -> Sampled | None:
    """None where samples have no processor time, or are too few."""
    activities, taken = _read_samples(evidence)
    table = evidence.steps
    clean = sorted(table.clean, key=lambda step: step.begin_ns)
    begins = [step.begin_ns for step in clean]
    inside = count = 0
    computed = 0.0
    stretched = _stretched(evidence)
    own: defaultdict[int, float] = defaultdict(float)
    whole: defaultdict[int, int] = defaultdict(int)
    index, last = -1, len(begins) - 1
    alone = any(row.paired for row in taken)
    for when, stack, busy_ns, passed, _ in taken:
        while index < last and begins[index + 1] <= when:
            index += 1
        if passed <= 0 or index < 0 or (when > clean[index].end_ns and not _covers(clean, index)):
            continue
        block = clean[index].number // BLOCK
        if passed > NEAR_NS:
            if collected := evidence.collections.overlap(when - passed, when):  # nobody samples then
                own[block] += collected
                whole[block] += collected
            continue
        in_graph = activities.get(stack) == "graph"
        whole[block] += passed
        if in_graph:
            busy = min(max(busy_ns, 0) * stretched, passed)
            count += 1
            inside += passed
            computed += busy
            own[block] += busy
        else:
            own[block] += passed
    if count < MIN or not inside:
        return None
    lengths = _lengths(table)
    account = evidence.account
    # Compiled functions in which the rank waits for its own input: their part in the account is without it.
    waits = account.input_in_graph_ms if account is not None else 0.0
    graph = account.parts_ms.get("graph", 0.0) if account is not None else 0.0
    share = computed / inside * ((graph + waits) / graph if graph > 0 else 1.0)
    return Sampled(
        compute_share=min(share, 1.0),
        stretched=stretched,
        own_ms={
            block: min(own[block] / whole[block] * lengths[block] + waits, lengths[block])
            for block in whole
            if block in lengths and not alone
        },
    )


def _stretched(evidence: Evidence) -> float:
    """Time on a processor and ready for one, by time on one, of all threads in the clean steps."""
    clean = evidence.steps.clean
    rows = [
        row
        for row in evidence.records("threads")
        if isinstance(row, list) and len(row) == 3 and all(isinstance(value, int) for value in row)
    ]
    inside = [row for row in rows if clean and clean[0].begin_ns <= row[0] <= clean[-1].end_ns]
    if len(inside) < 2:
        return 1.0
    ran, waited = (inside[-1][column] - inside[0][column] for column in (1, 2))
    return (ran + waited) / ran if ran > 0 and waited > 0 else 1.0


def _covers(clean: list[Any], index: int) -> bool:
    """Return whether what passes after this clean step is between it and the next one, which is clean too."""
    step = clean[index]
    return index + 1 < len(clean) and clean[index + 1].number == step.number + step.count


def _lengths(table: StepTable) -> dict[int, float]:
    """ms from a clean step's begin to the next one's, by block: the mean."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    for step, after in zip(table.steps, table.steps[1:], strict=False):
        if step.window == after.window == "clean":
            found[step.number // BLOCK].append(ms(after.begin_ns - step.begin_ns) / step.count)
    return {block: sum(each) / len(each) for block, each in found.items()}


class _Taken(NamedTuple):
    """A sample: when, its stack, what the process had of processors in the ns that had passed since the time was read
    before; whether that was read for this sample alone."""

    when: int
    stack: int
    used: int
    passed: int
    paired: bool


def _read_samples(evidence: Evidence) -> tuple[dict[int, str], list[_Taken]]:
    """Return the activities by stack, and the samples in their order without the first."""
    activities: dict[int, str] = {}
    taken: list[tuple[int, ...]] = []
    for row in evidence.records("samples"):
        if type(row) is not list or len(row) < 5:
            continue
        if row[0] == "s":
            numbers = (*row[1:3], *row[4:7])
            if all(type(number) is int for number in numbers):
                taken.append(numbers)
        elif row[0] == "stack" and type(row[1]) is int:
            activities[row[1]] = str(row[4])
    taken.sort()
    found = []
    for last, (when, stack, used, *before) in zip(taken, taken[1:], strict=False):
        then, had = before if len(before) == 2 else (last[0], last[2])
        found.append(_Taken(when, stack, used - had, when - then, len(before) == 2))
    return activities, found
