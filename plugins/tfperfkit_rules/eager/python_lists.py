"""EAG016: tensors are created from Python lists, element by element.

The source shows that the argument is a list, and stack samples give the time in the call. The gain assumes a
NumPy array instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.measures.list_tensors import advise_array, name_list_maker
from tfperfkit_rules.measures.loop_iterations import where
from tfperfkit_rules.measures.moments import moments
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_shares import find_part, share_of, window
from tfperfkit_rules.measures.trace_window import reached

TITLES = {"EAG016": "tf.constant converts a Python list element by element"}

LIST_MS = Threshold(
    0.2,
    "ms",
    "minimum time to make a tensor that tells a list from an array of up to 200,000 numbers",
    Measured("arrays of 256 to 200,000 numbers 0.01 to 0.09 ms", TWO_BUSY_CORES, 3),
)
LIST_LEFT_MIN = Threshold(
    0.003,
    "share",
    "minimum share of making a tensor from a list that remains with an array",
    Measured(
        "lists of 16 to 200 rows of 100 to 3,000 numbers: an array instead 0.001 to 0.003, 0.08 for a tensor of 3,200 "
        "numbers; stacked arrays 0.003 and 0.004, and 0.2 there",
        TWO_BUSY_CORES,
        12,
    ),
)
LIST_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share of making a tensor from a list that remains with an array",
    Measured("see LIST_LEFT_MIN; tf.constant of the same lists 0.005 to 0.016, 0.1 there", TWO_BUSY_CORES, 12),
)


def made_of_lists(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for the line with most of the time."""
    if not evidence.step_ms:
        return
    stacks, count = _find_stacks(evidence)
    at: Counter[Place] = Counter()
    names: dict[Place, str] = {}
    doing: Counter[str] = Counter()
    for stack, weight in stacks.items():
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is None or stack.context in ("build", "evaluate") or stack.activity in ("tracing", "graph"):
            continue
        name = name_list_maker(evidence, leaf)
        if name:
            at[leaf.file, leaf.line] += weight
            doing[stack.activity] += weight
            names[leaf.file, leaf.line] = name
    of_samples = evidence.samples.count >= MIN
    share = share_of(evidence, doing) if of_samples else at.total() / max(stacks.total(), 1)
    if count < MIN or share < MIN_SHARE.value:
        return
    place = at.most_common(1)[0][0]
    times = reached(evidence, *place, place[1]) or float(
        bool(find_loops(evidence, *place)) or evidence.work is not None
    )
    each_ms = at[place] / at.total() * share * evidence.step_ms / times if times else 0.0
    if each_ms < LIST_MS.value:
        return  # that much every tensor takes
    left = Left(LIST_LEFT_MIN.value, LIST_LEFT_MAX.value)
    part = find_part(evidence, doing, at) if of_samples else Part.sampled(share, count)
    gained = price(ReplaceOps("array"), part, left)
    name = names[place].replace("tensorflow.", "tf.")
    yield Finding(
        code="EAG016",
        remedy=ReplaceOps("array"),
        title=f"{name} converts a Python list element by element",
        share_of_step=share,
        gain=gained,
        where=where(evidence, [item for item, _ in at.most_common(3)]),
        evidence=(
            Measurement(f"time in {name}", share, "share", window(evidence) if of_samples else "samples"),
            Measurement("time to create one tensor", each_ms, "ms", window(evidence) if of_samples else "samples"),
            Measurement("samples", float(count), "count", "baseline" if of_samples else "run"),
        ),
        advice=advise_array(names[place], looped=any(loop.is_statement for loop in find_loops(evidence, *place))),
        detail="TensorFlow inspects each element of a list. It copies a NumPy array as a whole.",
        absorbs=("EAG008",),
        absorbs_here=("LIN001", "STP003"),
        parts=("dispatch", "eager_ops", "python", "other"),
    )


def _find_stacks(evidence: Evidence) -> tuple[Counter[Stack], int]:
    """Return the stacks with their weights, and the number of samples.

    A conversion of a long list keeps the interpreter lock, so few samples are taken. If clean iterations have too few,
    the stacks are all of the work, and a weight is the time since the sample before.
    """
    if evidence.samples.count >= MIN or evidence.work is None:
        return evidence.samples.stacks, evidence.samples.count
    found: Counter[Stack] = Counter()
    rows = list(moments(evidence))
    for _, stack, took in rows:
        found[stack] += took
    return found, len(rows)
