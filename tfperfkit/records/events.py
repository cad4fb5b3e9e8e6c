"""The session's events (``session/events.jsonl``): their kinds, what each says, and how they are looked up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

#: Kinds of events in a run. Times are ns of ``clock.now_ns``.
EventKind = Literal[
    "agent",  # facts: those of agent.json too
    "settings",  # what the script has set that decides about speed, each by its name
    "warm",  # step, ns: the warm-up is over
    "precise",  # ns: from here on samples fall on short stretches of Python too
    "precise_end",  # ns
    "graph_size",  # site, calls, operations: of the graph that a session runs, before the call of this number there
    "window",  # probe, step, begin_ns, steps (None: by time), whole, again (another, after the steps): to be opened
    "opened",  # probe, ns: its probe records
    "window_end",  # probe, step, end_ns, status ("ok", "cut")
    "probe",  # probe, status ("skipped", "failed"), reason
    "note",  # text, of one probe (probe) or of the session; stopped: the probe no longer follows the steps
    "lost",  # file, reason; not_json: a record could not be encoded; full: it reached its size
    "asked",  # why, text, ns: a window was asked for; window: its folder, or refused: why there is none
    "stopped",  # step: the last one that the user wanted
    "end",  # ns, failed, raised (see recording.last_error): the process's goodbye
]
#: Maximum number of windows. Each probe gets one window; more are damage, and every step would be looked up in all
#: windows.
_MAX_WINDOWS = 200
Event = dict[str, Any]


def of_kind(events: Iterable[Any], *kinds: EventKind) -> Iterator[Event]:
    """Yield the events of these kinds, in order; what is no event is left out."""
    for event in events:
        if isinstance(event, dict) and event.get("kind") in kinds:
            yield event


def whole_number(event: dict[str, Any], name: str) -> int:
    """Return a whole number of an event; 0 if a damaged file has something else."""
    value = event.get(name)
    return value if isinstance(value, int) else 0


def window_spans(events: Iterable[Any]) -> list[tuple[int, int, str]]:
    """When windows were open, and of which probe, in order of time."""
    spans: list[tuple[int, int, str]] = []
    for event in of_kind(events, "opened", "window_end"):
        if event["kind"] == "opened":
            if len(spans) < _MAX_WINDOWS:
                spans.append((whole_number(event, "ns"), 1 << 63, str(event.get("probe"))))
        else:
            for index, (begin, end, name) in enumerate(spans):
                if name == event.get("probe") and end == 1 << 63:
                    spans[index] = (begin, whole_number(event, "end_ns"), name)
    return sorted(spans)
