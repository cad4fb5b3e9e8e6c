"""The rest of a step after its compiled call or its wait gets shorter: Python that runs between finds its caches warm.

The same Python (looking a function up, binding arguments, taking the next batch) takes longer the longer the thread was
away from it, whatever ran meanwhile: its code and objects are no longer in the caches of the core.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.gain import Range, speedup
from tfperfkit.model import Finding
from tfperfkit.pricing.remedies import MOST
from tfperfkit.remedy import ChangeStage, KeepTrace, Remedy, Remove, ReplaceOps, Setting, is_one_of

_MACHINE = "two cores of an AMD EPYC at a load of 14, TensorFlow 2.21"
AWAY_SHORT = Threshold(
    1.15,
    "number",
    "times as long: the Python of a call 0.3 ms away from it, over the same right after itself",
    Measured("1.07 to 1.63 (10th to 90th percentile), median 1.17", _MACHINE, 10, "python_away_short"),
)
AWAY_1_MS = Threshold(
    1.25,
    "number",
    "times as long: the Python of a call 1 ms away from it, over the same right after itself",
    Measured("1.12 to 1.30, median 1.22; 1.35 in another hour", _MACHINE, 10, "python_away_1_ms"),
)
AWAY_4_MS = Threshold(
    1.7,
    "number",
    "times as long: the Python of a call 4 ms away from it, over the same right after itself",
    Measured("1.45 to 1.90, median 1.67; 2.0 in another hour", _MACHINE, 10, "python_away_4_ms"),
)
AWAY_12_MS = Threshold(
    2.3,
    "number",
    "times as long: the Python of a call 12 ms away from it, over the same right after itself",
    Measured("1.94 to 2.64, median 2.31", _MACHINE, 10, "python_away_12_ms"),
)
#: ms away from the Python of a call, and how many times as long it takes then.
_TIMES: Sequence[tuple[float, float]] = (
    (0.0, 1.0),
    (0.3, AWAY_SHORT.value),
    (1.0, AWAY_1_MS.value),
    (4.0, AWAY_4_MS.value),
    (12.0, AWAY_12_MS.value),
)
#: Remedies after which a compiled call does less, or does it faster. The others change Python itself.
_SHORTEN_CALLS: tuple[Remedy, ...] = (
    Remove("metrics"),
    *(Setting(name) for name in ("check_numerics", "precision", "jit_compile", "onednn", "threads")),
    *(
        ReplaceOps(by)
        for by in (
            "fewer", "one_pass", "one_gradient", "all_rows", "looked_up_rows", "kept_results", "order", "top_k",
            "in_place", "less_padding", "gradient_blocks", "crop", "banded", "tensorflow",
        )
    ),
)  # fmt: skip
#: Remedies after which a step waits or traces less between two calls: the time from one call's Python to the next.
_SHORTEN_WAITS: tuple[type[Remedy], ...] = (ChangeStage, KeepTrace)


def times_as_long(away_ms: float) -> float:
    """Return how many times as long a call's Python takes ``away_ms`` after the last as right after it."""
    for (low_ms, low), (high_ms, high) in zip(_TIMES, _TIMES[1:], strict=False):
        if away_ms <= high_ms:
            return low + (high - low) * max(away_ms - low_ms, 0.0) / (high_ms - low_ms)
    return _TIMES[-1][1]


class StepTimes(NamedTuple):
    """ms of the mean step: as a whole, in compiled calls, in TensorFlow's Python that makes them, in other Python.
    ``calls``: of compiled functions in a step, 1 or more."""

    step_ms: float
    graph_ms: float
    dispatch_ms: float
    python_ms: float = 0.0
    calls: float = 1.0


def add_warm_python(item: Finding, times: StepTimes) -> Finding:
    """Return a finding of the steps whose gain has what the Python between calls gains by a shorter time away from it.

    At worst that Python takes as long as now: another program may take the caches. At best, and most likely, it gets
    faster by ``times_as_long``. After a shorter wait or trace this holds for the Python that makes the calls: the rest
    may be the finding's own.
    """
    gain = item.gain
    if not isinstance(gain, Range) or item.basis != "step":
        return item
    if is_one_of(item.remedy, _SHORTEN_CALLS):
        away_ms, between_ms = times.graph_ms / times.calls, times.dispatch_ms + times.python_ms
    elif is_one_of(item.remedy, _SHORTEN_WAITS):
        away_ms, between_ms = (times.step_ms - times.dispatch_ms) / times.calls, times.dispatch_ms
    else:
        return item
    if min(times.step_ms, away_ms, between_ms) <= 0:
        return item

    def warmed(saved: float) -> float:
        left_ms = max(away_ms - saved * times.step_ms, 0.0)
        warm_ms = between_ms * (1 - times_as_long(left_ms) / times_as_long(away_ms))
        return speedup(min(saved + warm_ms / times.step_ms, MOST))

    most = max(warmed(1 - 1 / gain.high) if gain.high > 1 else 1.0, gain.high)
    likely = max(warmed(gain.saved) if gain.likely > 1 else 1.0, gain.likely)
    return msgspec.structs.replace(item, gain=Range(gain.low, likely, most))
