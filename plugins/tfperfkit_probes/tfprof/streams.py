"""The streams that the recording half appends and the analysis reads, and the option that both look at."""

from __future__ import annotations

from typing import Any

import msgspec


class Capture(msgspec.Struct, frozen=True, kw_only=True):
    """A recorded trace, as kept in the stream ``captures``. ``file`` is relative to the trace directory."""

    file: str | None
    steps: int
    first_step: int | None
    last_step: int | None
    ended: str
    reason: str | None = None
    python: bool = False
    start_ms: float = 0.0
    stop_ms: float = 0.0


def wanted(value: Any) -> bool:
    """Read a switch from the command line or the configuration: true, 1, "on" ..."""
    if isinstance(value, str):
        return value.strip().lower() in ("1", "true", "yes", "on")
    return bool(value)
