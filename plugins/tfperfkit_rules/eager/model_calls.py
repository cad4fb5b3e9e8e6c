"""EAG004, for ``predict`` and ``evaluate`` that are called on tiny inputs in each iteration of a loop.

Stack samples give the time in these calls, and markers give their durations and batches. The gain assumes a compiled
call of the model, or larger batches.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.clock import ms
from tfperfkit.gain import MEDIUM, interval
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.bounds import Bounds
from tfperfkit.pricing.costs import find_cost, list_costs
from tfperfkit.pricing.machines import MEASURED_ON, TWO_BUSY_CORES
from tfperfkit.records.samples import Frame, Place
from tfperfkit.records.steps import UPDATES
from tfperfkit.remedy import CallDirectly
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.gain import waiting
from tfperfkit_rules.eager.small_batches import BATCHES_LEFT_MAX, EACH_BATCH, PREDICT_BATCH_MS, larger_batches
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import EVALUATE, PREDICT, find_call_at, is_calling, name_receiver
from tfperfkit_rules.measures.compiled_once import advise_compiling_once
from tfperfkit_rules.measures.loop_iterations import Stretch, basis, in_fit, stretch, where
from tfperfkit_rules.measures.loop_of_batch import loop_of_batch
from tfperfkit_rules.measures.making import MIN_MADE
from tfperfkit_rules.measures.own_passes import at_epoch_end
from tfperfkit_rules.measures.predicting import MAX_COMPUTING, predicting
from tfperfkit_rules.measures.source_text import find_function, find_loops
from tfperfkit_rules.measures.step_place import sites

OFTEN = Threshold(
    0.2,
    "share",
    "minimum share of steps that call predict, for predict to be in the loop",
    Chosen("more often than every fifth step"),
)
PREDICT_LEFT_MIN = Threshold(
    0.005,
    "share",
    "minimum share of the time of predict that calling the model leaves",
    Measured(
        "0.001 to 0.09, median 0.01, of networks of two and four layers; by hand 0.001 (compiled) and 0.005 of 244 ms",
        MEASURED_ON,
        20,
        "predict",
    ),
)
PREDICT_LEFT_MAX = Threshold(
    0.1,
    "share",
    "maximum share of the time of predict that calling the model leaves",
    Measured("see PREDICT_LEFT_MIN: the 90th percentile is 0.09", MEASURED_ON, 20, "predict"),
)
PREDICT_LEFT_LIKELY = Threshold(
    0.01,
    "share",
    "median share of the time of predict that calling the model leaves",
    Measured("see PREDICT_LEFT_MIN", MEASURED_ON, 20, "predict"),
)
PREDICT_TRACED_MIN = Threshold(
    0.2,
    "number",
    "minimum time to trace and first run the model, in calls of predict on little data",
    Measured("0.2 to 2.0, median 0.9: four small networks, of 2 to 13 layers, twice each", TWO_BUSY_CORES, 8),
)
PREDICT_TRACED_MAX = Threshold(
    2.0,
    "number",
    "maximum time to trace and first run the model, in calls of predict on little data",
    Measured("see PREDICT_TRACED_MIN", TWO_BUSY_CORES, 8),
)
PREDICT_TRACED_LIKELY = Threshold(
    0.9,
    "number",
    "median time to trace and first run the model, in calls of predict on little data",
    Measured("see PREDICT_TRACED_MIN", TWO_BUSY_CORES, 8),
)

PREDICT_LEFT = PREDICT_LEFT_MIN.value, PREDICT_LEFT_MAX.value, PREDICT_LEFT_LIKELY.value
_KERAS = ("predict", "evaluate")


def predict_in_loop(evidence: Evidence) -> Iterable[Finding]:
    """Report EAG004 for ``predict`` in the training loop, in its own loop between the steps, or in other work."""
    found = priced_predicting(evidence)
    return [found] if found is not None else []


def priced_predicting(evidence: Evidence) -> Finding | None:
    """Return the finding with the cost of calling ``predict``, and the gain of a compiled call instead."""
    iterations = stretch(evidence)
    if iterations is None:
        return None
    found = predicting(evidence, iterations.found)
    at, share = found.at, found.at.total() / iterations.whole
    if share < MEDIUM:
        return None
    place = at.most_common(1)[0][0]
    fits: Counter[tuple[str, int]] = Counter()
    if evidence.work is None:
        often = _steps_with_predict(evidence, set(at)) >= OFTEN.value * len(evidence.steps.clean)
        if not often and (found.computing > MAX_COMPUTING.value * at.total() or not _apart(evidence, place)):
            return None
        fits = _fits_beside(evidence, iterations, set(at))
        share += fits.total() / iterations.whole
        lower = share
    else:
        if not found.is_repeated(evidence):
            return None
        often, lower = True, share - found.computing / iterations.whole
        if lower < MEDIUM:
            return None
    low, _ = interval(share if _durations(evidence, place) else lower, len(iterations.found))
    _, high = interval(share, len(iterations.found))
    left = PREDICT_LEFT if fits else _left(evidence, place, found.computing / at.total())
    batches = _batches(evidence, place)
    rounds = _rounds(evidence, place, batches)
    if batches >= 2 and not rounds and _once_an_epoch(evidence, iterations, place):
        return None  # the weights have changed since: how often it is done is STP006's
    saved_min = low * rounds * (1 - BATCHES_LEFT_MAX.value) if rounds else low * (1 - left[1])
    saved_likely = None if rounds else (low + high) / 2 * (1 - left[2])
    gained = price(CallDirectly("predict"), Part(saved_min, high * (1 - left[0]), saved_likely))
    model = name_receiver(find_call_at(evidence, place, found.api))
    unit, name = evidence.unit, "evaluate" if found.api is EVALUATE else "predict"
    loop = f"in {unit.loop}" if often else "in a loop"
    figures = [Measurement(f"batches per call of {name}", batches, "number", "run")] if batches >= 2 else []
    return Finding(
        code="EAG004",
        remedy=CallDirectly("predict"),
        title=(
            f"{model}.{name} called on {batches:,.0f} small batches {loop}"
            if rounds
            else f"{model}.{name} called {'repeatedly' if batches >= 2 else 'on tiny inputs'} {loop}"
        ),
        basis=basis(evidence, iterations.iteration_ms),
        share_of_step=share,
        gain=gained,
        where=where(evidence, [place for place, _ in (*at.most_common(3), *fits.most_common(1))]),
        evidence=(
            Measurement(f"time in calls of {name}", share, "share", "samples"),
            Measurement(f"time in calls of {name} {unit.per}", share * iterations.iteration_ms, "ms", "samples"),
            *figures,
            *list_costs(evidence, "call_ms"),
            Measurement("samples", float(len(iterations.found)), "count", "baseline"),
        ),
        advice=larger_batches(model, name)
        if rounds
        else _advice(evidence, iterations, place, model, name, batches, fits=bool(fits)),
        detail=(
            EACH_BATCH
            if rounds
            else f"Each {name} call creates a dataset, an iterator and callbacks, and traces the dataset's functions."
            + ("" if batches >= 2 else " That takes far longer than the network itself.")
        ),
        absorbs=("INP001", "INP012", "RET012", "RET008", *(("EAG006", "STP010") if fits else ())),
        absorbs_here=("LIN001", "SYN001", "RET014"),  # it traces, as the detail says
        parts=("evaluate", "dispatch", "eager_ops", "tracing", "input", "other") if evidence.work is not None else (),
    )


def _once_an_epoch(evidence: Evidence, iterations: Stretch, place: Place) -> bool:
    """Whether a callback of Keras' makes the calls at this line, one after each epoch."""
    here = [s for s, _ in iterations.found if s.frames and (s.frames[-1].file, s.frames[-1].line) == place]
    return bool(here) and all(
        at_epoch_end(evidence, stack) == place for stack in here if is_calling(evidence, stack.frames[-1], PREDICT)
    )


