"""Lines that sleep in a polling loop, over the whole run."""

from __future__ import annotations

from collections import Counter

from tfperfkit.records.samples import Place, read_log
from tfperfkit.rule import Evidence
from tfperfkit.syntax.names import UNKNOWN
from tfperfkit.syntax.pauses import PROCESSES, Pause, find_pauses
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.kinds import KINDS
from tfperfkit_rules.measures.source_calls import list_files

_OUTSIDE = tuple(kind for kind in KINDS if kind.word in ("network", "programs"))


def find_pause(evidence: Evidence, place: Place) -> Pause | None:
    """Find why a line sleeps; None for a plain pause, or if the source does not tell."""
    syntax = evidence.syntax(place[0])
    return find_pauses(syntax).get(place[1]) if syntax is not None else None


def sort_polls(evidence: Evidence, pause: Pause) -> list[Place]:
    """List the lines that look at the same object, those first at which the whole run sleeps most."""
    places = {
        (file, line)
        for file, syntax in list_files(evidence)
        for line, other in find_pauses(syntax).items()
        if pause.owner and other.owner == pause.owner
    }
    log = read_log(evidence.records("samples"))
    leaves = (stack.frames[-1] for _, stack in log.inside(log.whole) if stack.frames)
    seen = Counter((leaf.file, leaf.line) for leaf in leaves)
    return sorted(places, key=lambda place: (-seen[place], place))[: shared.MAX_PLACES.value]


def may_wait_outside(evidence: Evidence) -> bool:
    """Whether the script may wait for other processes or machines somewhere, by the APIs that its source calls."""
    names = {call.name for _, syntax in list_files(evidence) for call in syntax.calls}
    known = [name for name in names if name and not name.startswith(UNKNOWN)]
    return any(name.startswith(PROCESSES) or any(kind.wanted.search(name) for kind in _OUTSIDE) for name in known)
