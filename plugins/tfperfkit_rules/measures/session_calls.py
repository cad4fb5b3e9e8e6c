"""Calls of ``session.run`` in TensorFlow 1 scripts, and calls next to them that add operations to the graph."""

from __future__ import annotations

import statistics
from collections import Counter, defaultdict
from typing import NamedTuple

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.clock import ms
from tfperfkit.records.events import of_kind
from tfperfkit.records.samples import Frame, Place
from tfperfkit.records.steps import Site
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call
from tfperfkit_rules.measures.called import Api, is_calling
from tfperfkit_rules.measures.making import MIN_MADE
from tfperfkit_rules.measures.source_text import find_loops

MIN_SESSION_RUNS = Threshold(
    8,
    "count",
    "minimum number of runs of a session at one place that tell whether its graph grows",
    Chosen("it is counted at the first, second, fourth and eighth run"),
)
MIN_ADDED = Threshold(
    0.5, "number", "minimum number of operations that a growing graph gets per run", Chosen("one at every second run")
)
FIRST_RUNS = Threshold(
    16,
    "count",
    "number of runs of a session at a place of which one counts as a first run",
    Chosen("so that first runs are not a single one"),
)

#: Prefixes of TensorFlow's functions that make no operation; classes and the session's call make none either.
_OTHER = ("tensorflow.summary.", "tensorflow.errors.", "tensorflow.global_variables_initializer", "tensorflow.train.")
#: The modules of those that do, operators included.
_MAKING = ("tensorflow.python.ops.", "tensorflow.python.framework.")
#: ``Operation.run`` and ``Tensor.eval`` stand there too: they go on to the session.
_RUNNING = (":run", ":eval")
_RUNS = ("tensorflow.python.client.session:run", "tensorflow.python.client.session:__call__")
SESSION = Api(
    ("tensorflow.python.client.session", *_MAKING),
    frozenset({"run", "eval"}),
    frozenset({"run", "eval"}),
    ("tensorflow.Session", "tensorflow.InteractiveSession"),
)


class Growing(NamedTuple):
    """A place that runs a session whose graph had more operations each time: ``added`` for each call, ``operations`` at
    the last count. ``left``: of the time of its runs, what they would take if all were as the first ones, 0 to 1."""

    site: Site
    added: float
    operations: int
    left: float


def growing(evidence: Evidence) -> list[Growing] | None:
    """Find growing graphs by the operations counted before calls 1, 2, 4, 8 … of each place; None if no place has
    enough counts.
    """
    counted: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in of_kind(evidence.records("events"), "graph_size"):
        if event["calls"] == 1:  # another graph may be run there later
            counted[event["site"]] = []
        counted[event["site"]].append((event["calls"], event["operations"]))
    enough = {site: rows for site, rows in counted.items() if rows[-1][0] >= MIN_SESSION_RUNS.value}
    if not enough:
        return None
    found = []
    for site in evidence.sites():
        rows = enough.get(site.id, [])[1:]  # what the first call needs may be made in the loop too
        rates = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in zip(rows, rows[1:], strict=False)]
        if rates and min(rates) >= MIN_ADDED.value:
            found.append(Growing(site, rates[-1], rows[-1][1], _share_left(evidence, site)))
    return found


def sessions_anew(evidence: Evidence) -> Place | None:
    """Return a line that ran many sessions, each of them once; the last of their sites stands for all that came
    later."""
    ran = Counter(item.site for item in evidence.markers())
    sessions: defaultdict[Place, list[int]] = defaultdict(list)
    for site in evidence.sites():
        if site.kind == "session" and ran[site.id]:
            sessions[site.file, site.line].append(site.id)
    for place, ids in reversed(sessions.items()):
        if len(ids) >= MIN_MADE.value and all(ran[item] == 1 for item in sorted(ids)[:-1]):
            return place
    return None


def _share_left(evidence: Evidence, site: Site) -> float:
    took = [ms(each.end_ns - each.begin_ns) for each in evidence.markers() if each.site == site.id]
    first = took[1 : 1 + max(1, len(took) // FIRST_RUNS.value)]
    mean = statistics.fmean(took[1:]) if first else 0.0
    return min(1.0, statistics.median(first) / mean) if mean > 0 else 1.0


def runs_session(evidence: Evidence, frame: Frame) -> bool:
    """Whether a frame of the user's runs a session: itself, or through a library that does (a monitored session, a
    backend of Keras)."""
    return is_calling(evidence, frame, SESSION) or is_in_session(frame)


def is_in_session(frame: Frame) -> bool:
    """Whether a sample saw a session run below a frame."""
    return any(name in _RUNS for name in frame.calls or ())


def makes(frame: Frame) -> bool:
    """Whether a frame of the user's called what makes an operation of a graph."""
    called = (frame.calls or ("",))[0]
    return called.startswith(_MAKING) and not called.endswith(_RUNNING) and not is_in_session(frame)


def made_in_loops(evidence: Evidence, file: str) -> list[int]:
    """Lines inside of loops that make operations: by the frames of TensorFlow that samples saw there, and by what they
    call."""
    syntax = evidence.syntax(file)
    lines = {call.line for call in syntax.calls if _adds_op(call)} if syntax is not None else set[int]()
    for stack in evidence.samples.stacks:
        lines |= {frame.line for frame in stack.frames if frame.file == file and makes(frame)}
    return sorted(line for line in lines if find_loops(evidence, file, line))


def _adds_op(call: Call) -> bool:
    name = call.name
    is_function = name.startswith("tensorflow.") and name.rpartition(".")[2][:1].islower() and "(" not in name
    return is_function and not name.startswith(_OTHER)