def _left(evidence: Evidence, place: Place, computing: float) -> tuple[float, float, float]:
    """Shares of the time in ``predict``, the least, the most and the median, that a compiled call of the model takes
    instead: the call, the work that it computes, and tracing it once. ``computing``: the share in compiled functions
    now."""
    durations = _durations(evidence, place)
    if not durations:
        return PREDICT_LEFT
    each_ms, waits = statistics.median(durations), waiting(evidence)
    call = find_cost(evidence, "call_ms")
    once = Bounds(PREDICT_TRACED_MIN.value, PREDICT_TRACED_MAX.value)
    upper = min(max(waits * call.upper / each_ms, computing) + once.upper / len(durations), 1.0)
    least = min(waits * call.lower / each_ms + once.lower / len(durations), upper)
    usual = max(waits * call.lower / each_ms, computing) + PREDICT_TRACED_LIKELY.value / len(durations)
    return least, upper, min(max(usual, least), upper)


def _durations(evidence: Evidence, place: Place) -> list[float]:
    """ms of the calls of Keras at a line, without the first, which traces."""
    here = {site.id for site in sites(evidence) if (site.file, site.line) == place and site.kind in _KERAS}
    found = (item for item in evidence.markers() if item.site in here)
    return [ms(item.end_ns - item.begin_ns) for item in found if item.end_ns > item.begin_ns][1:]


