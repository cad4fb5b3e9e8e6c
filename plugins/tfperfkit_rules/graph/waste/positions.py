"""GRF027: layers compute all positions of a sequence, of which few are used."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence
from tfperfkit_rules.graph import codes
from tfperfkit_rules.graph.waste.pricing import count, finding, found, often


def positions(evidence: Evidence) -> Iterator[Finding]:
    """GRF027, by slices with fixed bounds of what products with one matrix for all positions made."""
    for part in found(evidence, "positions"):
        whole, used = part.waste.figures["all"], part.waste.figures["used"]
        yield finding(
            evidence,
            part,
            codes.ALL_POSITIONS,
            f"{often(whole)} positions of each sequence are computed, of which {often(used)} "
            f"{'is' if used == 1 else 'are'} used",
            "Take the positions first, and compute with these: self.head(h[:, -1]) in place of self.head(h)[:, -1]. "
            "Where nothing else needs the others, the recurrent layer below can leave them out too: "
            "return_sequences=False.",
            "Each position is computed by itself, so the results are the same. Of the others all is thrown away, "
            "forward and backward.",
            count("positions computed", whole),
            count("positions used", used),
        )
