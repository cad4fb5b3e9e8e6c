"""Files that a child process of the script leaves in the run directory (``tfperf run --children``).

``RUN/children/child-0001/`` is a run directory of its own: ``run.json`` with ``child``, and in ``records.jsonl`` the
streams ``child/about`` (what multiprocessing calls it), ``child/usage`` ([ns, processor time in ns]), ``child/samples``
(as ``session/samples``) and ``child/end`` ([ns, processor time in ns, failed]; missing where it was killed or left by
``os._exit``). One that trains has a session's streams, too. ``RUN/children/rest.jsonl`` has the others, a record for
each of which the last counts.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from tfperfkit.records.source_span import LineTime

CHILDREN = "children"
#: How the label of a group of workers begins.
POOL = "pool"
#: How the folders of parts begin, and the file of all others.
PART, REST = "child-", "rest.jsonl"
Method = Literal["fork", "spawn", "forkserver", "subprocess"]


class ChildOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """In the manifest of a child's part. ``trains``: it has imported TensorFlow, and its steps are there; ``ticks``:
    when it started, see ``clock.start_ticks``."""

    method: Method
    pid: int
    parent_pid: int = 0
    ticks: int | None = None
    trains: bool = False


class RestRow(msgspec.Struct, frozen=True, kw_only=True):
    """A child without a part, or what was known of it by then. ``lines``: file, line, function, ns."""

    pid: int
    began_ns: int
    now_ns: int
    cpu_ns: int = 0
    parent_pid: int = 0
    ticks: int | None = None
    method: Method = "fork"
    argv: list[str] = []
    ended: Literal["", "finished", "failed"] = ""
    lines: list[tuple[str, int, str, int]] = []
    process: str = ""
    target: str = ""


#: "no goodbye": killed, or left by ``os._exit``.
End = Literal["finished", "failed", "no goodbye", "running", "unknown"]


class Child(msgspec.Struct, frozen=True, kw_only=True):
    """One process. ``part``: its folder below that of the run; "" where only sums were kept. ``target``: the function
    that multiprocessing called ("module:name"), or ""; ``command``: what was started, of a process that is no fork.
    ``process``: its name with multiprocessing; ``parent``: the part of the child that started it, "" for the script.

    ``began_s`` since the run began. ``busy_s``: in which a line of the user's ran and did not wait for another
    process; ``lines``: the innermost of these. ``steps`` and what follows: of a child that trains, from its own report;
    ``finding`` is the first one's id.
    """

    method: Method
    pid: int
    began_s: float
    wall_s: float
    part: str = ""
    parent: str = ""
    parent_pid: int = 0
    process: str = ""
    target: str = ""
    command: str = ""
    ended: End = "unknown"
    cpu_s: float = 0.0
    busy_s: float = 0.0
    lines: tuple[LineTime, ...] = ()
    trains: bool = False
    steps: int = 0
    step_ms: float | None = None
    finding: str = ""
    headline: str = ""


class ChildGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Children that do the same: ``label`` is the function that they were started for, or their command. Times are
    sums over them."""

    label: str
    method: Method
    count: int
    wall_s: float
    cpu_s: float
    busy_s: float
    lines: tuple[LineTime, ...] = ()
    ended: dict[End, int] = {}


class ChildrenInSteps(msgspec.Struct, frozen=True, kw_only=True):
    """Work of children while the clean steps ran: ``busy_ms`` for one step, the sum over ``processes``; ``busy_s`` and
    ``lines``: seconds in all of these steps.
    """

    processes: int
    busy_ms: float
    busy_s: float = 0.0
    lines: tuple[LineTime, ...] = ()


class Children(msgspec.Struct, frozen=True, kw_only=True):
    """All processes that the script started and that were recorded. ``cut``: the file of sums was full, there were
    more. ``processes`` lists the parts and the first of the others."""

    count: int
    groups: tuple[ChildGroup, ...] = ()
    processes: tuple[Child, ...] = ()
    in_steps: ChildrenInSteps | None = None
    cut: bool = False
