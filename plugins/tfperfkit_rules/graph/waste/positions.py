"""GRF027: layers compute all positions of a sequence, of which few are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import msgspec
from tfperfkit_probes.ops.model import Wasted

from tfperfkit.clock import NS_PER_MS
from tfperfkit.model import Finding, SourceSpan
from tfperfkit.offers import ComputedStep
from tfperfkit.rule import Evidence
from tfperfkit.syntax.nodes import is_constant
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.functions import places
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often
from tfperfkit_rules.measures.source_calls import given


def positions(evidence: Evidence) -> Iterator[Finding]:
    """GRF027, by slices and lookups of what products with one matrix for all positions made."""
    for part in found(evidence, "positions"):
        whole, used = part.waste.figures["all"], part.waste.figures["used"]
        layer = _layer(evidence, part.waste)
        slice_ = "" if part.waste.figures.get("named") else "[:, -1]"
        made = finding(
            evidence,
            part,
            codes.ALL_POSITIONS,
            f"{often(whole)} positions of each sequence are computed, of which {often(used)} "
            f"{'is' if used == 1 else 'are'} used",
            f"{_first(layer, slice_)} Where nothing else needs the others, the recurrent layer below can "
            "leave them out too: return_sequences=False.",
            "Each position is computed by itself, so the results are the same. Of the others all is thrown away, "
            "forward and backward.",
            count("positions computed", whole),
            count("positions used", used),
        )
        yield msgspec.structs.replace(made, where=places([*_named(evidence, layer), *made.where]))


def _named(evidence: Evidence, layer: str) -> list[SourceSpan]:
    """Where the layer gets its name, if it is one line: a functional model calls it nowhere else."""
    found = given(evidence, "name", lambda value: is_constant(value, layer))
    return found if layer and len(found) == 1 else []


def _first(layer: str, taken: str) -> str:
    """What to do first, with the name of the layer that computes most of it. ``taken``: the slice; "" of places that
    data name."""
    called = layer if layer.isidentifier() else "layer" if layer else "self.head"
    example = (
        f"{called}(h{taken}) in place of {called}(h){taken}"
        if taken
        else f"{called}(tf.gather(h, places, batch_dims=1)) in place of tf.gather({called}(h), places, batch_dims=1)"
    )
    if not layer:
        return f"Take the positions first, and compute with these: {example}."
    return f"Take the positions before the layer {layer}, not behind it: {example}."


def _layer(evidence: Evidence, waste: Wasted) -> str:
    """By the trace; "" without one, or where the user's own lines compute it."""
    step = evidence.offer(ComputedStep)
    names = set(waste.operations)
    took: Counter[str] = Counter()
    for row in step.operations if step is not None else ():
        if row.of in names and row.layer and not row.direct:
            took[row.layer.rpartition("/")[2]] += round(row.ms * NS_PER_MS)
    return next((layer for layer, _ in took.most_common(1)), "")
