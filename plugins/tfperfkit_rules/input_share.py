"""What lines take of a step: stack samples say where, the step's account how much.

A sample is taken when the sampler gets the interpreter's lock, so it falls on compiled functions, which give the lock
up, more often than on Python and C code that hold it: loading JSON was 54 % of the samples and 71 % of the step by the
trace. The account's parts are right about that; the samples divide each part among the lines.
"""

from __future__ import annotations

from collections import Counter

from tfperfkit import gain
from tfperfkit.evidence import Evidence

#: Parts that hold no activity of their own: freeing arrays and collecting garbage, on top of the Python that made them.
_AFTERMATH = ("gc", "other")


def share_of(evidence: Evidence, doing: Counter[str]) -> float:
    """The share of the mean step (0 to 1) of samples, counted by activity."""
    samples, account = evidence.samples, evidence.account
    if not samples.count:
        return 0.0
    if account is None or not account.parts_ms:
        return min(sum(doing.values()) / samples.count, 1.0)
    total = 0.0
    for activity, count in doing.items():
        part = "saving" if activity == "summary" else activity
        if part in account.parts_ms and samples.activities[activity]:
            total += count / samples.activities[activity] * evidence.share(part)
        else:
            total += count / samples.count
    return min(total, 1.0)


def interval(evidence: Evidence, doing: Counter[str]) -> tuple[float, float]:
    """(least, most) of that share: the 95 % interval of the samples, and at most what the lines leave behind."""
    samples, share = evidence.samples, share_of(evidence, doing)
    raw = sum(doing.values()) / max(samples.count, 1)
    low, high = gain.interval(min(raw, 1.0), samples.count)
    scale = share / raw if raw else 0.0
    python = samples.activities["python"]
    left = doing["python"] / python * evidence.share(*_AFTERMATH) if python else 0.0
    # The interval of the raw share, where both ends are scaled as the share is, within 0 and 1.
    least = low * scale if scale <= 1 else 1 - (1 - low) * (1 - share) / (1 - raw) if raw < 1 else share
    most = high * scale if scale <= 1 else 1 - (1 - high) * (1 - share) / (1 - raw) if raw < 1 else share
    return max(least, 0.0), min(max(most, share) + left, 1.0)
