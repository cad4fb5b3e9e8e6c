"""How much a costly call is given: the rows of its largest argument, from the source or from recorded shapes."""

from __future__ import annotations

import os

from tfperfkit.ledger.call_amounts import find_amount
from tfperfkit.offers import CallShapes
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_text import find_frame_loops


def describe_amount(evidence: Evidence, frame: Frame) -> str:
    """Say how many rows the call that a frame was in goes through, and how often; "" if that is unknown."""
    # A batch of a training step is no sample to be chosen: there only the source's own numbers count.
    shapes = evidence.offer(CallShapes) if evidence.work is not None else None
    amount = find_amount(frame, evidence.syntax(frame.file), shapes)
    if amount is None:
        return ""
    times = evidence.work.iterations if evidence.work is not None else None
    each = f"Each of {times:,} iterations" if times and find_frame_loops(evidence, frame) else "The call"
    place = f"{os.path.basename(frame.file)}:{frame.line}"
    return (
        f"{each} goes through {amount.rows:,} rows ({amount.argument}), {place}. "
        "If a sample of the rows is enough, pass that."
    )
