"""GRF028: a penalty goes over all rows of a table, of which a step looks up few."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_calls import files
from tfperfkit_rules.measures.step_shares import span

_BY_LAYER = (
    "Penalise the rows that the batch looks up: activity_regularizer= in place of embeddings_regularizer= "
    "penalises what the layer gives. "
)
_BY_HAND = "Penalise the rows that the batch looks up: tf.reduce_sum(tf.square(rows)), of what tf.gather gave. "
_OTHERWISE = (
    "A row is then penalised when it is used, and the factor is another one, so choose it anew. Where every row has to "
    "decay, let all of them do so once in so many steps."
)


def penalties(evidence: Evidence) -> Iterator[Finding]:
    """GRF028, by variables that lookups take few rows of, and that else are reduced to one number."""
    for part in found(evidence, "penalty"):
        rows, taken = part.waste.figures["rows"], part.waste.figures["taken"]
        layers = _layers(evidence)
        made = finding(
            evidence,
            part,
            codes.WHOLE_PENALTY,
            f"A penalty goes over all {often(rows)} rows of a table, of which {often(taken)} are looked up",
            (_BY_LAYER if layers else _BY_HAND) + _OTHERWISE,
            "The table is read whole, and its gradient is as large as the table, where that of a lookup names rows "
            "only; so the update goes over all rows too.",
            count("rows of the table", rows),
            count("rows looked up", taken),
        )
        where = tuple(dict.fromkeys((*layers, *made.where)))
        yield msgspec.structs.replace(made, where=where[: shared.MAX_PLACES.value])


def _layers(evidence: Evidence) -> list[SourceSpan]:
    """The layers that are given such a penalty."""
    return [
        span(evidence, file, call.lineno)
        for file, syntax in files(evidence)
        for call in syntax.calls
        if syntax.name(call.func) == "keras.layers.Embedding"
        and any(word.arg == "embeddings_regularizer" for word in call.keywords)
    ]
