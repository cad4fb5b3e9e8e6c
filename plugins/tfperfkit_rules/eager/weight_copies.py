"""EAG007: weights of a model go through NumPy in each step (``get_weights``, ``set_weights``).

Stack samples give the time in these lines, and in the NumPy code between them. The gain assumes assignments in a
compiled function.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tfperfkit.calibration import Measured, Threshold
from tfperfkit.gain import MEDIUM
from tfperfkit.model import Finding, Measurement
from tfperfkit.pricing import Left, Part, price
from tfperfkit.pricing.facts import NOTHING
from tfperfkit.pricing.machines import MEASURED_ON
from tfperfkit.records.samples import MIN, Place, Stack
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import WEIGHTS, Api, is_calling
from tfperfkit_rules.measures.loop_parts import goes_over_parts
from tfperfkit_rules.measures.source_calls import find_methods
from tfperfkit_rules.measures.source_text import Function, find_frame_loops, find_function
from tfperfkit_rules.measures.step_shares import LineShare, callers, innermost, line_shares, span, window

TITLES = {"EAG007": "get_weights and set_weights copy weights through NumPy"}

WEIGHTS_LEFT_MIN = Threshold(
    0.05,
    "share",
    "minimum share of copying weights through NumPy that an assignment in a compiled function takes",
    Measured("0.06 at the 10th percentile, median 0.22", MEASURED_ON, 15, "weights"),
)
WEIGHTS_LEFT_LIKELY = Threshold(
    0.22,
    "share",
    "median share of copying weights through NumPy that an assignment in a compiled function takes",
    Measured("see WEIGHTS_LEFT_MIN", MEASURED_ON, 15, "weights"),
)
WEIGHTS_LEFT_MAX = Threshold(
    0.4,
    "share",
    "maximum share of copying weights through NumPy that an assignment in a compiled function takes",
    Measured(
        "most points below 0.44, some waited for a CPU; by hand 34.7 ms a step became 20.7 ms, of which these lines "
        "had taken 45 to 61 %",
        MEASURED_ON,
        15,
        "weights",
    ),
)

_LIBRARY: tuple[Literal["dispatch", "eager_ops", "host_sync"], ...] = ("dispatch", "eager_ops", "host_sync")
#: Advice if the weights are read and nothing is set.
_READ = (
    "Call get_weights once, before the loop, and keep the arrays, if nothing trains in between. Or: read only the rows "
    "in use, within TensorFlow: tf.gather(layer.embeddings, ids)."
)
#: Methods that change weights: training and assigning.
_CHANGES = (
    "fit",
    "train_on_batch",
    "apply_gradients",
    "apply",
    "minimize",
    "set_weights",
    "load_weights",
    "assign",
    "assign_add",
    "assign_sub",
)
_WITHIN = (
    "Update the average inside one @tf.function: for a, w in zip(averages, model.trainable_variables): "
    "a.assign(d * a + (1 - d) * w). Create averages = [tf.Variable(w) for w in model.trainable_variables] once. Or: "
    "use the optimizer's own average, use_ema=True."
)
#: A variable is read as an array.
_VALUE = Api(
    (
        "keras.src.backend.tensorflow.core",
        "keras.src.backend.common.variables",
        "tensorflow.python.ops.resource_variable_ops",
    ),
    frozenset({"numpy", "__array__"}),
)
LEFT = Left(WEIGHTS_LEFT_MIN.value, WEIGHTS_LEFT_MAX.value, WEIGHTS_LEFT_LIKELY.value)


def weights_through_numpy(evidence: Evidence) -> Iterable[Finding]:
    """Return the finding, for lines that copy all weights in or out, and the NumPy between them."""

    def copying(stack: Stack) -> Place | None:
        return innermost(stack) if stack.frames and is_calling(evidence, stack.frames[-1], WEIGHTS) else None

    rows = line_shares(evidence, _LIBRARY, copying)
    one_by_one = _find_single_reads(evidence) if not rows else []
    rows += one_by_one
    copies = {row.place for row in rows}
    if not rows or evidence.samples.count < MIN:
        return
    back = bool(find_methods(evidence, "set_weights")) and not one_by_one
    if back:  # else what NumPy does with them does not stand between two copies
        rows += _find_lines_between(evidence, rows)
    elif one_by_one:  # what it does with each on the line that reads it could run within TensorFlow, and read none
        here = [row for row in line_shares(evidence, ("python",)) if row.place in copies]
        if sum(row.share for row in here) * shared.MOSTLY.value <= sum(row.share for row in rows):
            rows += here
    share = min(shared.MAX_STEP_SHARE.value, sum(row.share for row in rows))
    if share < MEDIUM:
        return
    left = NOTHING if not back and not one_by_one and _never_change(evidence) else LEFT
    gained = price(Rewrite(), Part.sampled(share, evidence.samples.count), left)
    places = [row.place for row in sorted(rows, key=lambda row: -row.share)]
    lines = [span(evidence, *place) for place in places if place in copies][:3]
    yield Finding(
        code="EAG007",
        title=_title(evidence, back=back, one_by_one=bool(one_by_one)),
        share_of_step=share,
        gain=gained,
        where=tuple(dict.fromkeys((*lines, *callers(evidence, places[0])[:1]))),
        evidence=(
            Measurement("time in weight copies", share, "share", window(evidence)),
            Measurement(
                f"time in weight copies {evidence.unit.per}",
                share * (evidence.step_ms or 0.0),
                "ms",
                window(evidence),
            ),
            Measurement("samples", float(evidence.samples.count), "count", "baseline"),
        ),
        advice=_advice(evidence, copies) if back else _WITHIN if one_by_one else _READ,
        detail="get_weights reads the variables one by one, and set_weights checks and assigns them one by one."
        if back
        else "Each variable is read and copied as a whole, every time."
        if one_by_one
        else "get_weights copies all variables of a layer or a model, every time.",
        absorbs_here=("LIN001", "SYN001"),
    )


def _never_change(evidence: Evidence) -> bool:
    """Whether nothing in the sources changes a weight: then one copy, made once, is all that is needed."""
    return bool(evidence.files()) and not find_methods(evidence, *_CHANGES)


def _find_single_reads(evidence: Evidence) -> list[LineShare]:
    """Find the lines that read variables, one after another, in a loop over them; also where NumPy itself asks for
    them."""

    def reading(stack: Stack) -> Place | None:
        leaf = stack.frames[-1] if stack.frames else None
        if leaf is None or not is_calling(evidence, leaf, _VALUE):
            return None
        around = find_frame_loops(evidence, leaf)
        over = any(goes_over_parts(evidence, leaf.file, loop) for loop in around)
        return (leaf.file, leaf.line) if over else None

    return line_shares(evidence, _LIBRARY, reading)


def _advice(evidence: Evidence, copies: set[tuple[str, int]]) -> str:
    functions = {(file, find_function(evidence, file, line)) for file, line in copies}
    reads, sets = (_list_owners(evidence, name, functions) for name in ("get_weights", "set_weights"))
    owners = reads | sets
    if len(owners) == 1:  # the values come from elsewhere: an optimizer of SciPy's, a population
        owner = owners.pop()
        return (
            "Assign the variables inside one @tf.function that gets the values as tensors: for variable, value in "
            f"zip({owner}.weights, values): variable.assign(value). Take the shapes once, from {owner}.weights, "
            "which copies nothing."
        )
    others = reads - sets
    target = next(iter(sets)) if len(sets) == 1 else "target"
    model = next(iter(others)) if len(others) == 1 else "model"
    names = [function.name for _, function in functions if function is not None]
    within = f"{names[0]} and put @tf.function on it" if len(functions) == len(names) == 1 else "one @tf.function"
    return (
        f"Assign the variables in {within}: for a, b in zip({target}.weights, {model}.weights): a.assign(b), or "
        "a.assign(tau * b + (1 - tau) * a) to mix them. Use both models from outside the function, for variables "
        "passed as arguments arrive as tensors. Or: copy them less often."
    )


def _list_owners(evidence: Evidence, method: str, functions: set[tuple[str, Function | None]]) -> set[str]:
    """List the objects that the method is called on in these functions, as they are written."""
    return {
        call.receiver.text
        for file, call in find_methods(evidence, method)
        if call.receiver is not None and (file, find_function(evidence, file, call.line)) in functions
    }


def _title(evidence: Evidence, *, back: bool, one_by_one: bool) -> str:
    work = evidence.work
    when = evidence.unit.each
    if work is not None:
        when = "each iteration" if work.iterations is not None else f"the {work.kind}"
    if back:
        return f"get_weights and set_weights copy weights through NumPy in {when}"
    return f"{'Variable.numpy()' if one_by_one else 'get_weights'} copies weights to NumPy in {when}"


def _find_lines_between(evidence: Evidence, rows: list[LineShare]) -> list[LineShare]:
    """Find the user's own Python in the functions that hold these lines: NumPy on the copies."""
    functions = {(row.place[0], find_function(evidence, *row.place)) for row in rows}
    return [
        row
        for row in line_shares(evidence, ("python",))
        if (function := find_function(evidence, *row.place)) is not None and (row.place[0], function) in functions
    ]
