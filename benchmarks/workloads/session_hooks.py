"""The hooks of the session that records this process, for what takes them away and puts them back."""

from __future__ import annotations

import sys
from typing import Any


def settled() -> Any:
    """The session, once all its windows are over; None before."""
    from tfperfkit.recording.active import active_session

    session = active_session()
    waits = session.steps.scheduler.waiting or session._probing.in_window or session._precision._switching.precise
    return None if waits else session


def hooks() -> list[tuple[Any, str, Any]]:
    """(owner, name, hook) of each seam of the steps; ``hook.original`` is what stood there before."""
    from tfperfkit.instruments.hooks import method_seam
    from tfperfkit.instruments.steps import seam_table

    found = []
    for seam in (*seam_table.TENSORFLOW, *seam_table.of_keras("keras")):
        owner = getattr(sys.modules.get(seam.module), seam.owner, None)
        hook = vars(owner).get(seam.name) if owner is not None else None
        if isinstance(hook, method_seam.Around):
            found.append((owner, seam.name, hook))
    return found
