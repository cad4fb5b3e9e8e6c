"""What is done beside the update on purpose: a finding where it takes much, headroom where it takes some."""

from __future__ import annotations

import msgspec

from tfperfkit.model import Finding, SourceSpan
from tfperfkit_rules.calibration import graph as calibrated
from tfperfkit_rules.calibration import shared


def weighed(made: Finding, *places: SourceSpan) -> Finding:
    """The finding with what asks for it first; headroom below the share from which it is a fault."""
    where = tuple(dict.fromkeys((*places, *made.where)))[: shared.MAX_PLACES.value]
    much = made.share_of_step >= calibrated.MUCH_BESIDE.value
    return msgspec.structs.replace(
        made,
        where=where,
        headroom=not much,
        severity=made.severity if much else "info",
        absorbs=made.absorbs if much else (),
    )
