"""Probes by name, from entry points: first-party ones come through the same door as anyone's.

A probe's module is imported only when it is selected.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib.metadata import EntryPoint, entry_points

from tfperfkit.errors import ProbeError, UsageError
from tfperfkit.probe import API_VERSION, Cost, Probe

GROUP = "tfperfkit.probes"
#: What ``--probes default`` stands for.
DEFAULT = ("lines", "retrace", "tfprof", "input", "memory", "ops", "devices")
#: Of these, the ones whose tables the report shows unasked; of the others it shows a line.
SHOWN = ("lines",)


def available() -> dict[str, EntryPoint]:
    """All installed probes by name, sorted. Of two with one name the first found counts."""
    found: dict[str, EntryPoint] = {}
    for point in entry_points(group=GROUP):
        found.setdefault(point.name, point)
    return dict(sorted(found.items()))


def select(text: str) -> tuple[str, ...]:
    """The names that ``--probes`` means: a list with commas, ``all``, ``default`` or ``none``; raises UsageError."""
    installed = available()
    names: list[str] = []
    for part in (item.strip() for item in text.split(",")):
        if part == "all":
            names += [name for name in DEFAULT if name in installed]  # the windows that tell most come first
            names += installed
        elif part == "default":
            names += [name for name in DEFAULT if name in installed]
        elif part in installed:
            names.append(part)
        elif part not in ("none", ""):
            near = difflib.get_close_matches(part, [*installed, "all", "default", "none"], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"installed are: {', '.join(installed)}"
            raise UsageError(f"no probe named {part!r}; {hint} (tfperf probes lists them)")
    return tuple(dict.fromkeys(names))


def shown(probes: str, show: str | None) -> tuple[str, ...] | None:
    """The probes whose sections a report shows in full, None for all: those of ``show``, else those that were named.

    ``probes`` is what ``--probes`` was given. Raises UsageError for a name that is none.
    """
    if show:
        return None if "all" in show.split(",") else select(show)
    named = [part.strip() for part in probes.split(",")]
    if "default" not in named:
        return None
    return (*SHOWN, *select(",".join(part for part in named if part != "default")))


def load(name: str, installed: dict[str, EntryPoint] | None = None) -> Probe:
    """Import and make the probe; raises ProbeError with the reason in one line."""
    point = (available() if installed is None else installed).get(name)
    if point is None:
        raise ProbeError(f"probe {name} is not installed")
    try:
        made = point.load()()
        problems = contract_problems(made, name)
    except (Exception, SystemExit) as error:  # a module that calls sys.exit() must not end the script
        raise ProbeError(f"can't be loaded: {type(error).__name__}: {error}") from error
    if problems:
        raise ProbeError(problems[0])
    return made  # type: ignore[no-any-return]


def contract_problems(probe: object, name: str) -> Sequence[str]:
    """What in a probe breaks the contract, in words; empty when all is well."""
    problems = []
    api = getattr(probe, "api", None)
    if api != API_VERSION:
        problems.append(f"is written for probe API {api!r}; this tfperfkit has {API_VERSION}")
    if getattr(probe, "name", None) != name:
        problems.append(f"calls itself {getattr(probe, 'name', None)!r} but is installed as {name!r}")
    if not isinstance(getattr(probe, "cost", None), Cost):
        problems.append("has no cost (Cost.FREE or Cost.WINDOW)")
    if not isinstance(getattr(probe, "claims", None), frozenset):
        problems.append("has no claims (a frozenset of strings)")
    problems += [f"has no method {verb}" for verb in ("record", "analyze") if not callable(getattr(probe, verb, None))]
    return problems
