"""STP010: epochs of ``fit`` have so few steps that starting and ending them takes most of the time.

Pauses between steps are short within an epoch and long between epochs. The share is the long pauses, as far as their
samples are in Keras' own code. Reported from 10 % of the run, if that is more than the steps take.
"""

from __future__ import annotations

import bisect
import itertools
import math
import statistics
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Place
from tfperfkit.remedy import Setting
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import FIT, find_call_at, is_calling
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.step.epoch_ends import EPOCH_ENDS_MIN_SHARE, EPOCHS_LEFT_MIN, EPOCHS_MIN

EPOCH_GAP = Threshold(
    0.25,
    "share",
    "minimum ratio of a pause that ends an epoch to the pauses that hold half of the time between steps",
    Measured("between batches 0.0 to 0.2 ms, between epochs of 3 steps 180 to 1,600 ms", TWO_BUSY_CORES, 400),
)
LONG_EPOCH = Threshold(
    100,
    "steps",
    "number of steps of an epoch, as advised",
    Chosen("a hundredth of the cost of an epoch remains for each step, and callbacks still hear of every 100th step"),
)
JOINED_MIN = Threshold(
    5, "epochs", "minimum number of epochs that the advice joins into one", Derived("at most EPOCHS_LEFT_MIN remains")
)


TITLES = {"STP010": "Model.fit epochs have too few steps"}
#: Parts that other rules report: saving (STP006), and TensorFlow's threads that end late (INP013).
_NOT_KERAS = ("saving", "waiting")


class _Epochs(NamedTuple):
    """``gaps``: (end of an epoch's last step, begin of the next one's first), ns; ``steps`` of a usual epoch."""

    gaps: list[tuple[int, int]]
    steps: int


def short_epochs(evidence: Evidence) -> Iterable[Finding]:
    """Report Keras' own work between two epochs, as a share of the run; without callbacks, validation and saving."""
    whole = evidence.run.wall_s * 1e9
    if evidence.work is not None or evidence.steps.source != "keras" or whole <= 0:
        return
    found = _find_epochs(evidence)
    if found is None or len(found.gaps) < EPOCHS_MIN.value:
        return
    own: Counter[Place] = Counter()
    seen = 0
    for _, stack in evidence.log.inside(found.gaps):
        seen += 1
        if (
            stack.frames
            and not stack.context
            and stack.activity not in _NOT_KERAS
            and is_calling(evidence, stack.frames[-1], FIT)
        ):
            own[stack.frames[-1].file, stack.frames[-1].line] += 1
    if own.total() < MIN:
        return
    between_ns = sum(end - begin for begin, end in found.gaps) * own.total() / seen
    share = min(between_ns / whole, 1.0)
    in_steps = sum(step.end_ns - step.begin_ns for step in evidence.steps.steps)
    if between_ns < shared.MOSTLY.value * (between_ns + in_steps):
        return  # epochs that train longer than they begin and end are as short as somebody wants to look at them
    if share >= EPOCH_ENDS_MIN_SHARE.value:
        yield _make_finding(evidence, found, share, between_ns, own)


def _find_epochs(evidence: Evidence) -> _Epochs | None:
    """Find where epochs end: between two batches of one epoch Keras does almost nothing, so the pauses fall into two
    groups; if all are alike, each step is an epoch. None: the pauses tell no epochs.
    """
    steps = evidence.steps.steps
    gaps = [(before.end_ns, after.begin_ns) for before, after in zip(steps, steps[1:], strict=False)]
    if len(gaps) < EPOCHS_MIN.value:
        return None
    lengths = [end - begin for begin, end in gaps]
    limit = EPOCH_GAP.value * _choose_long_pause(lengths)
    ends = [index for index, length in enumerate(lengths) if length >= limit]
    apart = [after - before for before, after in zip(ends, ends[1:], strict=False)]
    each = round(statistics.median(apart)) if apart else len(steps)
    return _Epochs([gaps[index] for index in ends], each * steps[0].count)


def _choose_long_pause(lengths: list[int]) -> int:
    """Half of all the pauses' time is in pauses of this length or longer."""
    ordered = sorted(lengths, reverse=True)
    until = bisect.bisect_left(list(itertools.accumulate(ordered)), sum(ordered) / 2)
    return ordered[min(until, len(ordered) - 1)]


def _make_finding(evidence: Evidence, found: _Epochs, share: float, between_ns: float, own: Counter[Place]) -> Finding:
    unit = evidence.unit
    times = max(math.ceil(LONG_EPOCH.value / found.steps), JOINED_MIN.value)
    each_ms = between_ns / 1e6 / len(found.gaps)
    number = f"{found.steps} step{'s' if found.steps > 1 else ''}"
    return Finding(
        code="STP010",
        remedy=Setting("epochs", times),
        title=f"Model.fit epochs have only {number}: starting and ending epochs takes {100 * share:.0f} % of the run",
        basis="run",
        share_of_step=share,
        gain=price(Setting("epochs"), Part.sampled(share, own.total()), Left(1 / times, EPOCHS_LEFT_MIN.value)),
        where=tuple(span(evidence, *place) for place, _ in own.most_common(1)),
        evidence=(
            Measurement("share of the run between epochs", share, "share", "run"),
            Measurement("time between two epochs", each_ms, "ms", "samples"),
            *([Measurement(f"time of {unit.a}", evidence.step_ms, "ms", "baseline")] if evidence.step_ms else []),
            Measurement("pauses between epochs", float(len(found.gaps)), "count", "run"),
            Measurement("samples", float(own.total()), "count", "samples"),
            Measurement("epochs to join into one", float(times), "count", "advice"),
        ),
        advice=(
            f"Join {times} epochs into one: {_write_fit(evidence, *own.most_common(1)[0][0], times)}. The model takes "
            f"the same steps; callbacks, validation and the history see every {times}th epoch."
        ),
        detail=(
            "For each epoch Keras makes a new iterator, resets the metrics and calls the callbacks, however few "
            "batches follow."
        ),
        absorbs_here=("STP003", "INP001", "INP012", "RET012"),
        parts=("eager_ops", "dispatch", "other"),
    )


def _write_fit(evidence: Evidence, file: str, line: int, times: int) -> str:
    """Write the call of ``fit`` with longer epochs, in the script's own words where its source is known."""
    call = find_call_at(evidence, (file, line), FIT)
    names = ("x", "y", "batch_size", "epochs")
    found = {name: call.get_argument(name, at) for at, name in enumerate(names)} if call is not None else {}
    given = {name: value.text for name, value in found.items() if value is not None}
    x, epochs = given.get("x", "x"), given.get("epochs", "epochs")
    count = str(max(round(int(epochs) / times), 1)) if epochs.isdecimal() else f"{epochs} // {times}"
    data = f"{x}.repeat({times})"
    if "y" in given or call is None:
        made = f"tf.data.Dataset.from_tensor_slices(({x}, {given.get('y', 'y')})).shuffle(len({x}))"
        data = f"{made}.batch({given.get('batch_size', '32')}).repeat({times})"
    return f"data = {data}, then fit(data, epochs={count})"
