"""GRF031: a compiled function computes something for a result that no caller reads.

No compiler takes it out, for whoever calls may read that result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Set
from itertools import chain
from typing import ClassVar

import msgspec

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.graph import optable
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import PASSING
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph.cause import Cause
from tfperfkit_rules.graph.pricing import Part, count, parts_of
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.read_results import Reads, find_read_results, find_read_results_of_method

RESULTS_MAX = Threshold(
    16,
    "results",
    "maximum number of results of a function: a function with more passes a state on",
    Chosen("more than a user names"),
)
_PREDICTS = ("predict", "predict_on_batch")
#: The functions that Keras compiles for these methods.
_MADE_FOR = ("one_step_on_data_distributed", "one_step_on_data", "predict_function")
#: Operations that run even if nothing reads their results: they write, draw from a generator, ask another program, or
#: may do so.
_RUNS_ANYHOW = optable.names(
    kind=(
        *("write", "print", "check", "summary", "file", "python", "queue", "iterator", "dataset", "optional"),
        *("collective", "generator"),
    )
) | {name for name in optable.names(kind=("call", "unknown")) if optable.row(name).stateful}


class ResultAlone(Cause, frozen=True, kw_only=True):
    """The operations that only one result needs: ``number`` (from 0) of ``results`` of the function whose graph is
    ``graph``.
    """

    of_result: ClassVar[bool] = True

    number: int
    results: int
    graph: str

    @property
    def key(self) -> Hashable:
        """Each result of a function is a cause of its own."""
        return self.graph, self.number, self.where


class UnreadResult(GraphRule[ResultAlone]):
    """Recognised by what the results of the functions that ran need, and by what the source does with these results."""

    code = "GRF031"
    title = "tf.function returns a result that nothing reads"

    def find(self, view: View) -> Iterator[ResultAlone]:
        """Yield for each of several results the operations that neither another result nor anything kept needs."""
        names = list(view.graph.record.results)
        if not 1 < len(names) <= RESULTS_MAX.value:
            return
        running = (node.name for node in view.nodes.values() if node.type in _RUNS_ANYHOW)
        kept = _needs(view, running, frozenset())
        needs = [_needs(view, [name], kept) for name in names]
        users = Counter(chain.from_iterable(needs))
        for number, mine in enumerate(needs):
            alone = [view.nodes[each] for each in mine if users[each] == 1]
            found = [node for node in alone if node.type not in PASSING and not node.backward]
            if not found:
                continue
            found.sort(key=lambda node: view.order[node.name])
            places = [node.place for node in reversed(found) if node.place is not None]
            yield ResultAlone(
                where=places[0] if places else None,
                places=list(dict.fromkeys(places)),
                operations=[node.name for node in found],
                left=0.0,
                number=number,
                results=len(names),
                graph=view.graph.name,
            )

    def __call__(self, evidence: Evidence) -> Iterator[Finding]:
        """Report the results, one number after the other, that nothing in the source reads."""
        candidates = list(self.candidates(evidence))
        for number in sorted({cause.number for _, cause in candidates}):
            for part in parts_of(evidence, (each for each in candidates if each[1].number == number)):
                reads = _reads(evidence, part)
                if reads is not None and number not in reads.results:
                    yield self._unread(evidence, part, reads)

    def _unread(self, evidence: Evidence, part: Part[ResultAlone], reads: Reads) -> Finding:
        number, total = part.cause.number, part.cause.results
        keras = part.function.owner != "user"
        of = "the model" if keras else part.function.function
        advice = (
            "Predict with a model that has only the outputs that you read, made once: keras.Model(model.input, "
            f"[outputs]).predict(...). It shares layers and weights with {of}."
            if keras
            else f"Remove this result from the return value of {of}, and compute it in another tf.function if needed. "
            "Or: compute it only if a Python argument is True."
        )
        made = self.finding(
            evidence,
            part,
            f"{of} returns result {number + 1} of {total}, which nothing reads",
            advice,
            "TensorFlow removes unused operations inside a function, but must compute everything that the function "
            "returns.",
            count("results", total),
            count("calls in the source", len(reads.calls)),
        )
        where: tuple[SourceSpan, ...] = tuple(dict.fromkeys((*made.where[:1], *reads.calls, *made.where[1:])))
        if keras:  # of the layers nothing is to be changed
            where = tuple(dict.fromkeys((*reads.calls, *made.where)))
        return msgspec.structs.replace(made, where=where[: shared.MAX_PLACES.value])


def _reads(evidence: Evidence, part: Part[ResultAlone]) -> Reads | None:
    """Return the results that the source reads; None if that is not known."""
    function, total = part.function, part.cause.results
    if function.owner == "user":
        own = part.cause.graph == function.graph  # not that of a function which it calls, and which reads for itself
        return find_read_results(evidence, function.function, total) if own else None
    predicts = function.owner == "keras" and not function.gradient_operations
    return (
        find_read_results_of_method(evidence, _PREDICTS, total) if predicts and function.function in _MADE_FOR else None
    )


def _needs(view: View, names: Iterable[str], known: Set[str]) -> set[str]:
    """These and all that they need, without what is ``known``."""
    pending = [name for name in names if name in view.nodes and name not in known]
    seen = set(pending)
    while pending:
        node = view.nodes[pending.pop()]
        for owner in (*(each for each, _ in node.inputs), *node.control_inputs):
            if owner in view.nodes and owner not in seen and owner not in known:
                seen.add(owner)
                pending.append(owner)
    return seen
