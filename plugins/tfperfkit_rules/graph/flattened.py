"""GRF022: a dense layer on all places of an image or a sequence holds nearly all weights, and takes much of each step.

Each weight is read and updated in each step, whatever the batch.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from tfperfkit_probes.ops.model import Brief

from tfperfkit import calibration
from tfperfkit.calibration import Chosen, Derived, Threshold
from tfperfkit.graph.model import Node
from tfperfkit.graph.view import FOLLOWED, View
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import Part, price
from tfperfkit.pricing.graph_ops import WASTE_SAVED_MIN
from tfperfkit.remedy import Rewrite
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.functions import definition, places
from tfperfkit_rules.graph.pricing import count, often
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures import shared

MIN_FLAT = Threshold(
    calibration.LOUD_RESIDUAL.value,
    "share",
    "minimum share of the step in a dense layer on all places of an image, with its update",
    Derived("as of a line without a cause: what replaces it is another model, and must be worth that"),
)
FLAT_PLACES_MIN = Threshold(
    64,
    "places",
    "minimum number of places of an image or a sequence: with fewer a dense layer on all places is small",
    Chosen("8 x 8"),
)
FLAT_NUMBERS_MIN = Threshold(
    8192, "numbers", "minimum size of an example that a dense layer takes", Chosen("64 places of 128 channels")
)
#: The part that is left after halving by pooling along one axis, two and three.
_PART = ("half", "a quarter", "an eighth")


class FlattenedLayer(Cause, frozen=True, kw_only=True):
    """A kernel of ``numbers`` by ``units``, and ``kernel_bytes``. ``numbers``: of an example, which had ``channels`` at
    each of ``places`` along ``axes`` axes."""

    places_of_example: int
    axes: int
    channels: int
    numbers: int
    units: int
    kernel_bytes: int


class Flattened(GraphRule[FlattenedLayer]):
    """Recognised by products of a variable with what was ``[n, h, w, c]`` before it was ``[n, h * w * c]``, or
    ``[n, t, c]`` before."""

    code = "GRF022"
    title = "Flatten feeds a huge Dense layer"

    def find(self, view: View) -> Iterator[FlattenedLayer]:
        """Yield the dense layers on flattened examples."""
        for node in view.forward:
            if node.type != "MatMul" or len(node.inputs) != 2 or not _is_variable(view, node):
                continue
            reshaped = view.source(node, 0)
            if reshaped is None or reshaped.type != "Reshape":
                continue
            before, after = view.shape(*reshaped.inputs[0]), view.shape(reshaped.name)
            kernel = view.shape(*node.inputs[1])
            if before is None or after is None or kernel is None or len(after) != 2:
                continue
            axes = len(before) - 2
            where, numbers = math.prod(before[1:-1]), math.prod(before[1:])
            # A batch that is flattened together with its examples would be no layer for each example.
            if not 0 < axes <= len(_PART) or min(before[1:]) < 1 or numbers != kernel[0]:
                continue
            if where >= FLAT_PLACES_MIN.value and numbers >= FLAT_NUMBERS_MIN.value:
                yield FlattenedLayer(
                    where=node.place,
                    operations=[node.name, *(each.name for each in view.fused(node))],
                    places_of_example=where,
                    axes=axes,
                    channels=before[-1],
                    numbers=numbers,
                    units=kernel[1],
                    kernel_bytes=view.bytes(*node.inputs[1]),
                )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report the costliest layer: its product, forward and backward, and the updates of its weights."""
        data = evidence.offer(ComputedStep)
        if data is None or evidence.work is not None or data.ms <= 0:
            return
        made = [self._report_layer(evidence, data, *each) for each in self.candidates(evidence)]
        yield from sorted((each for each in made if each is not None), key=lambda item: -item.share_of_step)[:1]

    def _report_layer(
        self, evidence: Evidence, data: ComputedStep, function: Brief, cause: FlattenedLayer
    ) -> Finding | None:
        unit, names = evidence.unit, set(cause.operations)
        shape = f"{cause.numbers}×{cause.units}"
        of_all = cause.kernel_bytes / function.parameter_bytes if function.parameter_bytes else 0.0
        scale = evidence.share("graph") / data.ms
        own = scale * sum(row.ms for row in data.operations if row.of in names and row.stage != "update")
        updates = scale * sum(
            row.ms for row in data.operations if row.stage == "update" and shape in row.shapes.replace(",", "").split()
        )
        share = min(own + updates, shared.MAX_STEP_SHARE.value)
        if share < MIN_FLAT.value or of_all < shared.MOSTLY.value:
            return None
        return Finding(
            code=self.code,
            title=f"Flatten feeds a Dense layer of {often(cause.numbers)} inputs, {100 * share:.0f} % of {unit.a}",
            share_of_step=share,
            gain=price(Rewrite(), Part(WASTE_SAVED_MIN.value * share * (1 - 1 / cause.places_of_example), share)),
            where=places([cause.where, definition(function)]),
            evidence=(
                count("weights of the layer", cause.numbers * cause.units),
                Measurement("the layer's share of all weights", min(of_all, 1.0), "share", "run"),
                Measurement(f"share of {unit.the}, forward and backward", own, "share", "breakdown"),
                Measurement(f"share of {unit.the}, updating its weights", updates, "share", "breakdown"),
            ),
            advice=(
                f"Replace layers.Flatten() with layers.GlobalAveragePooling{cause.axes}D(), which gives the layer "
                f"{often(cause.channels)} inputs instead of {often(cause.numbers)}. It is another model: compare how "
                "well "
                f"it learns. Or: MaxPooling{cause.axes}D() before Flatten leaves {_PART[cause.axes - 1]} of the inputs."
            ),
            detail=(
                f"The layer has a weight for each of {often(cause.places_of_example)} places, {often(cause.channels)} "
                f"channels and {often(cause.units)} units. The optimizer reads and writes all weights and moments in "
                f"{unit.each}, at any batch size."
            ),
            absorbs=("BAT002",),
            absorbs_here=("STP003", "GRF003"),
            parts=("graph",),
        )


def _is_variable(view: View, node: Node) -> bool:
    """Whether a product's second factor is a variable, as it is or cast."""
    current = view.source(node, 1)
    for _ in range(FOLLOWED):
        if current is None or current.type != "Cast":
            break
        current = view.source(current, 0)
    return current is not None and current.type == "ReadVariableOp" and not node.flag("transpose_b")
