"""Made-up runs: what the stack samples saw, and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evidence_builder import FILE

from tfperfkit.analysis.run_account import RunFacts
from tfperfkit.model import WarmUp
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import Step, StepTable

S = 1_000_000_000
#: A process that starts at 0, imports TensorFlow from 1 s to 3 s and is recorded from then on.
AGENT = {"process_ns": 0, "import_begin_ns": 1 * S, "import_end_ns": 3 * S, "armed_ns": 3 * S}
KERAS = "keras.src.backend.tensorflow.trainer"


def stack(
    activity: str = "python", *calls: str, line: int = 1, context: str = "", name: str = "<module>", above: int = 0
) -> Stack:
    """``calls``: what the innermost line called; ``above``: the line of ``<module>`` that called its function."""
    outer = (Frame(FILE, 1, "<module>", above, None, ()),) if above else ()
    library = calls[-1].partition(".")[0].partition(":")[0] if calls else "" if activity == "python" else "tensorflow"
    return Stack((*outer, Frame(FILE, 1, name, line, None, calls)), library, activity, context)


def make_log(seen: Sequence[tuple[float, float, Stack]], rate_s: float = 0.01) -> SampleLog:
    """Samples of (from, to, stack), in seconds, at this rate; the recording begins with the first."""
    taken, stacks = [], {}
    for number, (begin, end, what) in enumerate(seen):
        stacks[number] = what
        count = round((end - begin) / rate_s)
        taken += [(round((begin + (index + 1) * (end - begin) / count) * S), number) for index in range(count)]
    return SampleLog(stacks, taken, [(round(seen[0][0] * S), round(rate_s * S))] if seen else ())


def make_run(
    seen: Sequence[tuple[float, float, Stack]] = (),
    *,
    ended: float = 10.0,
    steps: StepTable | None = None,
    tracing: Sequence[Span] = (),
    ours: Sequence[Span] = (),
    freed: Sequence[Span] = (),
    source: str = "",
    events: Sequence[Mapping[str, Any]] | None = None,
    agent: Mapping[str, Any] = AGENT,
    warm_up: WarmUp | None = None,
    log: SampleLog | None = None,
) -> RunFacts:
    """Facts in seconds; without ``events`` the process says goodbye as the last sample has been taken."""
    log = log or make_log(seen)
    goodbye = {"kind": "end", "ns": round(seen[-1][1] * S) if seen else round(ended * S)}
    return RunFacts(
        started_ns=0,
        ended_ns=round(ended * S),
        agent=agent,
        events=[dict(event) for event in events] if events is not None else [goodbye],
        steps=steps or StepTable(),
        log=log,
        tracing=Spans(tracing),
        ours=Spans(ours),
        freed=Spans(freed),
        warm_up=warm_up,
        sources={FILE: tuple(source.splitlines())},
    )


def make_table(begin: float, end: float, count: int, *, warm: int = 0, **fields: Any) -> StepTable:
    """Steps without gaps from ``begin`` to ``end`` (s)."""
    edges = [round((begin + (end - begin) * n / count) * S) for n in range(count + 1)]
    steps = tuple(Step(n + 1, edges[n], edges[n + 1], 1, 0, "warmup" if n < warm else "clean") for n in range(count))
    return StepTable(steps=steps, **{"source": "keras", **fields})
