"""GRF032: an optimizer updates many small variables one by one: their operations take as long to start as to run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import ClassVar

from tfperfkit.calibration import Derived, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, SAME, UNARY
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import WRITES
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import costs
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.clipped_norms import clipped_gradients
from tfperfkit_rules.graph.on_purpose import weighed
from tfperfkit_rules.graph.pricing import Part, count
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.weight_averages import averaged_weights
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_calls import find_methods

SMALL_VARIABLE = Threshold(
    4000,
    "numbers",
    "largest variable whose update takes as long to start as to run",
    Derived(
        "an operation on a tiny tensor takes up to 0.004 ms (GRAPH_OP_MAX_MS); in that time memory moves 48 kB at "
        "least (MEMORY_MIN_BYTES), two numbers read and one written of four bytes each"
    ),
)
TOGETHER_LEFT = Threshold(
    3,
    "operations",
    "number of operations for a variable that is updated as a part of one large variable",
    Derived("its gradient is joined to the others, its new values are cut out and assigned"),
)
#: Work number by number, with the numbers that are the same for all of a variable: a rate, powers of a momentum.
_BETWEEN = SAME | UNARY | BINARY | optable.names(kind="sum-of-many")
_MAX_OPERATIONS = 100
_FEWEST = 2


class OneByOne(Cause, frozen=True, kw_only=True):
    """``variables`` are updated one by one.

    The medians: ``numbers`` in one, and ``each``, operations for one. ``alike`` variables share their shape with
    others; they have ``shapes`` different shapes.
    """

    each_variable: ClassVar[bool] = True

    variables: int
    numbers: float
    each: float
    alike: int
    shapes: int


class SmallUpdates(GraphRule[OneByOne]):
    """Recognised by variables that are assigned what comes number by number from their gradient, or from a variable
    that does: a moment. The same update of all of them as one variable would do."""

    code = "GRF032"
    title = "Optimizer updates hundreds of small variables one by one"

    def find(self, view: View) -> Iterator[OneByOne]:
        """Yield the small variables of a graph as one cause."""
        known: dict[str, _Update] = {}  # by the gradient, and by each variable that it changes
        for node in view.nodes.values():
            if node.type in WRITES and len(node.inputs) == 2:
                _follow(view, node, known)
        small = [each for each in dict.fromkeys(known.values()) if each.numbers <= SMALL_VARIABLE.value]
        if len(small) < _FEWEST:
            return
        causes = (*clipped_gradients(view), *averaged_weights(view))
        others = {name for cause in causes for name in cause.operations}  # findings of their own
        counts = [len(each.operations.keys() - others) for each in small]
        if median(counts) <= TOGETHER_LEFT.value:
            return
        operations = {name: node for each in small for name, node in each.operations.items() if name not in others}
        alike = Counter(each.shape for each in small)
        places = [node.place for node in operations.values() if node.place is not None]
        yield OneByOne(
            where=places[0] if places else None,
            places=places,
            operations=list(operations),
            updates=list(operations),
            left=TOGETHER_LEFT.value / median(counts),
            variables=len(small),
            numbers=median(each.numbers for each in small),
            each=median(counts),
            alike=sum(each for each in alike.values() if each > 1),
            shapes=sum(each > 1 for each in alike.values()),
        )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report updates that take longer than a call of a function."""
        for part in self.parts(evidence):
            # A call of the step may take as long: that is what to save then.
            if part.goes.high * (evidence.step_ms or 0.0) >= costs.FUNCTION_CALL_MAX_MS.value:
                yield weighed(self.report(evidence, part), part, *_asked(evidence))

    def report(self, evidence: Evidence, part: Part[OneByOne]) -> Finding:
        """Advise one variable for all small ones."""
        cause = part.cause
        return self.finding(
            evidence,
            part,
            f"Optimizer updates {cause.variables:,} small variables one by one, {100 * part.share:.0f} % of "
            f"{evidence.unit.a}",
            _advice(cause),
            f"Half of these variables have at most {round(cause.numbers):,} numbers, and each update takes "
            f"{round(cause.each)} operations. Each operation takes as long to start as to run, at any batch size.",
            count("small variables", cause.variables),
            count("median numbers in a variable", cause.numbers),
            count("operations for each update", round(cause.each)),
            *_measured(evidence),
        )


class _Update:
    """The operations that update one variable, with the state that the optimizer keeps for the variable."""

    def __init__(self) -> None:
        self.operations: dict[str, Node] = {}
        self.numbers = 0
        self.shape: tuple[int, ...] | None = None


def _follow(view: View, write: Node, known: dict[str, _Update]) -> None:
    """Add a write to the update of its variable, if a gradient goes into it."""
    target, whole = view.owner(write.inputs[0][0]), view.elements(*write.inputs[1])
    if whole is None:
        return
    found: dict[str, Node] = {write.name: write}
    gradients: list[str] = []
    pending = [write.inputs[1]]
    while pending:
        owner = pending.pop()
        node = view.nodes.get(owner[0])
        if node is None or node.name in found or len(found) > _MAX_OPERATIONS:
            continue
        size = view.elements(*owner)
        if node.type == "IdentityN":  # Keras' optimizers pass all gradients through one
            pending += node.inputs[owner[1] : owner[1] + 1]
        elif node.backward:
            gradients += [":".join(map(str, owner))] if size == whole else []
        elif node.type == "ReadVariableOp":
            found[node.name] = node
            handle = view.owner(node.inputs[0][0])
            if handle in known and handle != target and size == whole:
                gradients.append(handle)
        elif node.type in _BETWEEN and size in (1, whole):
            found[node.name] = node
            pending += node.inputs
    update = next((known[each] for each in (target, *gradients) if each in known), _Update() if gradients else None)
    if update is None:
        return
    update.operations.update(found)
    update.numbers, update.shape = whole, view.shape(*write.inputs[1])
    for each in (target, *gradients):
        known.setdefault(each, update)


def _advice(cause: OneByOne) -> str:
    alike, shapes = cause.alike, cause.shapes
    share = "share a shape" if shapes == 1 else f"come in {shapes} shapes"
    together = (
        "Apply the optimizer to one flat variable, made before the loop: flat = tf.keras.Variable(tf.concat("
        "[tf.reshape(each, [-1]) for each in small], 0)). Join the gradients in the same way, and assign the parts of "
        "tf.split(flat, sizes) back. The weights are the same with SGD, Adam and RMSprop."
    )
    stacked = (
        f" Or, as {alike:,} of the variables {share}: stack equal layers into one, tf.einsum('bni,nio->bno', x, "
        "kernels), which gains more."
    )
    return together + (stacked if alike > shared.MOSTLY.value * cause.variables else "")


def _measured(evidence: Evidence) -> Iterator[Measurement]:
    """Yield all updates of a step: how many operations, what they take, and what memory alone would."""
    step = evidence.offer(ComputedStep)
    rows = [row for row in step.operations if row.stage == "update"] if step is not None else []
    per = evidence.unit.per
    if rows:
        yield Measurement(f"update operations {per}", sum(row.runs for row in rows), "count", "tfprof")
        yield Measurement(f"time of updates {per}", sum(row.ms for row in rows), "ms", "tfprof")
        moved = sum(row.bytes or 0.0 for row in rows) / costs.MEMORY_MIN_BYTES.value
        yield Measurement("time of updates limited by memory, at most", moved, "ms", "tfprof")


def _asked(evidence: Evidence) -> list[SourceSpan]:
    """Return the lines that hand the gradients over, or the optimizer to Keras."""
    return [SourceSpan(file, call.line) for file, call in find_methods(evidence, "compile", "apply_gradients", "apply")]
