"""An event of a Chrome trace."""

from __future__ import annotations

from typing import Any

import msgspec


class Event(msgspec.Struct):
    """One event as it stands in the file; times in µs."""

    ph: str = ""
    cat: str | None = None
    name: str = ""
    pid: int | str = 0
    tid: int | str = 0
    ts: float | None = None
    dur: float | None = None
    args: dict[str, Any] | None = None
