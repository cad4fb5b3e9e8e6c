"""EAG008: a loop outside of training, a long call, or code next to a compiled training step, runs as eager
operations.

Stack samples give the time in eager operations and their dispatch. If a trace counted the operations, the gain keeps
the work of their kernels, as for an eager training step; otherwise it assumes that 3 to 65 % of the time remain. If the
iterations of a loop are independent, the gain assumes one batch of all iterations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import partial

from tfperfkit.calibration import NEARLY_ALL, Chosen, Measured, Threshold
from tfperfkit.clock import MS_PER_S
from tfperfkit.gain import LOW, MEDIUM
from tfperfkit.ledger.compute import has_long_operations
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.machines import TWO_BUSY_CORES
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import MIN
from tfperfkit.records.samples import Place as Line
from tfperfkit.remedy import Compile
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit_rules.eager import called_at_once as at_once
from tfperfkit_rules.eager.called_at_once import names_of
from tfperfkit_rules.eager.gain import MIN_SHARE
from tfperfkit_rules.eager.step import runs_eagerly
from tfperfkit_rules.eager.work.gain import MAPS_LEFT_MAX, MAPS_LEFT_MIN, Left, left
from tfperfkit_rules.eager.work.place import (
    Model,
    Place,
    beside,
    count_iterations,
    function_of,
    holds,
    inside_of,
    model_of,
    reads,
    times_of,
)
from tfperfkit_rules.eager.work.words import (
    LOOPS,
    advise,
    all_at_once,
    also_moved,
    as_jacobian,
    detail,
    places,
    rows_of,
)
from tfperfkit_rules.measures.compiled_once import advise_compiling_once
from tfperfkit_rules.measures.eager_stacks import EagerPart, split_eager_samples
from tfperfkit_rules.measures.loop_of_batch import BatchLoop, loop_of_batch
from tfperfkit_rules.measures.making import making
from tfperfkit_rules.measures.source_text import find_line_calls
from tfperfkit_rules.measures.step_place import step_place
from tfperfkit_rules.measures.step_shares import span
from tfperfkit_rules.measures.written_sizes import is_batch_of_one

TITLES = {"EAG008": "Loop or call runs as eager operations, outside tf.function"}

EAGER_LEFT_MIN = Threshold(
    0.03,
    "share",
    "minimum share of eager operations that a compiled function leaves, if no trace counted them",
    Measured(
        "0.02 at the 10th percentile: chunks of a k-means 0.02 to 0.07, a power iteration on 64 numbers 0.03 to 0.06, "
        "a mel spectrogram 0.02 to 0.12",
        TWO_BUSY_CORES,
        7,
    ),
)
EAGER_LEFT_MAX = Threshold(
    0.65,
    "share",
    "maximum share of eager operations that a compiled function leaves, if no trace counted them",
    Measured(
        "augmenting an image of 64 pixels 0.12 to 0.66, a Mandelbrot set of 600 x 600 0.29 to 0.64, a power iteration "
        "on 1000 numbers, which is all matmuls, 0.26 to 1.3",
        TWO_BUSY_CORES,
        7,
    ),
)
SEVERAL = Threshold(
    4,
    "number",
    "minimum number of operations in an iteration, for one call to gain anything",
    Chosen("a call is one operation too"),
)

_PARTS: tuple[PartName, ...] = ("eager_ops", "dispatch")


def eager_work(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for the operations that no other cause explains."""
    found = priced_operations(evidence)
    return [found] if found is not None else []


