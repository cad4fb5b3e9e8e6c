"""The start and the warm-up in order of time: what ran when, by the same records as their account."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise

from tfperfkit.analysis.stored_run import Beginning
from tfperfkit.analysis.warm_up import quickest_ns
from tfperfkit.records.parts import StartPart, start_part_of
from tfperfkit.records.pictures import Phase, Start
from tfperfkit.records.spans import Span
from tfperfkit.records.steps import Step
from tfperfkit.rule import Evidence

_NS = 1e9
#: A stretch that is shorter than this share of the whole belongs to the one before it: no eye would find it.
_SMALL = 0.004
#: Steps of the warm-up that are named one by one.
_MAX_STEPS = 12
#: With fewer samples than this before the first step what ran there is not known, as in the account.
_MIN_SAMPLES = 5

Piece = tuple[int, int, StartPart]


def start_line(evidence: Evidence, begun: Beginning | None) -> Start | None:
    """None if the account of the start is none, either. Times in seconds since the process began."""
    steps = evidence.steps.steps
    if not steps or begun is None or evidence.warm_up is None:
        return None
    first = steps[0].begin_ns
    warm = [step for step in steps if step.window == "warmup"]
    steady = next((step.begin_ns for step in steps if step.window != "warmup"), steps[-1].end_ns)
    importing = begun.importing if begun.importing is not None else begun.process
    found: list[Piece] = [(begun.process, importing, "other imports"), (importing, begun.armed, "importing TensorFlow")]
    found += _traced(evidence, (begun.armed, first), _sampled(evidence, (begun.armed, first)))
    account = evidence.account
    ordinary = account.ordinary_ms * 1e6 if account is not None else quickest_ns(steps, evidence.tracing)
    found += _traced(evidence, (first, steady), _stepped(warm, (first, steady), ordinary, _slow(evidence)))

    def since(when: int) -> float:
        return round((when - begun.process) / _NS, 4)

    marks = [("before the steps", begun.process, first)]
    marks += [(f"step {step.number:,}", step.begin_ns, step.end_ns) for step in warm[:_MAX_STEPS]]
    if len(warm) > _MAX_STEPS:
        rest = warm[_MAX_STEPS:]
        marks.append((f"steps {rest[0].number:,} to {rest[-1].number:,}", rest[0].begin_ns, rest[-1].end_ns))
    return Start(
        phases=tuple(Phase(part, since(begin), since(end)) for begin, end, part in _coarse(found)),
        steps=tuple(Phase(name, since(begin), since(end)) for name, begin, end in marks if end > begin),
    )


def _traced(evidence: Evidence, span: Span, around: Iterable[Piece]) -> Iterator[Piece]:
    """``around``, which covers the span in order, with what was traced in it cut out."""
    cuts = [(max(a, span[0]), min(b, span[1])) for a, b in evidence.tracing[:] if a < span[1] and b > span[0]]
    upcoming = 0
    for begin, end, part in around:
        at = begin
        while upcoming < len(cuts) and cuts[upcoming][0] < end:
            cut = cuts[upcoming]
            yield at, cut[0], part
            yield max(at, cut[0]), min(end, cut[1]), "tracing"
            at = max(at, min(end, cut[1]))
            if cut[1] > end:  # it goes on in the next piece
                break
            upcoming += 1
        yield at, end, part


def _slow(evidence: Evidence) -> StartPart:
    """Return the larger half of the time that the first steps took beyond ordinary steps."""
    parts = evidence.warm_up.parts_s if evidence.warm_up is not None else {}
    compiled = parts.get("compile and first runs", 0.0)
    return "compile and first runs" if compiled >= parts.get("first steps", 0.0) else "first steps"


def _stepped(warm: Sequence[Step], span: Span, ordinary_ns: float, slow: StartPart) -> Iterator[Piece]:
    """The end of each step, as long as an ordinary step, is the step itself; the time before that end is first-time
    work.
    """
    at = span[0]
    for step in warm:
        own = max(at, step.begin_ns, step.end_ns - round(ordinary_ns * step.count))
        yield at, own, slow
        yield own, step.end_ns, "the steps themselves"
        at = step.end_ns
    yield at, max(at, span[1]), slow


def _sampled(evidence: Evidence, span: Span) -> list[Piece]:
    """Each sample stands for what comes until the next one."""
    kinds = [(when, start_part_of(stack.activity, stack.context)) for when, stack in evidence.log.inside([span])]
    kinds = [(when, kind) for when, kind in kinds if kind != "tracing"]
    if len(kinds) < _MIN_SAMPLES:
        return [(*span, "not sampled")]
    begins = [span[0], *(when for when, _ in kinds[1:]), span[1]]
    return [(begin, end, kind) for (begin, end), (_, kind) in zip(pairwise(begins), kinds, strict=True)]


def _coarse(pieces: Iterable[Piece]) -> list[Piece]:
    """Neighbours of one part joined, small ones given to the one before."""
    joined: list[Piece] = []
    for part, group in groupby((piece for piece in pieces if piece[1] > piece[0]), key=lambda piece: piece[2]):
        run = list(group)
        joined.append((run[0][0], run[-1][1], part))
    whole = joined[-1][1] - joined[0][0] if joined else 0
    kept: list[Piece] = []
    for begin, end, part in joined:
        if kept and (part == kept[-1][2] or end - begin < _SMALL * whole):
            kept[-1] = (kept[-1][0], end, kept[-1][2])
        else:
            kept.append((begin, end, part))
    return kept
