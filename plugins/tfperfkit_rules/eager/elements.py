"""EAG010: ``tf.map_fn`` and similar functions are called eagerly. EAG011: Python reads elements of a tensor one by one.

Stack samples give the time in these lines, and the source shows the loop or the call around them. The gain assumes
operations on the whole tensor, a single read, or a compiled function.
"""

from __future__ import annotations

from collections.abc import Iterable

from tfperfkit.calibration import Chosen, Measured, Threshold
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.samples import MIN, Frame, Place
from tfperfkit.remedy import BatchLoop, Compile, Remedy
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.eager.step import runs_eagerly
from tfperfkit_rules.eager.work.gain import MAPS_LEFT_MAX, MAPS_LEFT_MIN, Left, left
from tfperfkit_rules.measures.eager_maps import advise_compiling, name_map
from tfperfkit_rules.measures.eager_stacks import (
    EagerPart,
    Kind,
    find_pass_through_rows,
    find_taken_element,
    split_eager_samples,
)
from tfperfkit_rules.measures.source_text import find_loops
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.trace_window import reached

TITLES = {
    "EAG010": "tf.map_fn called eagerly runs its function in Python",
    "EAG011": "Python reads tensor elements one at a time",
}

ELEMENTS_LEFT_MIN = Threshold(
    0.0005,
    "share",
    "minimum share that remains if the whole tensor is read once, of taking elements one by one",
    Measured(
        "float(x[i, j]) 0.30 ms, with the array that .numpy() returned 0.0002 ms: 0.0002 to 0.0014", TWO_BUSY_CORES, 7
    ),
)
ELEMENTS_LEFT_MAX = Threshold(
    0.02,
    "share",
    "maximum share that remains if the whole tensor is read once, of taking elements or rows one by one",
    Measured("rows with a sum of each, with NumPy: 0.0005 to 0.014", TWO_BUSY_CORES, 7),
)
MAX_NAME = Threshold(
    30, "characters", "longest expression that a title quotes", Chosen("a third of a line; decides nothing")
)

_WHOLE = (
    "Write the function for the whole tensor: axis=-1, keepdims=True instead of one row at a time. Or: call "
    "tf.vectorized_map inside a @tf.function, if no element depends on another."
)
#: Python's own functions that go through their argument.
_HANDS_ON = ("zip", "enumerate", "reversed", "list", "tuple", "iter")


def maps_called_eagerly(evidence: Evidence) -> Iterable[Finding]:
    """EAG010, for the line with most of the time."""
    part = _part(evidence, "maps")
    if part is None:
        return
    place = part.lines.most_common(1)[0][0]
    name = name_map(evidence, part, place)
    share = part.seen / evidence.samples.count
    otherwise = MAPS_LEFT_MIN.value, MAPS_LEFT_MAX.value
    rest = left(evidence, share, reached(evidence, place[0], place[1], place[1]), otherwise)
    if name == "map_fn":  # whole tensors take the place of its iterations, so that fewer operations are left
        rest = rest._replace(lower=min(rest.lower, MAPS_LEFT_MIN.value))
    yield _make_finding(
        evidence,
        part,
        rest,
        code="EAG010",
        remedy=Compile("map"),
        title=_title_map(name),
        advice=_WHOLE if name == "map_fn" else advise_compiling(evidence, place, name),
        detail=f"Most frequent operations: {', '.join(rest.types)}." if rest.types else "",
    )


def _title_map(name: str) -> str:
    if name == "vectorized_map":
        return "tf.vectorized_map called eagerly traces its function in each call"
    return f"tf.{name} called eagerly runs its {'iterations' if name == 'while_loop' else 'function'} in Python"


