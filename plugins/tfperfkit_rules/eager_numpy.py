"""EAG002: NumPy in the middle of the step keeps it from being compiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from tfperfkit_probes.devices_model import DevicesData

from tfperfkit.evidence import Evidence
from tfperfkit.gain import middle, severity, speedup
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit_rules.eager_gain import compiled
from tfperfkit_rules.eager_place import StepPlace
from tfperfkit_rules.eager_source import Function, enclosing, find_in
from tfperfkit_rules.eager_step import lost, measured, own_eager_step

#: Python and NumPy inside the step are told apart from EAG001 from this share of the step on (XProf's "moderate").
LEAST_SHARE = 0.05
_READS = (".numpy(", ".numpy)", "np.asarray(", "np.array(", ".item(", ".tolist(")


def numpy_inside(evidence: Evidence) -> Iterable[Finding]:
    """The finding, when the eager step reads tensors and works on with NumPy or Python before its update."""
    place = own_eager_step(evidence)
    if place is None:
        return
    lines = _own_lines(evidence, place)
    share = sum(lines.values()) / evidence.samples.count if evidence.samples.count else 0.0
    read = _read(evidence, place)
    if share < LEAST_SHARE or read is None:
        return
    with_own, without = compiled(evidence, place), compiled(evidence, place, without_own=True)
    if with_own is None or without is None:
        return
    # At worst what replaces it takes half of what it took.
    low = speedup(1 - min(0.99, (with_own.most_ms - 0.5 * with_own.own_ms) / with_own.step_ms))
    bounds = (low, max(low, without.range[1]))
    hot = [SourceSpan(file, line, _name(evidence, file, line)) for (file, line), _ in lines.most_common(3)]
    yield Finding(
        code="EAG002", family="eager", title="The step leaves TensorFlow for NumPy, so it can't be compiled",
        severity=severity(1 - 1 / bounds[0]), share_of_step=min(1.0, lost(with_own) + share),
        predicted_speedup=middle(bounds), predicted_range=bounds,
        where=tuple(dict.fromkeys((read, *hot, *place.where))),
        evidence=(Measurement("Python and NumPy inside the step", share, "share", "samples"), *measured(with_own)),
        advice=(
            f"Write what follows {_short(read)} with TensorFlow (tf.reduce_sum, tf.where, tf.argmax, tf.gather on "
            f"whole tensors), then put @tf.function on {place.functions[0].function or 'the step'}."
            if place.functions else
            f"Write what follows {_short(read)} with TensorFlow, then move the step into a @tf.function."
        ),
        detail="Between the forward pass and the update the value of a tensor is read and worked on in Python.",
        absorbs=("EAG001",), absorbs_here=("LIN001", "SYN001"),
    )


def _short(span: SourceSpan) -> str:
    return f"{span.file.rpartition('/')[2]}:{span.line}"


def _name(evidence: Evidence, file: str, line: int) -> str:
    function = enclosing(evidence, file, line)
    return function.name if function else ""


def _functions(evidence: Evidence, place: StepPlace) -> list[tuple[str, Function]]:
    found = ((span.file, enclosing(evidence, span.file, span.line)) for span in place.functions)
    return [(file, function) for file, function in found if function is not None]


def _own_lines(evidence: Evidence, place: StepPlace) -> Counter[tuple[str, int]]:
    """Samples of the person's own Python in the functions that make the step, by innermost line."""
    bodies = _functions(evidence, place)
    found: Counter[tuple[str, int]] = Counter()
    for leaf in evidence.samples.leaves():
        own = evidence.samples.doing_innermost(leaf)["python"]
        if own and any(file == leaf[0] and body.line <= leaf[1] <= body.last for file, body in bodies):
            found[leaf] = own
    return found


def _read(evidence: Evidence, place: StepPlace) -> SourceSpan | None:
    """The first line of the step that reads the value of a tensor."""
    data = evidence.data("devices", DevicesData)
    for file, body in _functions(evidence, place):
        rows = [
            row.line for row in (data.host_syncs if data is not None else ())
            if row.file == file and body.line <= row.line <= body.last and not row.through
        ]
        line = min(rows, default=None) or find_in(evidence, file, body.line, body.last, *_READS)
        if line is not None:
            return SourceSpan(file, line, body.name)
    return None
