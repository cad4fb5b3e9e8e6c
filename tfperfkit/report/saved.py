"""Time that a finding's remedy would take off this run: ``saves 13 to 16 s (41 to 50 %) of this run``."""

from __future__ import annotations

import math

from tfperfkit.gain import UpTo
from tfperfkit.model import Finding

#: Less than this many seconds is not said.
_MIN_S = 0.1
_NO_GAIN = 1.005
#: From this share on.
_MOST = 0.9
#: Upper over lower end up to which a range is narrow enough to be given as one figure.
_ONE = 1.05
#: Upper end over the cost from which the difference is explained: both have two digits.
_MORE = 1.05


def nearly_goes(finding: Finding) -> bool:
    """Return whether a loop, a call or the run nearly goes, so that "most of it goes" says more than a factor. A factor
    of the step is what a longer training gets."""
    other = finding.saves_s is not None and bool(finding.work or finding.basis == "run")
    return other and finding.gain.saved >= _MOST


def name_ties(finding: Finding) -> str:
    """Return ``may save as much as 1 and 2``; "" if the finding saves less than those before it."""
    return f"may save as much as fix {' and '.join(map(str, finding.ties_with))}" if finding.ties_with else ""


def saved_seconds(finding: Finding) -> str:
    """Return ``saves 50-56 s``; "" as ``saved_words`` does."""
    known = _ends(finding)
    return _say_saved(*known) if known is not None else ""


def saved_after(finding: Finding) -> str:
    """Return ``saves 9.0-12 s after fix 1``; "" if no earlier finding changes the same time, or little is left."""
    if finding.after is None or not saved_seconds(finding) or max(finding.after.saves_s) < _MIN_S:
        return ""
    numbers = finding.after.numbers
    fixes = "the first fix" if numbers == (1,) else f"fix{'es' * (len(numbers) > 1)} {' and '.join(map(str, numbers))}"
    return f"{_say_saved(*finding.after.saves_s)} after {fixes}"


def explain_excess(finding: Finding) -> str:
    """Return why a finding may save more than it costs; "" if it does not."""
    known = _ends(finding)
    if known is None or finding.costs_s is None or known[1] <= _MORE * finding.costs_s:
        return ""
    most = max(finding.elsewhere, key=lambda other: max(other.seconds), default=None)
    if most is not None and max(most.seconds) > 0:
        return f"also saves time in {most.where.partition(',')[0]}"
    return "savings can be larger: other work often gets faster too"


def _say_saved(low: float, high: float) -> str:
    if high <= low * _ONE or _seconds(low) == _seconds(high):
        return f"saves about {_seconds(high)} s"
    return f"saves up to {_seconds(high)} s" if low < _MIN_S else f"saves {_seconds(low)}-{_seconds(high)} s"


def _ends(finding: Finding) -> tuple[float, float] | None:
    """Return the seconds saved, from and to; None if they are not known or negligible, or if nobody can tell whether
    any of it goes (``UpTo``)."""
    if finding.saves_s is None or isinstance(finding.gain, UpTo):
        return None
    low, high = finding.saves_s
    if not all(map(math.isfinite, (low, high))) or max(low, high) < _MIN_S or min(low, high) < 0:
        return None
    if finding.gain.likely is not None and finding.gain.likely < _NO_GAIN:
        return None
    return low, high


def saved_words(finding: Finding) -> str:
    """Return "" if it is not known or negligible, or if nobody can tell whether any of it goes (``UpTo``)."""
    known = _ends(finding)
    if known is None:
        return ""
    low, high = known
    total = finding.costs_s / finding.share_of_run if finding.costs_s and finding.share_of_run else 0.0
    if high <= low * _ONE or _seconds(low) == _seconds(high):
        return f"saves about {_seconds(high)} s{_per_cent(total, high)} of this run"
    if low < _MIN_S:
        return f"saves up to {_seconds(high)} s{_per_cent(total, high)} of this run"
    return f"saves {_seconds(low)} to {_seconds(high)} s{_per_cent(total, low, high)} of this run"


def _per_cent(total: float, *seconds: float) -> str:
    """Return these seconds as shares of the run, ``total`` seconds long; "" if its length is not known."""
    if total <= 0:
        return ""
    shares = dict.fromkeys(f"{100 * min(each / total, 1.0):.0f}" for each in seconds)
    return f" ({' to '.join(shares)} %)"


def _seconds(value: float) -> str:
    """Two digits are as much as a prediction tells, but whole seconds from 10 on."""
    return f"{value:,.0f}" if value >= 9.95 else f"{value:.1f}"
