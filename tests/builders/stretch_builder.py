"""Rows of a long run, made up: one each 5 s."""

from __future__ import annotations

from typing import Any

import msgspec

from tfperfkit.records.history import Stretch

ROW_S = 5
NS = 1_000_000_000


def row(number: int, ms: float = 10.0, **fields: Any) -> Stretch:
    """The row after so many; steps of ``ms``."""
    begin, end = number * ROW_S * NS, (number + 1) * ROW_S * NS
    steps = fields.pop("steps", 500)
    made = Stretch(
        begin_ns=begin,
        end_ns=end,
        step=(number + 1) * 500,
        steps=steps,
        total_ns=round(steps * ms * 1e6),
        median_ns=ms * 1e6,
        p90_ns=ms * 1.1e6,
        max_ns=ms * 2e6,
        last_step_ns=end - 1000 if steps else 0,
        rss_bytes=500_000_000,
        samples={"graph": 4, "python": 1},
    )
    return msgspec.structs.replace(made, **fields)
