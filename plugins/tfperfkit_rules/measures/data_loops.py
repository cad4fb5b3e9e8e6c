"""How often a compiled function was called that loops over a dataset: each call goes through the data once more."""

from __future__ import annotations

from tfperfkit_probes.ops.model import OpsData

from tfperfkit.rule import Evidence


def calls(evidence: Evidence, function: str) -> int:
    """By the lines that had it traced; those of the run that were noted."""
    data = evidence.offer(OpsData)
    traced = [each for each in (data.all if data is not None else ()) if each.function == function]
    lines = {(span.file, span.line) for each in traced for span in each.callers}
    kinds = ("function", "loop_call")
    here = {site.id for site in evidence.sites() if site.kind in kinds and (site.file, site.line) in lines}
    return sum(marker.site in here for marker in evidence.markers())
