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


def window(evidence: Evidence) -> str:
    """Where ``share_of`` was measured: the samples alone when the account has no parts."""
    return "breakdown" if evidence.account is not None and evidence.account.parts_ms else "samples"


def interval(evidence: Evidence, doing: Counter[str]) -> tuple[float, float]:
    """(least, most) of that share. At most it has all that the trace says, with the samples' 95 % interval, and what
    its lines leave behind. At least the trace and the samples are each half right: the trace's own steps are slower.
    """
    samples, share = evidence.samples, share_of(evidence, doing)
    raw = min(sum(doing.values()) / max(samples.count, 1), 1.0)
    least, _ = gain.interval(min((raw + share) / 2, share), samples.count)
    _, most = gain.interval(max(share, raw), samples.count)
    python = samples.activities["python"]
    left = doing["python"] / python * evidence.share(*_AFTERMATH) if python else 0.0
    return least, min(most + left, 1.0)
