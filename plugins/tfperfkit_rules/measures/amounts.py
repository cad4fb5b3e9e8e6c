"""How much a costly call is given: its arguments with many rows, as far as the source says how many."""

from __future__ import annotations

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.records.samples import Frame
from tfperfkit.rule import Evidence
from tfperfkit.syntax.amounts import count_rows
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.source_text import find_frame_loops, find_running

MANY_ROWS = Threshold(
    1_000,
    "rows",
    "minimum number of rows of an argument that a finding states",
    Chosen("a sample of fewer rows than that saves little"),
)


def describe_amount(evidence: Evidence, frame: Frame) -> str:
    """Say how many rows the call that a frame was in gets, and how often; "" if the source doesn't tell."""
    for call in find_running(evidence, frame):
        given = [(count_rows(item) or 0, item) for item in call.given] if isinstance(call, Call) else []
        rows, item = max(given, key=lambda pair: pair[0], default=(0, None))
        if item is not None and rows >= MANY_ROWS.value:
            times = evidence.work.iterations if evidence.work is not None else None
            often = f" in each of {times:,} iterations" if times and find_frame_loops(evidence, frame) else ""
            return f"It gets {rows:,} rows ({item.text}){often}: if a sample of them is enough, give it that."
    return ""
