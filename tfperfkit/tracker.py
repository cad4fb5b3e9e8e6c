"""The contract for a tracker, version 1: where teams keep their runs, given the report of one.

A tracker gets a finished ``Record`` and sends it. It computes nothing and asks for nothing back. Entry point group
``tfperfkit.trackers``; the module is imported only when the tracker is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Protocol, runtime_checkable

import msgspec

#: The version of this contract. A tracker states the one that it was written for in ``api``.
TRACKERS_API = 1


class Gauge(msgspec.Struct, frozen=True):
    """A figure of the run. ``name`` with dots (``step.share``); ``unit`` "s" or "1" (a ratio, or a count);
    ``attributes`` tell those of one name apart (``part``, ``code``)."""

    name: str
    value: float
    unit: str
    help: str
    attributes: dict[str, str] = {}


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """Run that a tracker gets.

    ``name`` of the run, ``script``; ``scalars`` by name, for trackers that know no labels; ``gauges``, the same with
    labels and base units; ``markdown``: headline, account and findings; ``html`` and ``json``: the whole report;
    ``traces``: files of the TF Profiler; ``steps`` so many; ``seconds``: when it ended, since 1970.
    """

    name: str
    script: str
    directory: Path
    steps: int
    seconds: float
    scalars: dict[str, float]
    gauges: tuple[Gauge, ...]
    markdown: str
    html: bytes
    json: bytes
    traces: tuple[Path, ...] = ()


@runtime_checkable
class Tracker(Protocol):
    """A tracker. ``needs``: modules that must be there, by the name that they are imported by; ``extra``: what to
    install for them."""

    api: ClassVar[int]
    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]]
    extra: ClassVar[str]

    def problem(self, target: str, /) -> str:
        """Return the mistake in the text after ``NAME=``, in words that say what to write; "" when nothing is."""

    def send(self, record: Record, target: str, /) -> str:
        """Send it; where it is now, in a few words. May raise anything: that is one line for the user."""


def tracker_problems(made: object, name: str) -> Sequence[str]:
    """List the ways in which a tracker breaks the contract, in words; empty when all is well."""
    problems = []
    api = getattr(made, "api", None)
    if api != TRACKERS_API:
        problems.append(f"is written for tracker API {api!r}; this tfperfkit has {TRACKERS_API}")
    if getattr(made, "name", None) != name:
        problems.append(f"calls itself {getattr(made, 'name', None)!r} but is installed as {name!r}")
    if not isinstance(getattr(made, "needs", None), tuple):
        problems.append("has no needs (a tuple of modules)")
    if not isinstance(getattr(made, "extra", None), str):
        problems.append("has no extra (what to install for them)")
    problems += [f"has no method {verb}" for verb in ("problem", "send") if not callable(getattr(made, verb, None))]
    return problems