def priced_operations(evidence: Evidence) -> Finding | None:
    """Return what these operations cost, and what compiling them gains."""
    samples = evidence.samples
    if samples.count < MIN or (evidence.work is None and not _compiled_step(evidence)):
        return None
    parts = split_eager_samples(evidence)
    part = parts.get("operations")
    joined = part is not None and evidence.work is not None and _joined(evidence, part, parts.get("elements"))
    part = joined or part
    share = part.seen / samples.count if part is not None else 0.0
    if evidence.work is None:  # a trace may have shown the parts of a step: what is in none of them can't be gained
        share = min(share, evidence.share(*_PARTS))
    if part is None or share < MIN_SHARE.value:
        return None
    if sum(count for stack, count in part.stacks.items() if stack.activity == "eager_ops") < LOW * samples.count:
        return None  # a graph of TensorFlow 1 is being built
    model = model_of(evidence, part)
    place = function_of(evidence, part) if model is None and making(evidence) is None else None
    upper: Left | None = None
    moved = Counter[int]()
    apart = loop_of_batch(evidence, part.stacks) if making(evidence) is None else None
    if apart is not None and model is not None and _has_batches(evidence, apart, model):
        apart = None
    if apart is not None and model is None and _compiled_does_better(evidence, part, apart, place):
        apart = None
    if apart is not None:
        operations = share
        rest, share = _batch(evidence, part, apart, operations)
        most = share
        if apart.outer is not None:
            upper, most = _batch(evidence, part, apart.outer, operations)
    else:
        otherwise = EAGER_LEFT_MIN.value, EAGER_LEFT_MAX.value
        times, inside = times_of(evidence, part, place), inside_of(part, place)
        more = part.count_own(evidence, partial(holds, place)) * (evidence.work is not None)
        share, inside = min(share + more / samples.count, 1.0), (inside * part.seen + more) / (part.seen + more)
        most = share
        repeated = count_iterations(evidence, place)
        rest = left(evidence, share, times, otherwise, inside, repeated=repeated)
        moved = beside(evidence, part, place)
        if moved.total() >= MEDIUM * part.seen:
            also = min(inside + moved.total() / (part.seen + more), 1.0)
            upper = left(evidence, share, times, otherwise, also, repeated=repeated)
    if rest.operations is None and has_long_operations(evidence.part("eager_ops"), evidence.part("dispatch")):
        return None  # their dispatch is negligible: they are long, and a graph would run them too
    if rest.operations is not None and rest.operations < SEVERAL.value:
        return None
    saved = rest.saved(share, samples.count)
    if upper is not None:
        saved = Part(saved.low, max(upper.saved(most, samples.count).high, saved.high))
    if model is not None:
        return _find_called_model(evidence, part, model, apart, rest, share, saved)
    where = places(evidence, part, place)
    if apart is not None:
        where = tuple(dict.fromkeys((span(evidence, apart.file, apart.loop.line), *where)))
    rows = rows_of(evidence, part, place) if apart is None else None
    if rows is not None and place is not None:
        where = tuple(dict.fromkeys((span(evidence, place[0], rows.line), *where)))
    what = _capital(evidence.unit.a)
    known = rest.operations is not None
    if evidence.work is None:
        number = f"{rest.operations:,.0f} " if known else ""
        many = f"runs {number}eager operations, outside its tf.function"
    else:
        number = _number(evidence, rest.operations) if known else "eager operations"
        many = f"runs as {number}, outside tf.function"
    return Finding(
        code="EAG008",
        remedy=Compile("function"),
        title=f"{what} {many}",
        share_of_step=share,
        gain=price(Compile("function"), saved),
        where=where,
        evidence=(
            Measurement("time in eager operations and their dispatch", share, "share", "samples"),
            *rest.evidence,
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=all_at_once(evidence, apart, place)
        if apart is not None
        else advise(evidence, part, place)
        + (also_moved(moved) if upper is not None else "")
        + (as_jacobian(rows) if rows is not None else LOOPS if rest.loops and place is not None else ""),
        detail=detail(evidence, part, rest),
        absorbs=("EAG011",) if joined else (),
        absorbs_here=("LIN001",),
        parts=_PARTS,
    )


def _joined(evidence: Evidence, part: EagerPart, elements: EagerPart | None) -> EagerPart | None:
    """With the loops in the same function that take elements out of tensors, where these are the lesser part: a
    function that reads no value is compiled with all of its loops. None where there are none."""
    place = function_of(evidence, part)
    if elements is None or place is None or elements.seen >= part.seen or reads(evidence, place):
        return None
    held = {stack: count for stack, count in elements.stacks.items() if any(holds(place, at) for at in stack.frames)}
    if not held:
        return None
    lines = Counter[Line]()
    for stack, count in held.items():
        lines[stack.frames[-1].file, stack.frames[-1].line] += count
    return EagerPart(part.kind, part.stacks + Counter(held), part.lines + lines)


def _compiled_step(evidence: Evidence) -> bool:
    """Whether a compiled function makes the updates of the steps, or computes their gradients and takes the larger
    part; or ``fit`` makes the steps, whose callbacks run operations next to the compiled step."""
    place, computes = step_place(evidence), evidence.share("graph") >= MEDIUM
    if evidence.steps.source == "keras":
        return computes
    return evidence.steps.source == "custom" and (place is None or (computes and not runs_eagerly(evidence)))


def _batch(evidence: Evidence, part: EagerPart, apart: BatchLoop, share: float) -> tuple[Left, float]:
    """Return what is left where all iterations of a loop become one, and the share of the work that it is left of:
    reading values and calling operations in each iteration belong to it."""
    count = evidence.samples.count
    reads = apart.reads(evidence)
    more = reads.total() + (part.count_own(evidence, apart.holds, reads) if evidence.work is not None else 0)
    share = min((part.seen + more) / count if evidence.work is not None else share + more / count, 1.0)
    otherwise = MAPS_LEFT_MIN.value, MAPS_LEFT_MAX.value
    return left(evidence, share, None, otherwise, (apart.held + more) / (part.seen + more), apart.batch), share


def _compiled_does_better(evidence: Evidence, part: EagerPart, apart: BatchLoop, place: Place | None) -> bool:
    """Whether a compiled function surely leaves less of the time than one batch of all iterations: these are few, and
    each runs many operations, as a recursion over time does."""
    if place is None or reads(evidence, place) or evidence.work is None:
        return False
    share = part.seen / evidence.samples.count
    otherwise = EAGER_LEFT_MIN.value, EAGER_LEFT_MAX.value
    compiled = left(evidence, share, times_of(evidence, part, place), otherwise, inside_of(part, place))
    return compiled.operations is not None and compiled.upper < _batch(evidence, part, apart, share)[0].lower


def _has_batches(evidence: Evidence, apart: BatchLoop, model: Model) -> bool:
    """Whether each iteration may well have a batch of its own already: the source shows no single row."""
    fed = _is_loop_of_work(evidence, apart) or apart.fed(evidence)
    return fed and not gives_one_row(evidence, model.file, model.line, model.name)


def _is_loop_of_work(evidence: Evidence, apart: BatchLoop) -> bool:
    """Whether it is the loop that the work is."""
    own = evidence.work.where if evidence.work is not None else None
    return own is not None and own.file == apart.file and apart.loop.line <= own.line <= apart.loop.last


def _title_loop(evidence: Evidence, apart: BatchLoop | None) -> tuple[SourceSpan, ...]:
    """Return the loop that the title names."""
    return (span(evidence, apart.file, apart.loop.line),) if apart is not None else ()


def _number(evidence: Evidence, operations: float | None) -> str:
    """``1,240 eager operations``, of an iteration or of all of the work; of a stretch of it with its length."""
    work, timed_s = evidence.work, (evidence.step_ms or 0.0) / MS_PER_S
    if work is None or work.iterations is not None or timed_s >= NEARLY_ALL.value * work.seconds:
        return f"{operations or 0.0:,.0f} eager operations"
    return f"eager operations, about {float(f'{operations or 0.0:.2g}'):,.0f} in {timed_s:,.1f} s"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def _compile(evidence: Evidence, model: Model) -> str:
    if model.others:
        return (
            f"Call {names_of(model.all)} in one @tf.function(reduce_retracing=True), which is created once, before the "
            "loop"
        )
    return advise_compiling_once(evidence, model.file, model.line, model.name)


def _find_called_model(
    evidence: Evidence,
    part: EagerPart,
    model: Model,
    apart: BatchLoop | None,
    rest: Left,
    share: float,
    saved: Part,
) -> Finding:
    """EAG004, for a model that is called directly. Its place is the call, which is to be compiled or to be made once
    for all iterations of its loop, before the lines of the model that take the time."""
    samples = evidence.samples
    own = span(evidence, model.file, model.line)
    compiled = _compile(evidence, model)
    return Finding(
        code="EAG004",
        remedy=Compile("model"),
        title=f"{names_of(model.all)} called eagerly in {evidence.unit.loop}"
        if apart is None
        else at_once.title(model.all, apart),
        share_of_step=share,
        gain=price(Compile("model"), saved),
        where=tuple(dict.fromkeys((own, *_title_loop(evidence, apart), *places(evidence, part, None)))),
        evidence=(
            Measurement("time in eager model calls", share, "share", "samples"),
            *(
                [Measurement("iterations of the loop", apart.iterations, "number", "lines")]
                if apart and apart.iterations
                else []
            ),
            *rest.evidence,
            Measurement("samples", float(samples.count), "count", "baseline"),
        ),
        advice=f"{compiled}. Pass tensors. Or: call {names_of(model.all)} once for all inputs that are available "
        "together."
        if apart is None
        else at_once.advice(model.all, compiled),
        detail="Outside a compiled function, Python dispatches each operation of the model.",
        absorbs_here=("LIN001", *(("SYN001",) if apart is not None else ())),
        parts=_PARTS,
    )


#: Functions that make a tensor or an array of a list with one element.
_OF_LIST = (
    *(f"tensorflow.{name}" for name in ("constant", "convert_to_tensor", "stack", "Variable")),
    *(f"numpy.{name}" for name in ("array", "asarray", "stack", "vstack")),
)
#: Functions that return the rows as they are.
_KEEPING = ("tensorflow.cast", "tensorflow.identity", "tensorflow.constant", "tensorflow.convert_to_tensor")


def gives_one_row(evidence: Evidence, file: str, line: int, callee: str) -> bool:
    """Whether the call of ``callee`` (as in the source) at a line gets one row as its first argument:
    ``x[None]``, ``x[i : i + 1]``, ``tf.constant([x])``, or a name that only such things are assigned."""
    calls = find_line_calls(evidence, file, line)
    found = [call for call in calls if call.function.text == callee and call.arguments]
    return bool(found) and all(_is_one_row(call.arguments[0]) for call in found)


def _is_one_row(node: Expression, met: tuple[Expression, ...] = ()) -> bool:
    """Whether an expression is one row. ``met``: the expressions on the way here, since names may be circular."""
    if is_batch_of_one(node) or any(_is_slice_of_one(index) for index in node.indices[:1]):
        return True
    if node in met:
        return False
    if isinstance(node, Call):
        first = node.arguments[0] if node.arguments else None
        if node.name in _OF_LIST and first is not None and first.kind == "list":
            return len(first.items) == 1
        kept = first if node.name in _KEEPING else node.receiver if node.method == "astype" else None
        return kept is not None and _is_one_row(kept, (*met, node))
    assigned = node.assigned if node.kind == "name" else []
    return bool(assigned) and all(_is_one_row(item, (*met, node)) for item in assigned)


def _is_slice_of_one(index: Expression) -> bool:
    """Whether a slice is ``i : i + 1``."""
    lower, upper = index.bounds
    if lower is None or upper is None or upper.operator != "+" or len(upper.operands) != 2:
        return False
    return upper.operands[1].is_constant(1) and upper.operands[0].text == lower.text
