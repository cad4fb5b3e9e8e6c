"""Made-up evidence for the tests of rules: only what a test names is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tfperfkit.evidence import Evidence
from tfperfkit.model import RunInfo, StepAccount, WarmUp
from tfperfkit.samples import Frame, SampleLog, Samples, Stack
from tfperfkit.spans import Span, Spans
from tfperfkit.steps import Step, StepTable

MS = 1_000_000
#: The person's script in made-up evidence.
FILE = "train.py"


def make_steps(count: int = 60, each_ms: float = 10.0, *, warm: int = 3, **fields: Any) -> StepTable:
    """Steps in a row from time 0; the first ``warm`` are the warm-up, the others clean."""
    each = round(each_ms * MS)
    steps = tuple(
        Step(n + 1, n * each, (n + 1) * each, 1, 0, "warmup" if n < warm else "clean") for n in range(count)
    )
    return StepTable(steps=steps, **{"source": "custom", **fields})


def make_account(parts_ms: Mapping[str, float], *, steps: int = 57, **fields: Any) -> StepAccount:
    """An account whose mean is the sum of its parts."""
    mean = sum(parts_ms.values())
    given = {"steps": steps, "mean_ms": mean, "ordinary_ms": mean, "windows": ("tfprof", "samples"), **fields}
    return StepAccount(parts_ms=dict(parts_ms), **given)


def make_samples(stacks: Sequence[tuple[int, str, Sequence[Frame]]] = ()) -> Samples:
    """Samples of (how many, activity, the person's frames from the outermost)."""
    samples = Samples()
    for count, activity, frames in stacks:
        for _ in range(count):
            samples.add(Stack(tuple(frames), "" if activity == "python" else "tensorflow", activity))
    return samples


def make_evidence(
    *, parts_ms: Mapping[str, float] | None = None, steps: StepTable | None = None,
    account: StepAccount | None = None, warm_up: WarmUp | None = None, samples: Samples | None = None,
    log: SampleLog | None = None, settings: Mapping[str, Any] | None = None, machine_gflops: float | None = 100.0,
    tracing: Sequence[Span] = (), collections: Sequence[Span] = (), data: Mapping[str, Any] | None = None,
    source: str | Mapping[str, str] = "", records: Mapping[str, Sequence[Any]] | None = None,
    machine: Mapping[str, Any] | None = None, wall_s: float = 60.0,
) -> Evidence:
    """``parts_ms`` is short for an account; ``source`` for the text of ``train.py``, or texts by file. ``data`` holds
    each probe's record, a Struct or builtins."""
    texts = {FILE: source} if isinstance(source, str) else source
    if account is None and parts_ms is not None:
        account = make_account(parts_ms)
    if steps is None:
        steps = make_steps(each_ms=account.mean_ms) if account is not None else make_steps()
    streams = records or {}
    return Evidence(
        run=RunInfo(
            argv=(FILE,), exit_code=0, status="finished", wall_s=wall_s,
            machine={"cpus": 2, "devices": ["/device:CPU:0"], **(machine or {})},
        ),
        steps=steps, account=account, warm_up=warm_up, samples=samples or Samples(), log=log or SampleLog({}, ()),
        settings=settings or {}, machine_gflops=machine_gflops, tracing=Spans(tracing),
        collections=Spans(collections), data=msgspec.to_builtins(dict(data or {})),
        sources={file: tuple(text.splitlines()) for file, text in texts.items()},
        records=lambda stream: streams.get(stream, ()),
    )
