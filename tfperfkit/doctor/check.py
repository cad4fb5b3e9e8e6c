"""One row of ``tfperf doctor``."""

from __future__ import annotations

from typing import Literal

import msgspec

#: ``missing``: not there, and only something that you may not need suffers. ``broken``: tfperf can't do its work.
Status = Literal["ok", "note", "missing", "broken"]


class Check(msgspec.Struct, frozen=True):
    """A subject, its finding, and the action to take (empty when nothing)."""

    name: str
    status: Status
    found: str
    advice: str = ""
