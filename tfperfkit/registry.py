"""Probes, experiments and trackers by name, from entry points: first-party ones come through the same door as anyone's.

A probe's module is imported only when it is selected.
"""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.metadata import EntryPoint, distributions, entry_points
from typing import Any

from tfperfkit.errors import ProbeError, UsageError
from tfperfkit.experiment import Experiment, experiment_problems
from tfperfkit.option import Declared, option_problem, spelling
from tfperfkit.probe import API_VERSION, Cost, Probe
from tfperfkit.tracker import Tracker, tracker_problems

GROUP = "tfperfkit.probes"
EXPERIMENTS = "tfperfkit.experiments"
TRACKERS = "tfperfkit.trackers"
_OURS = "tfperfkit_probes."
_OUR_EXPERIMENTS = "tfperfkit_experiments."
_OUR_TRACKERS = "tfperfkit_trackers."
#: Claim of a probe that records a trace: there is one TF Profiler.
TF_PROFILER = "tf.profiler"
#: Words that ``--probes`` takes instead of a name.
WORDS = ("all", "default", "none")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def available() -> dict[str, EntryPoint]:
    """Return all installed probes that can be selected, by name, sorted. Of two with one name ours counts, else the
    first."""
    found: dict[str, EntryPoint] = {}
    for point in installed(GROUP):
        known = found.get(point.name)
        if name_problem(point.name) is None and (known is None or (_is_ours(point) and not _is_ours(known))):
            found[point.name] = point
    return dict(sorted(found.items()))


def refused() -> dict[str, str]:
    """Installed probes that can't be selected, with the reason."""
    problems = {point.name: name_problem(point.name) for point in installed(GROUP)}
    return {name: problem for name, problem in sorted(problems.items()) if problem is not None}


def name_problem(name: str) -> str | None:
    """Return why a probe can't be called so: its name is typed on the command line and becomes a folder of the run."""
    if name in WORDS:
        return f"is called {name!r}, which stands for several probes"
    if not _NAME.fullmatch(name):
        return "its name is not of 1 to 64 letters, digits, '_', '-' and '.'"
    return None


def installed(group: str) -> list[EntryPoint]:
    """Return the entry points of a group. A package whose metadata is broken costs itself only."""
    return list(_installed(group, tuple(sys.path)))


@lru_cache(maxsize=64)
def _installed(group: str, path: tuple[str, ...]) -> list[EntryPoint]:
    """Once for each group: all that is installed is read for it, which takes 10 ms each time."""
    try:
        return list(entry_points(group=group))
    except Exception:
        found: list[EntryPoint] = []
        for distribution in distributions():
            try:
                found += [point for point in distribution.entry_points if point.group == group]
            except Exception:  # foreign files; whatever is wrong with them
                continue
        return found


def _is_ours(point: EntryPoint) -> bool:
    return point.value.startswith(_OURS)


def default() -> tuple[str, ...]:
    """Return the probes of ``--probes default``: the probes that tfperf brings, the windows that show most first."""
    return _brought("DEFAULT")


def _brought(which: str) -> tuple[str, ...]:
    """Return the list ``which`` of the package of our probes, as far as they are installed."""
    ours = {name: point for name, point in available().items() if _is_ours(point)}
    found: list[str] = []
    for package in dict.fromkeys(point.value.partition(".")[0] for point in ours.values()):
        found += [name for name in getattr(import_module(package), which, ()) if name in ours]
    return tuple(found)


def select(text: str) -> tuple[str, ...]:
    """Return the names that ``--probes`` means: a list with commas, ``all``, ``default`` or ``none``; raises
    UsageError."""
    known = available()
    names: list[str] = []
    for part in (item.strip() for item in text.split(",")):
        if part == "all":
            names += [*default(), *known]  # the windows that tell most come first
        elif part == "default":
            names += default()
        elif part in known:
            names.append(part)
        elif part not in ("none", ""):
            near = difflib.get_close_matches(part[:100], [*known, *WORDS], 1)
            hint = f"did you mean {near[0]!r}?" if near else f"installed are: {', '.join(known)}"
            raise UsageError(f"no probe named {part!r}; {hint} (tfperf list probes lists them)")
    return tuple(dict.fromkeys(names))


