"""The step that failed: its call ended with the exception that ended the script, and updated nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfperfkit.records.events import of_kind
from tfperfkit.records.steps import PAUSE, UPDATES, Marker, Site


def without_failed(markers: list[Marker], sites: Mapping[int, Site], events: Sequence[dict[str, Any]]) -> list[Marker]:
    """The markers without that of the call that raised. It is the last of all, and the exception passed the same lines
    of the person's on its way out."""
    raised = next(of_kind(events, "end"), {}).get("raised")
    seen = [(index, marker) for index, marker in enumerate(markers) if marker.site != PAUSE] if raised else []
    if not isinstance(raised, list) or not seen:
        return markers
    index, last = max(seen, key=lambda item: item[1].end_ns)
    site = sites.get(last.site)
    if site is None or site.kind not in UPDATES:
        return markers
    chain = site.chain or ((site.file, site.line),)
    if tuple(tuple(each) for each in raised if isinstance(each, list)) != chain:
        return markers
    return [*markers[:index], *markers[index + 1 :]]
