"""What a step that runs operation by operation would take as a compiled one, from what the trace measured.

The operations are told apart by their time in the trace. An operation on a small tensor takes what handing it to the
runtime takes (10 to 40 us), and next to nothing in a graph. Beyond that is work: of heavy operations (convolutions,
products), which a graph must do too, and of light ones (elementwise), which it may fuse or run side by side.
"""

from __future__ import annotations

import msgspec

from tfperfkit.gain import speedup
from tfperfkit.offers import InputPrefetch, RanOperation, RanOperations, StepBreakdown
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import MIN
from tfperfkit.rule import Evidence
from tfperfkit_rules.calibration import eager as calibrated
from tfperfkit_rules.calibration import shared
from tfperfkit_rules.measures.step_place import StepPlace

#: What a compiled step still computes, whatever is fused or reordered around it.
HEAVY = (
    "Conv",
    "MatMul",
    "Einsum",
    "Cudnn",
    "LSTM",
    "GRU",
    "Fft",
    "FFT",
    "Svd",
    "Cholesky",
    "Qr",
    "Eig",
    "Sort",
    "TopK",
)
#: These do no work of their own, however long the runtime takes over them.
FREE = (
    "ReadVariableOp",
    "Shape",
    "Identity",
    "Reshape",
    "ExpandDims",
    "Squeeze",
    "_EagerConst",
    "Const",
    "NoOp",
    "VarHandleOp",
    "StopGradient",
    "StridedSlice",
    "Pack",
    "Rank",
    "Size",
    "ZerosLike",
    "Assign",
)
SMALL = shared.SMALL_OPERATION.value
#: Parts of a step that compiling it leaves as they are.
_KEPT: tuple[PartName, ...] = ("graph", "tracing", "saving", "gc", "copies", "collectives", "evaluate")


class Compiled(msgspec.Struct, frozen=True, kw_only=True):
    """The estimate. Times are ms of the mean clean step; ``least_ms`` to ``most_ms``: the step once compiled."""

    step_ms: float
    operations: float
    eager_ms: float
    dispatch_ms: float
    heavy_ms: float
    own_ms: float
    least_ms: float
    most_ms: float
    traced_by: str  # the window in which the operations were counted

    @property
    def range(self) -> tuple[float, float]:
        """Factors of speed, the lower first."""
        return speedup(1 - self.most_ms / self.step_ms), speedup(1 - self.least_ms / self.step_ms)


def compiled(evidence: Evidence, place: StepPlace, *, without_own: bool = False) -> Compiled | None:
    """The estimate, or None when the step was not traced. ``without_own``: NumPy and Python in the step go too."""
    data, breakdown = evidence.offer(RanOperations), evidence.offer(StepBreakdown)
    account = evidence.account
    if data is None or not data.steps or breakdown is None or account is None or not account.parts_ms:
        return None
    traced = breakdown.parts_ms.get("eager_ops", 0.0)
    eager = evidence.part("eager_ops")
    rows = [row for row in data.rows if row.where == "eager"]
    if not rows or traced <= 0 or eager <= 0:
        return None
    scale = eager / traced / data.steps
    tiny = tiny_of(rows)
    heavy = [row for row in rows if is_of(row, HEAVY)]
    light = [row for row in rows if row not in heavy and not row.type.startswith(FREE)]
    heavy_ms, light_ms = work_of(heavy, tiny) * scale, work_of(light, tiny) * scale
    short = [row for row in heavy if row.self_ms < calibrated.SHORT_MS.value * row.count]
    heavy_least = (
        work_of(heavy, SMALL * tiny) - (1 - calibrated.SHORT_LEFT.value) * work_of(short, SMALL * tiny)
    ) * scale
    light_least = calibrated.LIGHT_LEFT.value * work_of(light, SMALL * tiny) * scale
    count = sum(row.count for row in rows) / data.steps * _in_the_step(evidence)
    own = _own(evidence)
    dispatch = handed_out(evidence)
    kept = evidence.part(*_KEPT) + (0.0 if without_own else own)
    waits, prefetch = evidence.part("input"), evidence.offer(InputPrefetch)
    fetch = min(waits, shared.FETCH_MS.value) if prefetch is not None and prefetch.there else waits
    pruned = _pruned(heavy, SMALL * tiny, place.updates, data.steps) * scale
    overlap = _overlap(place.updates) if evidence.cpus > 1 else 1.0
    heavy_least = max(heavy_least - pruned, calibrated.HEAVY_LEFT.value * heavy_least) / overlap
    in_runtime = count * shared.GRAPH_OP_MIN_MS.value
    least = kept + fetch + shared.FUNCTION_CALL_MIN_MS.value + in_runtime + heavy_least + light_least
    most = (
        kept
        + waits
        + shared.FUNCTION_CALL_MAX_MS.value
        + count * shared.GRAPH_OP_MAX_MS.value
        + heavy_ms
        + light_ms
        + evidence.part("host_sync", "other")
        + calibrated.PYTHON_LEFT.value * dispatch
    )
    step = account.mean_ms
    most = min(most, shared.MAX_STEP_SHARE.value * step)
    return Compiled(
        step_ms=step,
        operations=count,
        eager_ms=eager,
        dispatch_ms=dispatch,
        heavy_ms=heavy_ms,
        own_ms=own,
        least_ms=min(least, most),
        most_ms=most,
        traced_by=evidence.offered_by(RanOperations),
    )