def shown(probes: str, show: str | None) -> tuple[str, ...] | None:
    """Return the probes whose tables a report shows in full, None for all: those of ``show``, else those that were
    named.

    ``probes`` is what ``--probes`` was given; none that stand for "default" are shown unasked. Raises UsageError for a
    name that is none.
    """
    if show:
        return None if "all" in show.split(",") else select(show)
    named = [part.strip() for part in probes.split(",")]
    if "default" not in named:
        return None
    return select(",".join(part for part in named if part != "default"))


def load(name: str, known: dict[str, EntryPoint] | None = None) -> Probe:
    """Import and make the probe; raises ProbeError with the reason in one line."""
    point = (available() if known is None else known).get(name)
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


def experiments() -> dict[str, EntryPoint]:
    """Return all installed experiments by name, sorted. Of two with one name ours counts, else the first."""
    return _by_name(EXPERIMENTS, _OUR_EXPERIMENTS)


def trackers() -> dict[str, EntryPoint]:
    """Return all installed trackers by name, sorted. Of two with one name ours counts, else the first."""
    return _by_name(TRACKERS, _OUR_TRACKERS)


def _by_name(group: str, our: str) -> dict[str, EntryPoint]:
    found: dict[str, EntryPoint] = {}
    for point in installed(group):
        known = found.get(point.name)
        if name_problem(point.name) is None and (known is None or point.value.startswith(our)):
            found[point.name] = point
    return dict(sorted(found.items()))


def load_tracker(name: str, known: dict[str, EntryPoint] | None = None) -> Tracker:
    """Import and make the tracker; raises UsageError for an unknown name, ProbeError with the reason else."""
    made: Tracker = _made("tracker", name, trackers() if known is None else known, tracker_problems, "")
    return made


def load_experiment(name: str, known: dict[str, EntryPoint] | None = None) -> Experiment:
    """Import and make the experiment; raises UsageError for an unknown name, ProbeError with the reason else."""
    points = experiments() if known is None else known
    made: Experiment = _made("experiment", name, points, experiment_problems, f"experiment {name} ")
    return made


def _made(
    kind: str,
    name: str,
    points: Mapping[str, EntryPoint],
    problems_of: Callable[[object, str], Sequence[str]],
    subject: str,
) -> Any:
    """``subject``: what the reasons speak of, where whoever catches them does not say it."""
    point = points.get(name)
    if point is None:
        near = difflib.get_close_matches(name[:100], [*points], 1)
        hint = f"did you mean {near[0]!r}?" if near else f"installed are: {', '.join(points)}"
        raise UsageError(f"no {kind} named {name!r:.60}; {hint}")
    try:
        made = point.load()()
        problems = problems_of(made, name)
    except (Exception, SystemExit) as error:
        raise ProbeError(f"{subject}can't be loaded: {type(error).__name__}: {error}") from error
    if problems:
        raise ProbeError(f"{subject}{problems[0]}")
    return made


def declared(wanted: Callable[[str], bool] = lambda name: True) -> list[Declared]:
    """Return the options of the installed probes, ours first: of all of ours and of the others that are ``wanted``. A
    probe of somebody else's is loaded for that, so it is asked only when it must be. Of two with one spelling the first
    counts.
    """
    known = available()
    ours = [name for name in (*default(), *known) if name in known and _is_ours(known[name])]
    others = [name for name in known if name not in ours and wanted(name)]
    found: dict[str, Declared] = {}
    for name in dict.fromkeys((*ours, *others)):
        try:
            stated = getattr(load(name, known), "options", ())
        except ProbeError:
            continue  # reported when it is selected
        for option in stated if isinstance(stated, (tuple, list)) else ():
            if option_problem(name, option, ours=name in ours) is None:
                flag = spelling(name, option)
                found.setdefault(flag, Declared(name, option, flag))
    return list(found.values())


def tracer() -> str:
    """Return the installed probe that records a trace of the TF Profiler, for a hint: the first that claims it, or
    ""."""
    known = available()
    for name in dict.fromkeys((*default(), *known)):
        try:
            if TF_PROFILER in load(name, known).claims:
                return name
        except ProbeError:
            continue
    return ""


def claims_of(name: str) -> frozenset[str]:
    """Return what an installed probe must own alone; empty if the probe can't be loaded."""
    try:
        return load(name, available()).claims
    except ProbeError:
        return frozenset()


def contract_problems(probe: object, name: str) -> Sequence[str]:
    """List the ways in which a probe breaks the contract, in words; empty when all is well."""
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
