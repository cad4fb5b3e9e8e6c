"""Made-up evidence for the tests of rules: only what a test names is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tfperfkit.evidence import Evidence
from tfperfkit.model import StepAccount
from tfperfkit.samples import Frame, Samples, Stack
from tfperfkit.steps import Step, StepTable
from tfperfkit.testing import evidence_of

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
    account: StepAccount | None = None, source: str | Mapping[str, str] = "", **fields: Any,
) -> Evidence:
    """``testing.evidence_of`` with steps. ``parts_ms`` is short for an account; ``source`` for the text of
    ``train.py``, or texts by file."""
    if account is None and parts_ms is not None:
        account = make_account(parts_ms)
    if steps is None:
        steps = make_steps(each_ms=account.mean_ms) if account is not None else make_steps()
    sources = {FILE: source} if isinstance(source, str) else source
    return evidence_of(steps=steps, account=account, sources=sources, **{"machine_gflops": 100.0, **fields})
