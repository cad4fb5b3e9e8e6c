"""EAG006: ``fit`` is called repeatedly, for a few batches in each call.

Calls, epochs and batches are counted, and stack samples give the time in ``fit`` outside compiled functions. The gain
assumes ``train_on_batch`` instead.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit_probes.input.model import InputData

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.records.samples import Place
from tfperfkit.remedy import CallDirectly
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.called import FIT, find_call_at, name_receiver
from tfperfkit_rules.measures.loop_iterations import basis, in_fit, stretch, where
from tfperfkit_rules.measures.step_place import reached

TITLES = {"EAG006": "model.fit called repeatedly for few batches each"}

FEW_BATCHES = Threshold(
    8,
    "batches",
    "minimum number of batches for which a call of fit is worth its own set-up",
    Chosen("the set-up is spread over them, see the measure fit"),
)
MIN_FITS = Threshold(
    5, "count", "minimum number of calls of fit that make a loop", Chosen("fewer are phases: pre-training, fine-tuning")
)
FIT_LEFT_MIN = Threshold(
    0.01,
    "share",
    "minimum share that train_on_batch leaves, of the time of fit outside of its batches",
    Measured("0.010 to 0.071, median 0.024; by hand 0.004 and 0.011", MEASURED_ON, 10, "fit"),
)
FIT_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share that train_on_batch leaves, of the time of fit outside of its batches",
    Measured("see FIT_LEFT_MIN: larger networks leave more", MEASURED_ON, 10, "fit"),
)
FIT_LEFT_LIKELY = Threshold(
    0.024,
    "share",
    "median share that train_on_batch leaves, of the time of fit outside of its batches",
    Measured("see FIT_LEFT_MIN", MEASURED_ON, 10, "fit"),
)

#: The position of ``epochs`` among the arguments of ``fit``: after these.
_EPOCHS = len(("x", "y", "batch_size"))


def fit_in_loop(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for many calls of ``fit`` with few batches each."""
    sites = [site for site in reached(evidence, "batch") if site.loops]
    if not sites or evidence.account is None or evidence.work is not None:
        return
    batches, epochs = _count_batches(evidence, {site.id for site in sites})
    fits = _count_fits(evidence, {(site.file, site.line) for site in sites}, epochs)
    if fits < MIN_FITS.value or batches / epochs >= FEW_BATCHES.value:
        return
    iterations = stretch(evidence)
    if iterations is None:
        return
    around = (
        sum(
            weight
            for stack, weight in iterations.found
            if stack.activity != "graph" and stack.context != "evaluate" and in_fit(evidence, stack)
        )
        / iterations.whole
    )
    if around < MEDIUM:
        return
    left = Left(FIT_LEFT_MIN.value, FIT_LEFT_MAX.value, FIT_LEFT_LIKELY.value)
    gained = price(CallDirectly("fit"), Part.sampled(around, len(iterations.found)), left)
    place = sites[0].file, sites[0].line
    call = find_call_at(evidence, place, FIT)
    model = name_receiver(call)
    yield Finding(
        code="EAG006",
        remedy=CallDirectly("fit"),
        title=(
            f"{model}.fit called {fits:,.0f} times for {batches / fits:,.1f} batches each"
            if epochs <= fits
            else f"{model}.fit called {fits:,.0f} times for {epochs / fits:,.1f} epochs of "
            f"{batches / epochs:,.1f} batches each"
        ),
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=around,
        gain=gained,
        where=where(evidence, [place]),
        evidence=(
            Measurement("calls of fit", fits, "count", "run"),
            *([Measurement("epochs per call of fit", epochs / fits, "count", "run")] if epochs > fits else []),
            Measurement("batches per call of fit", batches / fits, "count", "run"),
            Measurement("fit time outside compiled functions", around, "share", "samples"),
            Measurement("mean iteration of the loop", iterations.iteration_ms, "ms", "baseline"),
        ),
        advice=(
            f"Replace {model}.fit with {model}.train_on_batch(x, y) in this loop"
            f"{', for each batch of each epoch' if epochs > fits else ''}. Or: call {model}.fit once on all the data, "
            "as arrays or as one tf.data.Dataset."
        ),
        detail="Each fit call creates a dataset, an iterator and callbacks before its first batch runs.",
        absorbs=("INP001", "INP012", "RET012", "RET008", "STP002", "BAT001"),
        # Each fit traces its dataset's functions, and is an epoch.
        absorbs_here=("LIN001", "RET014", *(("STP010",) if _asks_for_one_epoch(call) else ())),
    )


def _asks_for_one_epoch(call: Call | None) -> bool:
    """Whether the call asks for one epoch, which is the default too."""
    epochs = call.get_argument("epochs", _EPOCHS) if call is not None else None
    return call is not None and (epochs is None or epochs.is_constant(1))


def _count_fits(evidence: Evidence, places: set[Place], epochs: float) -> float:
    """Calls of ``fit`` at these lines, as its data were seen; the ended epochs where they were not."""
    data = evidence.offer(InputData)
    rows = data.keras if data is not None else ()
    seen = sum(row.times for row in rows if row.way == "fit" and not row.validation and (row.file, row.line) in places)
    return float(seen) if 0 < seen < epochs else epochs


def _count_batches(evidence: Evidence, sites: set[int]) -> tuple[float, float]:
    """(steps, ended epochs) at these sites: Keras' end of an epoch is a marker that holds no step."""
    steps = ends = 0
    for marker in evidence.markers():
        if marker.site in sites:
            steps, ends = steps + marker.steps, ends + (marker.steps == 0)
    return float(steps), float(ends)
