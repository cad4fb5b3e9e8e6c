"""Value of ``--track``: trackers by name, each with its target, checked before anything runs."""

from __future__ import annotations

from importlib.util import find_spec
from typing import NamedTuple

from tfperfkit import registry
from tfperfkit.errors import ProbeError, UsageError
from tfperfkit.tracker import Tracker


class Destination(NamedTuple):
    """A tracker, and what stood behind ``=``; "" for what the tracker takes by itself."""

    tracker: Tracker
    target: str = ""


def destinations(text: str) -> tuple[Destination, ...]:
    """``mlflow,prometheus=metrics.prom``; raises UsageError for a name that is none, for what is not installed, and for
    a target that can't be one."""
    known, found = registry.trackers(), []
    for part in (item.strip() for item in text.split(",")):
        if not part:
            continue
        name, _, target = (word.strip() for word in part.partition("="))
        try:
            tracker = registry.load_tracker(name, known)
        except ProbeError as error:
            raise UsageError(f"tracker {name} {error}") from None
        missing = next((module for module in tracker.needs if not _there(module)), "")
        if missing:
            raise UsageError(f"tracker {name} needs {missing}: pip install '{tracker.extra}'")
        problem = tracker.problem(target)
        if problem:
            raise UsageError(f"tracker {name}: {problem}")
        found.append(Destination(tracker, target))
    if not found:
        raise UsageError(f"no tracker was named; installed are: {', '.join(known)}")
    return tuple(found)


def _there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):
        return False
