"""EAG004, for models that are called eagerly next to a compiled update, such as the choice of an action.

Stack samples give the share of the step in these calls. The gain assumes one compiled call instead, or one batch of all
iterations if they are independent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from tfperfkit import calibration
from tfperfkit.calibration import Derived, Measured, Threshold
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.remedy import Compile
from tfperfkit.rule import Evidence
from tfperfkit_rules.eager.called_at_once import advice, names_of, title
from tfperfkit_rules.eager.work.gain import MAPS_LEFT_MAX, MAPS_LEFT_MIN, left
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import LAYER, TRAINER, find_call, is_calling, name_callee
from tfperfkit_rules.measures.compiled_once import advise_compiling_once
from tfperfkit_rules.measures.loop_iterations import where
from tfperfkit_rules.measures.loop_of_batch import BatchLoop, loop_of_batch
from tfperfkit_rules.measures.source_text import find_function, find_loops
from tfperfkit_rules.measures.step_place import reached
from tfperfkit_rules.measures.step_shares import LineShare, line_shares, share_of, span, window

MIN_CALL = Threshold(
    2 * calibration.SEVERITY_MEDIUM.value,
    "share",
    "minimum share of the step in an eager call of a model next to a compiled update",
    Derived("XProf warns of eager execution from 10 %"),
)
CALL_LEFT_MIN = Threshold(
    0.05,
    "share",
    "minimum share of an eager model call that remains in a compiled call",
    Measured(
        "0.02 to 0.25 without the points that waited for a CPU, median 0.15; 0.03 to 0.11 in another run",
        MEASURED_ON,
        15,
        "model_call",
    ),
)
CALL_LEFT_MAX = Threshold(
    0.4,
    "share",
    "maximum share of an eager model call that remains in a compiled call",
    Measured("see CALL_LEFT_MIN", MEASURED_ON, 15, "model_call"),
)
CALL_LEFT_LIKELY = Threshold(
    0.15,
    "share",
    "median share of an eager model call that remains in a compiled call",
    Measured("see CALL_LEFT_MIN", MEASURED_ON, 15, "model_call"),
)

CALL_LEFT = Left(CALL_LEFT_MIN.value, CALL_LEFT_MAX.value, CALL_LEFT_LIKELY.value)
_HANDED = ("eager_ops", "dispatch")


def model_called(evidence: Evidence) -> Iterable[Finding]:
    """The costliest call with all calls of models in the same loop, which have one remedy."""
    if evidence.work is not None:  # of other work EAG008 tells
        return
    if reached(evidence, "apply") or not reached(evidence, "call", "train_on_batch", "batch", "loop_call"):
        return
    if evidence.samples.count < MIN:
        return
    models: dict[Place, str] = {}

    def calling(stack: Stack) -> Place | None:
        """The outermost line that calls a model; none below what Keras' own training calls."""
        for frame in stack.frames:
            if is_calling(evidence, frame, TRAINER):
                return None
            if is_calling(evidence, frame, LAYER):
                place = frame.file, frame.line
                if place not in models:
                    models[place] = name_callee(find_call(evidence, frame, LAYER), "the model")
                return place
        return None

    rows = [row for row in line_shares(evidence, _HANDED, calling)[:6] if _in_loop(evidence, row.place)]
    together: dict[tuple[str, int], list[LineShare]] = defaultdict(list)
    for row in rows:
        file, line = row.place
        around = find_loops(evidence, file, line)
        together[file, around[-1].line if around else -line].append(row)
    found = max(together.values(), key=lambda own: sum(row.share for row in own), default=[])
    if sum(row.share for row in found) >= MIN_CALL.value:
        places = {row.place for row in found}
        stacks = evidence.samples.stacks.items()
        held = Counter({stack: n for stack, n in stacks if stack.activity in _HANDED and calling(stack) in places})
        yield _make_finding(evidence, found, held, models)


def _make_finding(evidence: Evidence, rows: list[LineShare], held: Counter[Stack], models: dict[Place, str]) -> Finding:
    unit = evidence.unit
    share, count = sum(row.share for row in rows), evidence.samples.count
    names = list(dict.fromkeys(models[row.place] for row in rows))
    apart = loop_of_batch(evidence, held)
    if apart is not None and apart.fed(evidence):
        apart = None
    stays = CALL_LEFT
    if apart is not None:
        reads = share_of(evidence, {"host_sync": apart.reads(evidence).total()})
        share = min(share + reads, shared.MAX_STEP_SHARE.value)
        otherwise = MAPS_LEFT_MIN.value, MAPS_LEFT_MAX.value
        rest = left(evidence, share, None, otherwise, iterations=apart.batch)
        stays = Left(rest.lower, rest.upper)
    gained = price(Compile("model"), Part.sampled(share, count), stays)
    first = rows[0].place
    compiled = advise_compiling_once(evidence, *first, models[first])
    return Finding(
        code="EAG004",
        remedy=Compile("model"),
        title=f"{names_of(names)} called eagerly in {unit.loop}" if apart is None else title(names, apart),
        share_of_step=share,
        gain=gained,
        where=_places(evidence, rows, apart),
        evidence=(
            Measurement("time in eager model calls", share, "share", window(evidence)),
            *(
                [Measurement("iterations of the loop", apart.iterations, "number", "lines")]
                if apart and apart.iterations
                else []
            ),
            Measurement("samples", float(count), "count", "baseline"),
        ),
        advice=(
            f"{compiled}. Pass tensors. Or: call {names_of(names)} once for all inputs that are available together."
            if apart is None
            else advice(names, compiled)
        ),
        detail="The update is compiled, but Python dispatches each operation of these model calls.",
        absorbs_here=("LIN001", *(("SYN001",) if apart is not None else ())),
    )


def _places(evidence: Evidence, rows: list[LineShare], apart: BatchLoop | None) -> tuple[SourceSpan, ...]:
    """The calls with the loop around the first, and the loop whose iterations could be one batch: the title has its
    line."""
    spans = where(evidence, [row.place for row in rows])
    if apart is None:
        return spans
    return tuple(dict.fromkeys((*spans, span(evidence, apart.file, apart.loop.line))))


def _in_loop(evidence: Evidence, place: Place) -> bool:
    """Whether a line is in a loop, or in a function, which a loop may call."""
    return bool(find_loops(evidence, *place)) or find_function(evidence, *place) is not None
