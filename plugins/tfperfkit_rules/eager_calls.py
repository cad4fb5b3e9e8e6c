"""EAG004: Keras' ``predict`` and its like, or the model itself, called for little at each turn of the training loop.
EAG006: ``fit`` called anew for each small piece of data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tfperfkit.clock import ms
from tfperfkit.evidence import Evidence
from tfperfkit.gain import MEDIUM, interval, middle, severity, speedups
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.samples import LEAST, Stack
from tfperfkit_rules.eager_place import reached
from tfperfkit_rules.eager_source import enclosing, loops

_PREDICT = re.compile(r"(\w[\w.\[\]]*)\.(predict|predict_on_batch)\(")
_FIT = re.compile(r"(\w[\w.\[\]]*)\.fit\(")
_MODEL_CALL = re.compile(r"\b(self\.)?(\w*(?:model|net|network|policy|actor|critic|agent|encoder|decoder)\w*)\(", re.I)
#: Of the time in ``predict``, what calling the model leaves. Measured on two busy cores, a network of two layers
#: and one state: ``predict`` 244 ms (lowest tenth), ``model(x)`` 1.1 ms, a compiled call 0.3 ms. Larger networks leave
#: more.
PREDICT_LEFT = (0.005, 0.1)
#: Of the time in an eager call of the model, what a compiled call leaves.
CALL_LEFT = (0.05, 0.4)
#: Of what ``fit`` takes around its batches, what ``train_on_batch`` leaves. Measured as above: ``fit`` 240 ms,
#: ``train_on_batch`` 1.0 ms (median 2.8); in a loop over chunks 202 ms and 2.3 ms.
FIT_LEFT = (0.01, 0.1)
#: A ``fit`` of this many batches and more pays for its own setting up.
FEW_BATCHES = 8


def stretch(evidence: Evidence) -> tuple[list[Stack], float]:
    """The samples of the clean steps and of what ran between them; and ms of one turn of the loop, both together."""
    clean = evidence.steps.clean
    if not clean or evidence.account is None:
        return [], 0.0
    spans = [(step.begin_ns, step.end_ns) for step in clean]
    spans += [
        (before.end_ns, after.begin_ns) for before, after in zip(clean, clean[1:], strict=False)
        if after.number == before.number + before.count and after.begin_ns > before.end_ns
    ]
    found = [stack for span in spans for _, stack in evidence.log.inside([span])]
    count = sum(step.count for step in clean)
    return found, ms(sum(end - begin for begin, end in spans)) / count


def predict_in_loop(evidence: Evidence) -> Iterable[Finding]:
    """EAG004, for ``predict`` within the training loop."""
    found, turn_ms = stretch(evidence)
    if len(found) < LEAST or turn_ms <= 0:
        return
    at: Counter[tuple[str, int]] = Counter()
    for stack in found:
        if stack.frames and (stack.context == "evaluate" or stack.library):
            leaf = stack.frames[-1]
            if _PREDICT.search(_code(evidence, leaf.file, leaf.line)):
                at[leaf.file, leaf.line] += 1
    share = sum(at.values()) / len(found)
    if share < MEDIUM or not any(stack.context == "evaluate" for stack in found):
        return
    low, high = interval(share, len(found))
    bounds = speedups(low * (1 - PREDICT_LEFT[1]), high * (1 - PREDICT_LEFT[0]))
    place = at.most_common(1)[0][0]
    called = _PREDICT.search(_code(evidence, *place))
    model = called[1] if called else "model"
    yield Finding(
        code="EAG004", family="eager", title=f"{model}.predict is called for little data inside the training loop",
        severity=severity(1 - 1 / bounds[0]), share_of_step=share, predicted_speedup=middle(bounds),
        predicted_range=bounds, where=_where(evidence, [place for place, _ in at.most_common(3)]),
        evidence=(
            Measurement("time in predict", share, "share", "samples"),
            Measurement("time in predict per step", share * turn_ms, "ms", "samples"),
            Measurement("samples", float(len(found)), "count", "baseline"),
        ),
        advice=(
            f"Call the model itself: {model}(x) on a tensor, compiled once before the loop with "
            f"call = tf.function({model}). Or collect the inputs and predict them in one batch."
        ),
        detail=(
            "Each call of predict makes a dataset, an iterator and callbacks of its own, and traces the dataset's "
            "functions: that takes far longer than the network."
        ),
        absorbs=("INP001", "INP012", "RET012", "RET008"), absorbs_here=("LIN001", "SYN001"),
    )


def model_called(evidence: Evidence) -> Iterable[Finding]:
    """EAG004, for a model that is called operation by operation beside a compiled update (choosing an action)."""
    if reached(evidence, "apply") or not reached(evidence, "call", "train_on_batch", "batch", "loop_call"):
        return
    samples = evidence.samples
    if samples.count < LEAST:
        return
    for leaf in samples.leaves()[:6]:
        doing = samples.doing_innermost(leaf)
        share = (doing["eager_ops"] + doing["dispatch"]) / samples.count
        called = _MODEL_CALL.search(_code(evidence, *leaf))
        if share < 2 * MEDIUM or called is None or not _in_loop(evidence, leaf):
            continue
        low, high = interval(share, samples.count)
        bounds = speedups(low * (1 - CALL_LEFT[1]), high * (1 - CALL_LEFT[0]))
        model = (called[1] or "") + called[2]
        yield Finding(
            code="EAG004", family="eager", title=f"{model} is called operation by operation inside the training loop",
            severity=severity(1 - 1 / bounds[0]), share_of_step=share, predicted_speedup=middle(bounds),
            predicted_range=bounds, where=_where(evidence, [leaf]),
            evidence=(
                Measurement("time in the call", share, "share", "samples"),
                Measurement("samples", float(samples.count), "count", "baseline"),
            ),
            advice=(
                f"Compile the call once, before the loop: call = tf.function({model}, reduce_retracing=True), and give "
                "it tensors. Where several inputs are there at a time, call it once for all of them."
            ),
            detail="The update is compiled, this call is not: Python hands out each of its operations.",
            absorbs_here=("LIN001",),
        )
        return


def fit_in_loop(evidence: Evidence) -> Iterable[Finding]:
    """EAG006: many calls of ``fit`` with few batches each."""
    sites = [site for site in reached(evidence, "batch") if site.loops]
    if not sites or evidence.account is None:
        return
    batches, fits = _batches(evidence, {site.id for site in sites})
    if fits < 5 or batches / fits >= FEW_BATCHES:
        return
    found, turn_ms = stretch(evidence)
    if len(found) < LEAST or turn_ms <= 0:
        return
    inside = [stack for stack in found if _in_fit(evidence, stack) and stack.context != "evaluate"]
    around = sum(1 for stack in inside if stack.activity != "graph") / len(found)
    if around < MEDIUM:
        return
    low, high = interval(around, len(found))
    bounds = speedups(low * (1 - FIT_LEFT[1]), high * (1 - FIT_LEFT[0]))
    place = sites[0].file, sites[0].line
    called = _FIT.search(_code(evidence, *place))
    model = called[1] if called else "model"
    yield Finding(
        code="EAG006", family="eager",
        title=f"{model}.fit is called {fits:,.0f} times for {batches / fits:,.1f} batches each",
        severity=severity(1 - 1 / bounds[0]), share_of_step=around, predicted_speedup=middle(bounds),
        predicted_range=bounds, where=_where(evidence, [place]),
        evidence=(
            Measurement("calls of fit", fits, "count", "run"),
            Measurement("batches in each", batches / fits, "count", "run"),
            Measurement("time in fit outside of compiled functions", around, "share", "samples"),
            Measurement("one turn of the loop", turn_ms, "ms", "baseline"),
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
    for row in evidence.records("markers"):
        if isinstance(row, (list, tuple)) and len(row) >= 3 and row[0] in sites:
            held = row[3] if len(row) > 3 else 1
            steps, ends = steps + held, ends + (held == 0)
    return float(steps), float(ends)


def _in_fit(evidence: Evidence, stack: Stack) -> bool:
    return bool(stack.frames) and bool(_FIT.search(_code(evidence, stack.frames[-1].file, stack.frames[-1].line)))


def _code(evidence: Evidence, file: str, line: int) -> str:
    return evidence.line(file, line).partition("#")[0]


def _in_loop(evidence: Evidence, place: tuple[str, int]) -> bool:
    """Whether a line stands in a loop, or in a function, which a loop may call."""
    return bool(loops(evidence, *place)) or enclosing(evidence, *place) is not None


def _where(evidence: Evidence, places: list[tuple[str, int]]) -> tuple[SourceSpan, ...]:
    """The lines, and the loop around the first."""
    spans = []
    for file, line in places:
        function = enclosing(evidence, file, line)
        spans.append(SourceSpan(file, line, function.name if function else ""))
    around = loops(evidence, *places[0])
    if around:
        spans.append(SourceSpan(places[0][0], around[-1].line, spans[0].function))
    return tuple(dict.fromkeys(spans))
