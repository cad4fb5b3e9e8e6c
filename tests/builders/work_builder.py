"""Made-up evidence of work outside of training steps: a loop of ``train.py``, its samples, a trace in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eager_builder import traced
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_probes.tfprof.model import OpRow
from tfperfkit_probes.tfprof.result import offers as tfprof_offers
from tfperfkit_rules.eager import RULES

from tfperfkit.model import Finding, SourceSpan, StepAccount, Work
from tfperfkit.offers import LineCount, LineCounts, OperationsAfterSteps, RanOperations
from tfperfkit.records.samples import Frame, SampleLog, Samples, Stack
from tfperfkit.records.steps import Loop, Step, StepTable
from tfperfkit.rule import Evidence

LASTS_MS = 8000
#: Calls that a frame of the script may have made.
PREDICT = "keras.src.backend.tensorflow.trainer:predict"
SETTING_UP = "keras.src.backend.tensorflow.trainer:__init__"
CALL = "tensorflow.python.eager.polymorphic_function.polymorphic_function:__call__"
LOAD = "keras.src.saving.saving_api:load_model"
SESSION = "tensorflow.python.client.session:run"


def frame(line: int, *called: str, name: str = "<module>", span: tuple[int, int] | None = None) -> Frame:
    """Return a frame of the user's code; ``span``: the columns of its expression."""
    return Frame(FILE, 1, name, line, (line, line, *span) if span is not None else None, called)


def sampled(count: int, activity: str, *frames: Frame, context: str = "") -> tuple[Stack, int]:
    """Return a stack and how often it was seen."""
    return Stack(frames, "" if activity == "python" else "tensorflow", activity, context), count


def everything(evidence: Evidence) -> list[Finding]:
    """Return the findings of all rules of the family eager."""
    return [finding for rule in RULES for finding in rule(evidence)]


def work_evidence(
    source: str,
    stacks: Sequence[tuple[Stack, int]],
    *,
    loop: int = 0,
    call: int = 0,
    iterations: int | None = None,
    ops: Sequence[OpRow] = (),
    later: bool = False,
    hits: dict[int, int] | None = None,
    functions: OpsData | None = None,
    **fields: Any,
) -> Evidence:
    """Work of eight seconds at the loop, or the call, at a line. ``ops``: of a trace of two seconds in it; ``later``:
    after steps, which have a trace of their own; ``hits``: of lines, counted in two seconds; ``functions``: that
    were compiled. The samples are spread in turns."""
    seen = [stack for stack, count in stacks for _ in range(count)]
    order = sorted(range(len(seen)), key=lambda index: (index * 7919) % len(seen))
    kinds = {stack: number for number, (stack, _) in enumerate(stacks, 1)}
    width = LASTS_MS * MS // (len(seen) + 1)
    log = SampleLog(
        {number: stack for stack, number in kinds.items()},
        [((turn + 1) * width, kinds[seen[index]]) for turn, index in enumerate(order)],
    )
    samples = Samples()
    for stack in seen:
        samples.add(stack)
    count = iterations or 1
    each = LASTS_MS * MS // count
    steps = tuple(Step(n + 1, n * each, (n + 1) * each, 1, 0, "clean") for n in range(count))
    table = StepTable(steps=steps, source="work", loop=Loop(FILE, loop) if loop else None)
    mean = LASTS_MS / count
    parts: dict[Any, float] = {}
    for stack, weight in stacks:
        part = "evaluate" if stack.context == "evaluate" else "other" if stack.activity == "waiting" else stack.activity
        parts[part] = parts.get(part, 0.0) + mean * weight / len(seen)
    events = [
        {"kind": kind, "probe": probe, name: at * MS}
        for probe, begin, end in (("lines", 1000, 3000), ("tfprof", 3500, 5500))
        for kind, name, at in (("opened", "ns", begin), ("window_end", "end_ns", end))
    ]
    rows = tuple(LineCount(file=FILE, line=line, hits=n) for line, n in (hits or {}).items())
    trace = traced({}, ops, steps=0, wall_ms=2000.0)
    data: dict[str, Any] = {**fields.pop("data", {}), **({"tfprof": trace} if ops and not later else {})}
    offers: dict[str, list[Any]] = {**({"lines": [LineCounts(rows=rows)]} if rows else {}), **fields.pop("offers", {})}
    if later:
        (ran,) = (item for item in tfprof_offers(trace) if isinstance(item, RanOperations))
        offers["tfprof"] = [OperationsAfterSteps(wall_ms=trace.wall_ms, rows=ran.rows)]
    if functions is not None:
        data["ops"] = functions
    records = {"events": events, **fields.pop("records", {})}
    given = make_evidence(
        account=StepAccount(steps=count, mean_ms=mean, ordinary_ms=mean, parts_ms=parts),
        steps=StepTable(),
        source=source,
        data=data,
        offers=offers,
        records=records,
        **fields,
    )
    line = loop or call
    work = Work(
        kind="loop" if loop else "call",
        where=SourceSpan(FILE, line),
        seconds=LASTS_MS / 1000,
        share_of_run=0.6,
        iterations=iterations,
    )
    return given.narrowed(work=work, steps=table, account=given.account, samples=samples, log=log)


def handed(*frames: Frame) -> tuple[Stack, int]:
    """Some Python that hands operations out, without which they are long ones."""
    return sampled(10, "dispatch", *frames)