def _batches(evidence: Evidence, place: Place) -> float:
    """Batches of a call of Keras at a line, on the average; 1 where that was not counted."""
    kinds = {site.id: site.kind for site in sites(evidence) if (site.file, site.line) == place}
    counted = Counter(kinds[item.site] for item in evidence.markers() if item.site in kinds)
    calls_of_it = counted["predict"] + counted["evaluate"]
    return counted["next"] / calls_of_it if calls_of_it and counted["next"] else 1.0


def _rounds(evidence: Evidence, place: Place, batches: float) -> float:
    """Return the share of such a call in Keras' loop, one iteration per batch of any size; 0 if it is not most of the
    call."""
    durations = _durations(evidence, place)
    if batches < MIN_MADE.value or not durations:
        return 0.0
    share = min(batches * PREDICT_BATCH_MS.value / statistics.median(durations), 1.0)
    return share if share >= shared.MOSTLY.value else 0.0


def _advice(
    evidence: Evidence, iterations: Stretch, place: Place, model: str, name: str, batches: float, *, fits: bool
) -> str:
    """Say what to change. One batch comes first if nothing in the loop depends on the call before: it gains more."""
    if batches >= 2:
        return (
            f"Collect the inputs of all calls and {name} them in one call. Or: if data and weights are the same in "
            f"several calls, {name} once and keep the result."
        )
    update = ", and update with one train_on_batch for all of them" if fits else ""
    together = f"ollect the inputs and {name} them in one batch{update}"
    compiled = advise_compiling_once(evidence, *place, model, name)
    calls = Counter(
        {stack: count for stack, count in iterations.found if stack.frames and _is_at(stack.frames[-1], place)}
    )
    if fits or loop_of_batch(evidence, calls) is not None:
        return f"C{together}. Or, for less gain: {compiled[0].lower()}{compiled[1:]}."
    return f"{compiled}. Or: if the inputs are independent, c{together}."


def _is_at(frame: Frame, place: Place) -> bool:
    return (frame.file, frame.line) == place


def _apart(evidence: Evidence, place: tuple[str, int]) -> bool:
    """Whether the innermost loop around a line holds no training: one that makes a text or plays a game."""
    around = find_loops(evidence, *place)
    if not around:
        return False
    inner = around[-1]
    updates = [site for site in sites(evidence) if site.kind in UPDATES]
    trained = [at for site in updates for at in ((site.file, site.line), *site.chain)]
    return bool(trained) and not any(file == place[0] and inner.line <= line <= inner.last for file, line in trained)


def _fits_beside(evidence: Evidence, iterations: Stretch, places: set[tuple[str, int]]) -> Counter[tuple[str, int]]:
    """Return the samples in a ``fit`` that is in the same loop, or in the same function outside all loops, so that it
    is called as often: its time around the batch."""
    around = {_repeats(evidence, *place) for place in places} - {None}
    at: Counter[tuple[str, int]] = Counter()
    for stack, weight in iterations.found:
        if stack.frames and stack.activity != "graph" and in_fit(evidence, stack):
            place = stack.frames[-1].file, stack.frames[-1].line
            if _repeats(evidence, *place) in around:
                at[place] += weight
    return at


def _repeats(evidence: Evidence, file: str, line: int) -> tuple[str, int] | None:
    """Return where the innermost loop around a line begins, or its function if there is no loop."""
    own, function = find_loops(evidence, file, line), find_function(evidence, file, line)
    at = own[-1].line if own else function.line if function is not None else None
    return (file, at) if at is not None else None


def _steps_with_predict(evidence: Evidence, places: set[tuple[str, int]]) -> int:
    """In how many clean steps, or just behind them, samples saw Keras predict at these lines."""
    clean = evidence.steps.clean
    return len(
        {
            evidence.steps.number_at(when)
            for when, stack in evidence.log.inside([(clean[0].begin_ns, clean[-1].end_ns)])
            if stack.context == "evaluate" and stack.frames and (stack.frames[-1].file, stack.frames[-1].line) in places
        }
    )
