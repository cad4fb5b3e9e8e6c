"""The place of the training step in the user's code: the function that makes it, and the loop around it."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.model import SourceSpan
from tfperfkit.records.steps import Site
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.source_text import find_function, find_loop, locate_function

TAPE = "tensorflow.GradientTape"
_KNOWN: WeakKeyDictionary[Evidence, tuple[list[Site], Counter[int]]] = WeakKeyDictionary()


class StepPlace(NamedTuple):
    """``functions``: the ``def`` of each function that makes the step's updates; empty if the loop itself contains the
    body: then ``tape`` is its first line. ``updates``: optimizers applied per step (1 when not known).
    """

    functions: tuple[SourceSpan, ...]
    loop: SourceSpan | None
    tape: SourceSpan | None
    updates: int
    by_keras: bool = False  # ``fit`` or ``train_on_batch`` makes it: ``functions`` is the line of the call
    handed: tuple[SourceSpan, ...] = ()  # the lines of ``strategy.run`` that give the step to the replicas

    @property
    def where(self) -> tuple[SourceSpan, ...]:
        """The function first, then the loop; without a function the loop and the line of the tape."""
        spans = (*self.functions[:3], *self.handed, self.loop) if self.functions else (self.loop, self.tape)
        return tuple(dict.fromkeys(span for span in spans if span is not None))


def reached(evidence: Evidence, *kinds: str) -> list[Site]:
    """Return the sites of these kinds that the run turned on, the busiest first."""
    known, counts = _count_sites(evidence)
    found = [site for site in known if site.kind in kinds and counts[site.id]]
    largest = max((counts[site.id] for site in found), default=0)
    kept = [site for site in found if counts[site.id] >= shared.RARE_SITE.value * largest]
    return sorted(kept, key=lambda site: -counts[site.id])


def sites(evidence: Evidence) -> list[Site]:
    """Return all sites of the run."""
    return _count_sites(evidence)[0]


def _count_sites(evidence: Evidence) -> tuple[list[Site], Counter[int]]:
    """Count the sites, and how often each was reached: several rules ask, and a long run has many markers to read."""
    found = _KNOWN.get(evidence)
    if found is None:
        counts = Counter(marker.site for marker in evidence.markers())
        found = _KNOWN[evidence] = (evidence.sites(), counts)
    return found


def step_place(evidence: Evidence) -> StepPlace | None:
    """Return the place of a step whose updates Python makes; None when no such update was seen."""
    found = [site for site in reached(evidence, "apply", "train_on_batch", "batch") if site.file]
    found = [site for site in found if not _made_once(evidence, site)]
    if not found:
        return _find_named_step(evidence)
    applied = [site for site in found if site.kind == "apply"]
    if not applied:
        span = SourceSpan(found[0].file, found[0].line, found[0].function)
        return StepPlace((span,), _find_loop(evidence, found[0]), None, 1, by_keras=True)
    functions: list[SourceSpan] = []
    runs: list[SourceSpan] = []
    tape = None
    loop = None
    for site in sorted(applied, key=lambda site: site.id):
        loop = _find_loop(evidence, site) or loop
        handed = _handed_to_strategy(evidence, site)
        if handed is not None:
            functions.append(locate_function(evidence, handed.file, handed.line))
            runs.append(handed)
            continue
        inner = _list_inner_lines(evidence, site, loop)
        if inner:
            functions.append(_find_maker(evidence, inner))
        elif loop is not None:
            whole = find_loop(evidence, loop.file, loop.line)
            line = _find_tape(evidence, loop.file, loop.line, whole.last if whole else site.line)
            tape = tape or SourceSpan(loop.file, line or site.line)
        else:
            functions.append(locate_function(evidence, site.file, site.line))
    fetches = [site for site in reached(evidence, "next") if site.loops]
    if loop is None and fetches:
        loop = SourceSpan(fetches[0].loops[-1].file, fetches[0].loops[-1].line, fetches[0].function)
    updates = len({(site.target, site.file, site.line) for site in applied})
    handed_over = tuple(dict.fromkeys(runs))
    return StepPlace(tuple(dict.fromkeys(functions)), loop, tape, max(updates, 1), handed=handed_over)


def _made_once(evidence: Evidence, site: Site) -> bool:
    """Return an update outside of all loops, made once in a run of many steps: a try before the training, not its
    step."""
    return not site.loops and _count_sites(evidence)[1][site.id] == 1 < evidence.steps.count


def _find_named_step(evidence: Evidence) -> StepPlace | None:
    """Find the function that the user named as the step, where another library updates the weights (SciPy's
    minimize)."""
    for site in reached(evidence, "named"):
        function = find_function(evidence, site.file, site.line)
        if function is not None and _find_tape(evidence, site.file, function.line, function.last):
            return StepPlace((SourceSpan(site.file, function.line, function.name),), None, None, 1)
    return None


def _find_loop(evidence: Evidence, site: Site) -> SourceSpan | None:
    """Find the training loop: the one that the steps were counted by, else the innermost around the update."""
    counted = evidence.steps.loop
    if counted is None or counted.file not in {loop.file for loop in site.loops}:
        counted = None
    if counted is None and not site.loops:
        return None
    last = counted or site.loops[-1]
    return SourceSpan(last.file, last.line, _name_function(evidence, last.file, last.line))


def _handed_to_strategy(evidence: Evidence, site: Site) -> SourceSpan | None:
    """Return where ``strategy.run`` is given the function that updates in another thread, whose stack ends there."""
    function = find_function(evidence, site.file, site.line)
    if function is None or site.loops or len(site.chain) > 1:
        return None
    for file in evidence.files():
        syntax = evidence.syntax(file)
        for call in syntax.calls if syntax is not None else ():
            if call.method == "run" and [item.last_name for item in call.arguments[:1]] == [function.name]:
                return SourceSpan(file, call.line, _name_function(evidence, file, call.line))
    return None


def _find_tape(evidence: Evidence, file: str, first: int, last: int) -> int | None:
    """Find the first of these lines that opens a gradient tape."""
    opened = (span.line for span in evidence.calls(TAPE) if span.file == file)
    return next((line for line in opened if first <= line <= last), None)


def _name_function(evidence: Evidence, file: str, line: int) -> str:
    function = find_function(evidence, file, line)
    return function.name if function else ""


def _list_inner_lines(evidence: Evidence, site: Site, loop: SourceSpan | None) -> list[tuple[str, int]]:
    """List the lines that lead from the loop to the update, outermost first, the one in the loop itself left out."""
    chain = list(reversed(site.chain or ((site.file, site.line),)))
    if loop is None:
        return []
    scope = find_function(evidence, loop.file, loop.line)
    whole = find_loop(evidence, loop.file, loop.line)
    for index, (file, line) in enumerate(chain):
        within = whole is None or whole.line <= line <= whole.last
        if file == loop.file and within and find_function(evidence, file, line) == scope:
            return chain[index + 1 :]
    return chain[-1:] if find_function(evidence, *chain[-1]) else []


def _find_maker(evidence: Evidence, inner: list[tuple[str, int]]) -> SourceSpan:
    """Return the outermost function with the tape on the way to the update, so that it contains the whole step; else
    the outermost function: the tape is in a function that it calls (``strategy.run``).
    """
    for file, line in inner:
        function = find_function(evidence, file, line)
        if function is not None and _find_tape(evidence, file, function.line, function.last):
            return SourceSpan(file, function.line, function.name)
    return locate_function(evidence, *inner[0])
