"""EAG006: ``fit`` called anew for each small piece of data."""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.evidence import Evidence
from tfperfkit.gain import MEDIUM, interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement
from tfperfkit.steps import Marker
from tfperfkit.typed import each
from tfperfkit_rules.eager_place import reached
from tfperfkit_rules.eager_turns import FIT, basis, code, in_fit, stretch, where

#: Of what ``fit`` takes around its batches, what ``train_on_batch`` leaves. Measured on two busy cores: ``fit`` 240 ms,
#: ``train_on_batch`` 1.0 ms (median 2.8); in a loop over chunks 202 ms and 2.3 ms.
FIT_LEFT = (0.01, 0.1)
#: A ``fit`` of this many batches and more pays for its own setting up.
FEW_BATCHES = 8


def fit_in_loop(evidence: Evidence) -> Iterable[Finding]:
    """The finding, for many calls of ``fit`` with few batches each."""
    sites = [site for site in reached(evidence, "batch") if site.loops]
    if not sites or evidence.account is None:
        return
    batches, fits = _batches(evidence, {site.id for site in sites})
    if fits < 5 or batches / fits >= FEW_BATCHES:
        return
    turns = stretch(evidence)
    if turns is None:
        return
    around = sum(
        weight for stack, weight in turns.found
        if stack.activity != "graph" and stack.context != "evaluate" and in_fit(evidence, stack)
    ) / turns.whole
    if around < MEDIUM:
        return
    low, high = interval(around, len(turns.found))
    bounds = speedups(low * (1 - FIT_LEFT[1]), high * (1 - FIT_LEFT[0]))
    place = sites[0].file, sites[0].line
    called = FIT.search(code(evidence, *place))
    model = called[1] if called else "model"
    yield Finding(
        code="EAG006", family="eager",
        title=f"{model}.fit is called {fits:,.0f} times for {batches / fits:,.1f} batches each",
        severity=severity(1 - 1 / bounds[0]), basis=basis(evidence, turns.turn_ms), share_of_step=around,
        predicted_speedup=middle(bounds), predicted_range=bounds, where=where(evidence, [place]),
        evidence=(
            Measurement("calls of fit", fits, "count", "run"),
            Measurement("batches in each", batches / fits, "count", "run"),
            Measurement("time in fit outside of compiled functions", around, "share", "samples"),
            Measurement("one turn of the loop", turns.turn_ms, "ms", "baseline"),
        ),
        advice=(
            f"Call {model}.train_on_batch(x, y) in this loop, or give {model}.fit all of the data at once, as arrays "
            "or as a tf.data.Dataset made from what the loop goes over."
        ),
        detail="Each fit makes a dataset, an iterator and callbacks anew before its first batch runs.",
        absorbs=("INP001", "INP012", "RET012", "RET008", "STP002", "BAT001"), absorbs_here=("LIN001",),
    )


def _batches(evidence: Evidence, sites: set[int]) -> tuple[float, float]:
    """(steps, ended epochs) at these sites: Keras' end of an epoch is a marker that holds no step."""
    steps = ends = 0
    for marker in each(evidence.records("markers"), Marker):
        if marker.site in sites:
            steps, ends = steps + marker.steps, ends + (marker.steps == 0)
    return float(steps), float(ends)
