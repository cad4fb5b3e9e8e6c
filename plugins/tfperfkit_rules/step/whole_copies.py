"""STP014: an array is copied whole in each iteration, to make it longer or to change one element.

The source shows a join whose result is assigned to the name that went into it, in a loop. Its samples must grow with
the array. At most a fifth of the time remains.
"""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.graph import optable
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import RanOperations
from tfperfkit.pricing import Left, Part, price
from tfperfkit.records.parts import PartName, part_of
from tfperfkit.records.samples import MIN, Stack
from tfperfkit.records.steps import Step
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.source_text import find_function
from tfperfkit_rules.measures.step_place import TAPE
from tfperfkit_rules.measures.step_shares import callers, span
from tfperfkit_rules.measures.trend import TREND_GROUPS, TREND_ORDER, TREND_STEPS, trend
from tfperfkit_rules.measures.whole_copies import Copied, find_whole_copies
from tfperfkit_rules.step.python_time import MIN_SAMPLES

COPIES_LEFT = Threshold(
    0.2,
    "share",
    "maximum share that remains of copying a whole array in each iteration, if its parts are joined once",
    Chosen("a list that grows and one copy, instead of a hundred iterations that copied fifty times as much"),
)
COPIES_FALL = Threshold(
    0.5,
    "share",
    "share of the iterations before to which iterations fall at once, if a loop starts again with an empty array",
    Derived(
        "from all of the copying to none, where it is half of an iteration or more; a median of five does not halve "
        "by chance"
    ),
)
COPIES_GROW = Threshold(
    1.5,
    "number",
    "minimum ratio of the samples in the second half of the iterations to those in the first, for a join that "
    "takes longer with its array",
    Derived("3 if all of it grows from nothing (a quarter and three quarters); 1 if nothing does"),
)

COPIED_MIN_MS = Threshold(
    0.1,
    "ms",
    "minimum time of an eager operation that copies a tensor to change one row, if a trace timed it",
    Chosen("an operation on a small tensor takes 10 to 50 us; 0.1 ms copies 0.4 MB or more at MEMORY_MIN_BYTES"),
)
#: Functions that take gradients without a tape in a ``with`` statement.
_DIFFERENTIATE = (
    "gradients",
    "ForwardAccumulator",
    "value_and_gradient",
    "value_and_gradients_function",
    "custom_gradient",
)

#: The parts of such a call: Python's own work, and operations called from Python. Compiled operations are excluded.
_PARTS: tuple[PartName, ...] = ("python", "eager_ops", "dispatch")
TITLES = {"STP014": "np.append copies the whole array in every iteration"}
_Place = tuple[str, Copied]  # the file


def copied_to_grow(evidence: Evidence) -> Iterable[Finding]:
    """Find the samples in such a call, or at its line if the call is alone there; the calls of one function are one
    finding, such as the columns of a replay memory.
    """
    if evidence.samples.count < MIN:
        return
    at: defaultdict[_Place, list[Stack]] = defaultdict(list)
    for stack in evidence.samples.stacks:
        copied = _in(evidence, stack) if part_of(stack.activity) in _PARTS else None
        if copied is not None:
            at[stack.frames[-1].file, copied].append(stack)
    together: defaultdict[tuple[str, object], list[_Place]] = defaultdict(list)
    for file, copied in at:
        together[file, find_function(evidence, file, copied.call.line)].append((file, copied))
    found = [(sum(_number(evidence, at[place]) for place in places), places) for places in together.values()]
    for _, places in sorted(found, key=lambda row: -row[0])[:1]:
        places.sort(key=lambda place: -_number(evidence, at[place]))
        grown = [place for place in places if _is_the_copying(evidence, place[1], at[place])]
        stacks = [stack for place in grown for stack in at[place]]
        number = _number(evidence, stacks)
        share = number / evidence.samples.count
        if share < MEDIUM or number < MIN_SAMPLES.value:
            continue
        parts = Counter(part for stack in stacks if (part := part_of(stack.activity)) is not None)
        yield _make_finding(evidence, grown, share, tuple(part for part, _ in parts.most_common()))


def _number(evidence: Evidence, stacks: list[Stack]) -> int:
    return sum(evidence.samples.stacks[stack] for stack in stacks)


def _in(evidence: Evidence, stack: Stack) -> Copied | None:
    leaf = stack.frames[-1] if stack.frames else None
    syntax = evidence.syntax(leaf.file) if leaf is not None else None
    if leaf is None or syntax is None:
        return None
    running = syntax.find_running(leaf.line, leaf.span)
    found = next((copied for copied in find_whole_copies(syntax) if copied.call in running), None)
    return None if found is not None and found.changes_element and _may_be_differentiated(evidence, stack) else found


def _may_be_differentiated(evidence: Evidence, stack: Stack) -> bool:
    """Return whether a gradient may go through what a line computes, which a change in place would break."""
    if evidence.work is not None:
        return False
    for file, syntax in list_files(evidence):
        if any(call.name.rpartition(".")[2] in _DIFFERENTIATE for call in syntax.calls):
            return True
        taped = syntax.find_entered_lines(TAPE)
        if taped is None or any(frame.file == file and frame.line in taped for frame in stack.frames):
            return True
    return False