def _overlap(updates: int) -> float:
    return calibrated.OVERLAP_MANY.value if updates > 1 else calibrated.OVERLAP_ONE.value


def _in_the_step(evidence: Evidence) -> float:
    """The share of the eager operations that the step calls itself, not ``predict`` or ``evaluate`` within it."""
    seen = evidence.samples.activities["eager_ops"]
    return 1 - evidence.samples.evaluating["eager_ops"] / seen if seen >= MIN else 1.0


def handed_out(evidence: Evidence) -> float:
    """ms of a step in TensorFlow's and Keras' Python: what is not the person's own."""
    return max(0.0, evidence.part("python", "dispatch") - _own(evidence))


def _own(evidence: Evidence) -> float:
    """ms of the person's own Python and NumPy in a step. Samples of Python fall where it lets go of the interpreter,
    so their share of the step is nearer to the truth than their share of all Python."""
    there = evidence.part("python", "dispatch")
    samples = evidence.samples
    if evidence.account is None or samples.tensorflow_total is None:
        return min(there, evidence.part("python"))
    own = sum(samples.doing_innermost(leaf)["python"] for leaf in samples.leaves())
    return min(there, own / samples.count * evidence.account.mean_ms)


def is_of(row: RanOperation, types: tuple[str, ...]) -> bool:
    """Whether an operation is of one of these types, by a part of its name."""
    return any(part in row.type for part in types)


def tiny_of(rows: list[RanOperation]) -> float:
    """ms of an operation that does next to nothing: the lower quartile over all that ran, by type."""
    light = sorted((row.self_ms / row.count, row.count) for row in rows if row.count and not is_of(row, HEAVY))
    whole, seen = sum(count for _, count in light), 0
    for each, count in light:
        seen += count
        if seen >= shared.TINY_OPERATIONS.value * whole:
            return each
    return 0.0


def work_of(rows: list[RanOperation], tiny: float) -> float:
    """ms of operations beyond what one on next to nothing takes."""
    return sum(max(0.0, row.self_ms - row.count * tiny) for row in rows)


def _pruned(heavy: list[RanOperation], tiny: float, updates: int, steps: int) -> float:
    """ms, over the traced steps, of heavy work whose result nobody uses: a tape also computes the gradients of the
    first layer's input, and with several updates those of the other networks' weights. A graph leaves them out."""
    backward = [row for row in heavy if "Backprop" in row.type or "Grad" in row.type]
    first = sum(work_of([row], tiny) / row.count * steps for row in backward if "Input" in row.type and row.count)
    whole = work_of(backward, tiny)
    return max(whole * (updates - 1) / updates, min(first, calibrated.FIRST_INPUT.value * whole))
