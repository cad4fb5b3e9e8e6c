"""GRF018 of a function of the user's own: the sequences that it is called with are mostly padding.

Sequences are whole numbers by which rows of a table are looked up. The padded length of an argument is known from its
calls.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph import optable
from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import BINARY, UNARY
from tfperfkit.graph.view import View
from tfperfkit.model import Finding, Measurement
from tfperfkit.offers import ComputedStep
from tfperfkit.pricing import price
from tfperfkit.remedy import ReplaceOps
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.functions import name_function, places
from tfperfkit_rules.graph.padding import PADDING_MIN, padding_saved
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures.ran_functions import Ran, list_ran_functions
from tfperfkit_rules.measures.step_shares import span

#: Operations that map each index to an index: casts, limits, and negative indices counted from the end.
_INDEX_BY_INDEX = UNARY | BINARY | optable.names(kind="clip")
_LOOKUPS = optable.names(kind=("gather", "variable-gather")) - {"GatherNd", "ResourceGatherNd"}


_ANY = " Let the function take any length: input_signature=[tf.TensorSpec([None, None], tf.int32)]."


class PaddedSequences(Cause, frozen=True, kw_only=True):
    """Sequences are padded to ``width``. Of ``rows`` that were looked at: their ``mean`` length, the ``longest``, and
    the mean length to which batches of like lengths would be padded."""

    width: int
    mean: float
    longest: int
    alike: float
    rows: int


class PaddedCalls(GraphRule[PaddedSequences]):
    """Recognised by arguments that end in the same number and by which rows of a table are looked up."""

    code = "GRF018"
    title = "Sequences are mostly padding (pad_sequences, padded_batch)"

    def find(self, view: View) -> Iterator[PaddedSequences]:
        """Yield the arguments that are padded."""
        for name, padding in view.given.padding.items():
            node = view.nodes.get(name)
            lookups = _lookups(view, node) if node is not None else []
            if lookups:
                yield PaddedSequences(
                    where=lookups[0].place,
                    operations=[each.name for each in lookups],
                    width=padding.width,
                    mean=padding.mean,
                    longest=padding.longest,
                    alike=padding.alike,
                    rows=padding.rows,
                )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report the first function with padded sequences.

        Also in a work: what it computes grows with the sequences. Operations with a square of the length (attention)
        gain more than is predicted.
        """
        for each in list_ran_functions(evidence):
            for cause in self.causes_in(evidence, each.function):
                yield from self._report_calls(evidence, each, cause)
                return

    def _report_calls(self, evidence: Evidence, each: Ran, cause: PaddedSequences) -> Iterator[Finding]:
        width, mean, longest, alike = (cause.width, cause.mean, cause.longest, cause.alike)
        computed = each.share * (1 - _updates(evidence))
        share, saved = computed * (1 - mean / width), computed * (1 - alike / width)
        gained = price(ReplaceOps("less_padding"), padding_saved(saved))
        if gained.surely < PADDING_MIN.value:
            return
        unit, name, own = evidence.unit, name_function(each.function), each.function.owner == "user"
        called = f"the function called at line {each.place[1]}" if name.startswith("<") else name
        seen = f"{cause.rows:,.0f} sequences examined"
        short = f"None of the {seen} is longer than {longest:,.0f}, and all are padded to {width:,.0f}. "
        yield Finding(
            code=self.code,
            title=f"{100 * (1 - mean / width):.0f} % of the sequences that {called} computes is padding",
            share_of_step=share,
            gain=gained,
            remedy=ReplaceOps("less_padding"),
            where=places([span(evidence, *each.place), cause.where]),
            evidence=(
                Measurement("padded length", width, "count", "run"),
                Measurement("mean length without padding", mean, "count", "run"),
                Measurement("longest sequence", longest, "count", "run"),
                Measurement("mean length in batches of similar lengths", alike, "count", "run"),
                Measurement("sequences examined", cause.rows, "count", "run"),
                Measurement(f"share of {unit.the} spent on padding", share, "share", "breakdown"),
            ),
            advice=(
                f"{short if longest < width else ''}Sort the sequences by length, pad each batch to its longest one "
                f"rounded up to a multiple of 8, and put the results back in order.{_ANY if own else ''}"
            ),
            detail=(
                "Every position is computed, and attention compares all pairs of positions. A mask changes the "
                "results, not the work."
            ),
            parts=("graph",),
        )


def _lookups(view: View, given: Node) -> list[Node]:
    """The lookups by an argument, or by what is made of it number by number."""
    found, seen, pending = [], {given.name}, [given]
    while pending:
        for use in view.uses(pending.pop()):
            if use.node.type in _LOOKUPS and use.number == 1:
                found.append(use.node)
            elif use.node.type in _INDEX_BY_INDEX and use.node.name not in seen:
                seen.add(use.node.name)
                pending.append(use.node)
    return found


def _updates(evidence: Evidence) -> float:
    """Return the share of a traced step (0 to 1) that updates weights: it does not grow with the sequences."""
    step = evidence.offer(ComputedStep)
    if step is None or not step.ms:
        return 0.0
    return sum(item.ms for item in step.operations if item.stage == "update") / step.ms
