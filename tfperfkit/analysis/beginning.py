"""When the process began, when TensorFlow was imported and when recording began, as the script's process noted it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Beginning(NamedTuple):
    """ns of ``clock.now_ns``. ``process``: the interpreter had started; ``importing``: the import of TensorFlow began,
    None where that was not seen; ``armed``: it was over, and recording began."""

    process: int
    importing: int | None
    armed: int


def beginning(agent: Mapping[str, Any], started_ns: int) -> Beginning | None:
    """None when the recording does not say when TensorFlow came. ``started_ns``: when the parent started the script."""
    process, armed, begun, ended = (
        agent.get(name) for name in ("process_ns", "armed_ns", "import_begin_ns", "import_end_ns")
    )
    if not isinstance(armed, int):
        return None
    start = process if isinstance(process, int) else min(started_ns, armed)
    seen = isinstance(begun, int) and isinstance(ended, int) and start <= begun <= ended
    return Beginning(start, begun if seen else None, armed)
