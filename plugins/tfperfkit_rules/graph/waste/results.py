"""GRF031: a compiled function computes something for a result that no caller reads."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import msgspec
from tfperfkit_probes.ops.model import Wasted

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.functions import largest_first
from tfperfkit_rules.graph.waste.pricing import RESULT, Part, count, finding, found
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.read_results import Reads, of_function, of_method

_PREDICTS = ("predict", "predict_on_batch")
#: What Keras compiles for them.
_MADE_FOR = ("one_step_on_data_distributed", "one_step_on_data", "predict_function")


def results(evidence: Evidence) -> Iterator[Finding]:
    """GRF031, by results of the functions that ran, and by what the source does with them."""
    marks = chain.from_iterable(function.marks.wasted for function in largest_first(evidence))
    for kind in sorted({each.kind for each in marks if each.kind.startswith(RESULT)}):
        for part in found(evidence, kind):
            reads = _reads(evidence, part)
            if reads is not None and round(part.waste.figures["number"]) not in reads.results:
                yield _finding(evidence, part, reads)


def _reads(evidence: Evidence, part: Part[Wasted]) -> Reads | None:
    function, figures = part.function, part.waste.figures
    total = round(figures["results"])
    if function.owner == "user":
        own = part.waste.names == [function.graph]  # not that of a function which it calls, and which reads for itself
        return of_function(evidence, function.function, total) if own else None
    predicts = function.owner == "keras" and not function.gradient_operations
    return of_method(evidence, _PREDICTS, total) if predicts and function.function in _MADE_FOR else None


def _finding(evidence: Evidence, part: Part[Wasted], reads: Reads) -> Finding:
    number, total = round(part.waste.figures["number"]), round(part.waste.figures["results"])
    keras = part.function.owner != "user"
    of = "the model" if keras else part.function.function
    advice = (
        "Predict with a model that gives only what is read: keras.Model(model.input, "
        f"[the outputs that are read]).predict(...), made once. It shares the layers and their weights with {of}."
        if keras
        else f"Take it out of what {of} returns, and compute it where it is needed: in a compiled function of its own, "
        "or behind an argument of Python's own (True in the calls that read it)."
    )
    made = finding(
        evidence,
        part,
        codes.UNREAD_RESULT,
        f"Result {number + 1} of {total} of {of} is computed in each call, and nothing reads it",
        advice,
        "Within a compiled function TensorFlow takes out what no result needs; the results themselves it has to "
        "compute, for it cannot know what the caller does with them.",
        count("results", total),
        count("calls in the source", len(reads.calls)),
    )
    where: tuple[SourceSpan, ...] = tuple(dict.fromkeys((*made.where[:1], *reads.calls, *made.where[1:])))
    if keras:  # of the layers nothing is to be changed
        where = tuple(dict.fromkeys((*reads.calls, *made.where)))
    return msgspec.structs.replace(made, where=where[: shared.MAX_PLACES.value])
