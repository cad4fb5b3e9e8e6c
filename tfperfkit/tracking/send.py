"""Each tracker in turn, in a thread of its own: one that fails, or does not answer, costs one line and no more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from tfperfkit.model import Report
from tfperfkit.tracker import Record
from tfperfkit.tracking.destinations import Destination
from tfperfkit.tracking.record import Examples, record

#: Seconds after which a tracker is left alone: an answer comes in one or two, or not at all.
PATIENCE_S = 60.0


def send(
    report: Report,
    folder: Path,
    to: Sequence[Destination],
    examples: Examples,
    tell: Callable[[str], None],
    patience_s: float = PATIENCE_S,
    script: str = "",
) -> None:
    """Never raises. ``tell`` gets one line for each tracker: where the report is now, or why it is not.
    ``script``: its name, where that is not what the run was started with."""
    if not to:
        return
    try:
        made = record(report, folder, examples, script)
    except Exception as error:
        tell(f"nothing was sent to a tracker: {type(error).__name__}: {error}")
        return
    for destination in to:
        tell(f"{destination.tracker.name}: {_one(destination, made, patience_s)}")


def _one(destination: Destination, made: Record, patience_s: float) -> str:
    said: list[str] = []

    def work() -> None:
        try:
            said.append(destination.tracker.send(made, destination.target))
        except (Exception, SystemExit) as error:
            said.append(f"not sent ({_why(error, destination.target)}); the report is in {made.directory}")

    # A daemon: what hangs in a library must not keep the interpreter.
    thread = threading.Thread(target=work, name=f"tfperf-{destination.tracker.name}", daemon=True)
    thread.start()
    thread.join(patience_s)
    return said[0] if said else f"not sent: no answer after {patience_s:.0f} s; the report is in {made.directory}"


def _why(error: BaseException, target: str) -> str:
    """Of a chain of errors what the system said of the target, in place of the sentences that libraries wrap it in."""
    found: BaseException | None = error if target else None
    while found is not None:
        if isinstance(found, OSError) and found.errno is not None and found.strerror:
            return f"{target}: {found.strerror}"
        found = found.__cause__ or found.__context__
    return f"{type(error).__name__}: {' '.join(str(error).split()):.300}"