def elements_one_by_one(evidence: Evidence) -> Iterable[Finding]:
    """EAG011, for the loop with most of the time."""
    part = _part(evidence, "elements")
    if part is None:
        return
    line = part.lines.most_common(1)[0][0]
    taken = next(
        (
            node
            for stack in part.stacks
            if (stack.frames[-1].file, stack.frames[-1].line) == line
            and (node := find_taken_element(evidence, stack.frames[-1])) is not None
        ),
        None,
    )
    around = find_loops(evidence, *line)
    through = next((call for stack in part.stacks if (call := _through(evidence, stack.frames[-1], line))), None)
    over = around[-1].over if around else ""
    several = _list_zipped(around[-1].iterable) if around and taken is None else ()
    who = ""
    if through is not None and taken is None:
        who, over = _short(through.function), _short(through.arguments[0]) if through.arguments else ""
        several = _list_zipped(through.arguments[0]) if through.arguments else ()
    owner = taken.owner if taken is not None else None
    name = _short(owner) if owner is not None else " and ".join(several) or over or "the tensor"
    values = ", ".join(f"{item}.numpy()" for item in several or (_short_text(name),))
    read = f"{', '.join(several) or 'values'} = {values}"
    one = f"elements {_short(taken)}" if taken is not None else "rows"
    looped = ", before the loop" if around else ""
    advice = (
        f"Read the whole tensor once{looped}: {read}. Take elements from that array. Or: use operations on the whole "
        "tensor (tf.reduce_sum, tf.where, tf.gather)."
    )
    if who:
        advice = f"Read the whole tensor first and pass its values to {who}: {read}."
    yield _make_finding(
        evidence,
        part,
        Left(ELEMENTS_LEFT_MIN.value, ELEMENTS_LEFT_MAX.value),
        code="EAG011",
        remedy=BatchLoop("element"),
        title=f"Python reads {_quoted(one, name)} one at a time{f', in {who}' if who else ''}",
        advice=advice,
        detail="Each element that is read is a separate TensorFlow operation, which returns a new tensor.",
    )


def _through(evidence: Evidence, frame: Frame, place: Place) -> Call | None:
    return find_pass_through_rows(evidence, frame) if (frame.file, frame.line) == place else None


def _quoted(one: str, name: str) -> str:
    return f"rows of {name}" if one == "rows" and name != "the tensor" else one


def _list_zipped(over: Expression | None) -> tuple[str, ...]:
    """List ``labels`` and ``scores`` of ``zip(labels, scores)`` or ``enumerate(labels)``; nothing for others."""
    if not isinstance(over, Call) or over.function.text not in _HANDS_ON:
        return ()
    return tuple(item.text for item in over.arguments if item.is_plain)


def _short(node: Expression) -> str:
    return node.text if len(node.text) <= MAX_NAME.value else "the tensor"


def _short_text(name: str) -> str:
    return "tensor" if name == "the tensor" else name


def _part(evidence: Evidence, kind: Kind) -> EagerPart | None:
    """Return the samples, where they are worth a finding. In an eager training step the step itself is to be
    compiled."""
    samples = evidence.samples
    if samples.count < MIN or evidence.account is None or (evidence.work is None and runs_eagerly(evidence)):
        return None
    part = split_eager_samples(evidence).get(kind)
    return part if part is not None and part.seen >= MIN_SHARE.value * samples.count else None


def _make_finding(
    evidence: Evidence, part: EagerPart, rest: Left, *, code: str, remedy: Remedy, title: str, advice: str, detail: str
) -> Finding:
    samples = evidence.samples
    share = min((part.seen + part.count_own(evidence)) / samples.count, 1.0)
    # The remaining share of elements that are read is known.
    places = [place for place, _ in part.lines.most_common(3)]
    around = find_loops(evidence, *places[0])
    spans = [span(evidence, *place) for place in places]
    if around:
        spans.append(span(evidence, places[0][0], around[-1].line))
    return Finding(
        code=code,
        remedy=remedy,
        title=title,
        share_of_step=share,
        gain=price(remedy, rest.saved(share, samples.count)),
        where=tuple(dict.fromkeys(spans)),
        evidence=(
            Measurement(
                f"time in {'eager maps' if code == 'EAG010' else 'reading elements'}", share, "share", "samples"
            ),
            *rest.evidence,
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=advice,
        detail=detail,
        absorbs_here=("LIN001", "SYN001", *(("RET014",) if code == "EAG010" else ())),
        parts=("eager_ops", "dispatch", "host_sync"),
    )