def _is_the_copying(evidence: Evidence, copied: Copied, stacks: list[Stack]) -> bool:
    """Whether it takes longer the longer the array is. An array of which only a part is kept has reached its size. An
    operation that is called from Python takes time for that alone, so there it must be seen. To change one element in
    place takes negligible time, so there all time is copying."""
    if copied.changes_element:
        return not _is_small(evidence)
    if copied.kept:
        return True
    clean, mine = evidence.steps.clean, set(stacks)
    if len(clean) < TREND_GROUPS.value:
        return all(part_of(stack.activity) == "python" for stack in stacks)
    iterations = _from_the_start(clean)
    early, late = (
        sum(ns * (stack in mine) for stack, ns in evidence.log.weighted([(s.begin_ns, s.end_ns) for s in half]))
        for half in (
            [step for each in iterations for step in each[: len(each) // 2]],
            [step for each in iterations for step in each[len(each) // 2 :]],
        )
    )
    return late >= COPIES_GROW.value * early


def _is_small(evidence: Evidence) -> bool:
    """Return whether a trace shows that these operations take no longer than a small tensor does."""
    ran = evidence.offer(RanOperations)
    scatters = optable.names(kind="scatter", trait="copies-first")
    rows = [row for row in (ran.rows if ran is not None else ()) if row.where == "eager" and row.type in scatters]
    return bool(rows) and sum(row.self_ms for row in rows) < COPIED_MIN_MS.value * sum(row.count for row in rows)


def _from_the_start(steps: Sequence[Step]) -> list[Sequence[Step]]:
    """Return the steps, cut where the loop begins again with an empty array, which shows where iterations are short at
    once and get longer in each piece that is long enough to tell; all of them together, where that is not seen."""
    few = int(TREND_STEPS.value)
    groups = [steps[at : at + few] for at in range(0, len(steps), few)]
    medians = [statistics.median(step.duration_ns for step in group) for group in groups]
    falls = COPIES_FALL.value
    cuts = [at * few for at in range(1, len(groups)) if medians[at] < falls * medians[at - 1]]
    pieces = [steps[begin:end] for begin, end in pairwise([0, *cuts, len(steps)])]
    known = [(piece, found.order) for piece in pieces if (found := trend(piece)) is not None]
    grow = all(order >= TREND_ORDER.value for _, order in known)
    return [piece for piece, _ in known] if known and grow else [steps]


def _make_finding(evidence: Evidence, places: list[_Place], share: float, parts: tuple[PartName, ...]) -> Finding:
    unit = evidence.unit
    lines = [(file, copied.call.line) for file, copied in places]
    names = list(dict.fromkeys(copied.name for _, copied in places))
    some = f"{', '.join(names[:-1])} and {names[-1]}" if names[1:] else names[0]
    function = _name_function(places[0][1])
    return Finding(
        code="STP014",
        remedy=ReplaceOps("array_in_place"),
        title=f"{function} copies all of {some} each time: {100 * share:.0f} % of {unit.a}",
        share_of_step=share,
        gain=price(
            ReplaceOps("array_in_place"), Part.sampled(share, evidence.samples.count), Left(0.0, COPIES_LEFT.value)
        ),
        where=tuple(dict.fromkeys((*(span(evidence, *at) for at in lines), *callers(evidence, lines[0])))),
        evidence=(
            Measurement(f"share of {unit.the} in copying", share, "share", "samples"),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=_advice([copied for _, copied in places]),
        detail="An array cannot grow: each call makes a new one and copies all that came before."
        if not places[0][1].changes_element
        else "A tensor cannot change: each call makes a new one and copies all of it.",
        absorbs_here=("LIN001", "EAG008", "STP003", "STP007"),
        parts=parts,
    )


def _name_function(copied: Copied) -> str:
    """Write the function that copies, as in ``np.append``; "Assignment" for ``df.loc[n] = row``."""
    name = copied.call.name if isinstance(copied.call, Call) else ""
    return name.replace("numpy.", "np.").replace("tensorflow.", "tf.").replace("pandas.", "pd.") or "Assignment"


def _advice(places: list[Copied]) -> str:
    copied = places[0]
    if copied.scattered:
        scattered = [item for item in places if item.scattered]
        made = list(dict.fromkeys(item.name for item in scattered if not item.is_variable))
        make = f"Make {made[0]} a variable once: {made[0]} = tf.Variable({made[0]}). " if made else ""
        also = f" Do the same for {', '.join(made[1:])}." if made[1:] else ""
        return (
            f"{make}Change the variable in place: {copied.scattered} in line {copied.call.line}.{also} Read rows of it "
            "with tf.gather: other reads copy the whole variable after such a change."
        )
    if copied.written:
        return (
            f"Change a NumPy array in place: {copied.name} = np.array({copied.name}) before the loop, {copied.written} "
            f"in line {copied.call.line}, {copied.name} = tf.constant({copied.name}) after the loop. Or: collect "
            "indices and updates in two lists, and make this call once, after the loop."
        )
    others = ", ".join(dict.fromkeys(item.name for item in places if item.name != copied.name))
    if copied.kept:
        owner, size = copied.name.rpartition(".")[0], copied.size or "size"
        added = f"{owner}.added" if owner else "added"
        also = f"Do the same for {others}. " if others else ""
        return (
            f"Make {copied.name} once, in full size (np.zeros, {size} rows), with {added} = 0, and write into it as a "
            f"ring buffer: {copied.name}[{added} % {size}] = {copied.new}; {added} += 1. {also}Its length is then "
            f"min({added}, {size}), and its oldest row is at {added} % {size} once it is full."
        )
    also = f" Do the same for {others}." if others else ""
    return (
        f"Collect the parts in a list, and join them once: parts = [{copied.name}] before the loop, "
        f"parts.append({copied.new}) in line {copied.call.line}, {copied.name} = {copied.join} after the "
        f"loop.{also} Or: write into an array that has all rows from the start, if the loop reads {copied.name}."
    )
