"""Which compiled functions may have run between the first and the last iteration of a work, or the training steps.

A variable that none of them changes is the same in all of these iterations, whatever changed it before or after.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import lru_cache

from tfperfkit.graph.recorded import CalledFunction, RecordedGraphs
from tfperfkit.graph.sessions import RUN
from tfperfkit.offers import ComputedStep, FunctionCalls
from tfperfkit.records.samples import Place
from tfperfkit.records.spans import Span
from tfperfkit.records.steps import MarkerKind
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.eager_assignments import assigns_eagerly, writes_in_source
from tfperfkit_rules.measures.ran_functions import list_callees
from tfperfkit_rules.measures.source_text import find_loop

#: Calls that compute nothing in functions, and calls that run one function at the user's line.
_OTHERS: tuple[MarkerKind, ...] = ("next",)
_CALLS: tuple[MarkerKind, ...] = (
    "function",
    "call",
    "loop_call",
    "batch",
    "train_on_batch",
    "predict",
    "evaluate",
    "session",
)
#: So many iterations must lie in the trace: an iteration ends with what changes variables for the next one.
_TRACED = 2


@lru_cache(maxsize=8)
def choose_graphs(evidence: Evidence) -> RecordedGraphs | None:
    """Return the recorded graphs, with all variables at rest that nothing changes during this work or these steps."""
    graphs = evidence.offer(RecordedGraphs)
    if graphs is None or not graphs.called:
        return graphs
    ran = _find_ran(evidence, graphs.called)
    return graphs.among(ran) if ran is not None else graphs


def describe_unchanged(evidence: Evidence, graph: str) -> str:
    """Say of a function's variables that stay how that is known: "variables that …"."""
    graphs = choose_graphs(evidence)
    if graphs is None or not graphs.is_wider(graph):
        return "variables that nothing changes"
    here = f"this {evidence.work.kind}" if evidence.work is not None else evidence.unit.loop
    return f"variables that no function called in {here} assigns"


def _find_ran(evidence: Evidence, called: Iterable[CalledFunction]) -> frozenset[str] | None:
    """Return the graphs of the functions that may have run; None if that is not known.

    Calls are known from a trace of two whole iterations, the observed calls, first runs and samples. Each observed call
    must be of a function that is known from its line.
    """
    span = _find_span(evidence)
    if span is None or assigns_eagerly(evidence):
        return None
    lines = _Lines(evidence, [each for each in called if each.first_ns is not None or not each.nested])
    if _writes_in_loop(evidence, frozenset(each.function for each in lines.called)):
        return None
    sites = {site.id: site for site in evidence.sites()}
    targets: defaultdict[Place, set[int]] = defaultdict(set)
    marked: set[Place] = set()
    kinds: set[MarkerKind] = set()
    for marker in evidence.markers():
        site = sites.get(marker.site)
        if site is None or site.kind in _OTHERS:
            continue
        marked.add((site.file, site.line))
        if marker.begin_ns <= span[1] and span[0] <= marker.end_ns:
            if site.kind not in _CALLS:
                return None
            targets[site.file, site.line].add(site.target)
            kinds.add(site.kind)
    calls = evidence.offer(FunctionCalls)
    # In a script of TensorFlow 1 all that changes a variable is a run of a session, and each is observed.
    if kinds != {"session"} and (calls is None or not _is_traced(evidence)):
        return None
    found = set(calls.per_step if calls is not None else ())
    for place, made in targets.items():
        here = lines.find(place)
        if len({each.object for each in here}) < len(made):
            return None
        found |= {each.graph for each in here}
    for place in _list_sampled(evidence):
        found |= {each.graph for each in lines.find(place)}
    counted = {place for each in marked for place in lines.list_places(each)}
    return frozenset(found.union(each.graph for each in lines.called if _may_run(each, span, counted)))


def _may_run(each: CalledFunction, span: Span, counted: set[Place]) -> bool:
    """Whether a function may have run here although nothing saw it: it ran first here, it is not known when, or none of
    its later calls was observed, as on another thread."""
    if each.first_ns is None or span[0] <= each.first_ns <= span[1]:
        return True
    return not each.once and (each.file, each.line) not in counted


def _find_span(evidence: Evidence) -> Span | None:
    """Return the time from the first to the last iteration, with all that ran in between."""
    steps, log = evidence.steps.steps, evidence.log.whole if evidence.work is not None else ()
    begins = [step.begin_ns for step in steps] or [begin for begin, _ in log]  # a work begins between two samples
    ends = [*(step.end_ns for step in steps), *(end for _, end in log)]
    return (min(begins), max(ends)) if begins else None


def _writes_in_loop(evidence: Evidence, compiled: frozenset[str]) -> bool:
    """Whether the source has an assignment by Python in this loop: a trace may lie between two assignments."""
    loop = evidence.steps.loop
    found = find_loop(evidence, loop.file, loop.line) if loop is not None else None
    return loop is not None and found is not None and writes_in_source(evidence, loop.file, found.lines, compiled)


def _is_traced(evidence: Evidence) -> bool:
    step = evidence.offer(ComputedStep)
    if step is None or evidence.work is None:
        return step is not None
    return step.traced_ms >= _TRACED * (evidence.step_ms or 0.0) > 0


def _list_sampled(evidence: Evidence) -> set[Place]:
    leaves = [stack.frames[-1] for stack in evidence.samples.stacks if stack.activity == "graph" and stack.frames]
    return {(frame.file, frame.line) for frame in leaves}


class _Lines:
    """The functions by the lines that call them: traced by a call there, or by one that is written alike."""

    def __init__(self, evidence: Evidence, called: Iterable[CalledFunction]) -> None:
        self.called = tuple(called)
        self._evidence = evidence
        self._callees: dict[Place, set[str]] = {}

    def find(self, place: Place) -> list[CalledFunction]:
        """Return the functions that a line may call."""
        runs = [each for each in self.called if each.function == RUN and (each.file, each.line) == place]
        if runs:
            return runs
        here = self._list_callees(place)
        names = {name.rpartition(".")[2] for name in here}
        return [
            each
            for each in self.called
            if (each.file, each.line) == place
            or each.function in names
            or here & self._list_callees((each.file, each.line))
        ]

    def list_places(self, place: Place) -> Iterator[Place]:
        """Yield the lines that traced the functions that a line may call."""
        return ((each.file, each.line) for each in self.find(place))

    def _list_callees(self, place: Place) -> set[str]:
        if place not in self._callees:
            self._callees[place] = list_callees(self._evidence, *place)
        return self._callees[place]
