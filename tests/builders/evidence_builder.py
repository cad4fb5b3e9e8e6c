"""Made-up evidence for the tests of rules: only what a test names is there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import tfperfkit_probes.devices.analysis as devices
import tfperfkit_probes.lines.offers as lines
import tfperfkit_probes.memory.analysis as memory
import tfperfkit_probes.tfprof.result as tfprof
from tfperfkit_probes.devices.model import DevicesData
from tfperfkit_probes.lines.model import LinesData
from tfperfkit_probes.memory.model import MemoryData
from tfperfkit_probes.ops.model import OpsData
from tfperfkit_probes.retrace.model import RetraceData
from tfperfkit_probes.tfprof.model import TfprofData

from tfperfkit.model import Finding, StepAccount
from tfperfkit.offers import AvoidableTracing, FunctionCosts
from tfperfkit.records.samples import Frame, Samples, Stack
from tfperfkit.records.steps import Step, StepTable
from tfperfkit.rule import Evidence
from tfperfkit.testing import evidence_of

MS = 1_000_000
#: The user's script in made-up evidence.
FILE = "train.py"
#: Imports, put after a script that imports nothing, so that lines keep the numbers that a test counts.
IMPORTS = """
import asyncio, copy, gc, hashlib, json, queue, random, re, subprocess, time
import cv2, imageio, keras, matplotlib.pyplot as plt, numpy as np, pandas as pd, requests, tensorflow as tf
from PIL import Image
"""


def make_steps(count: int = 60, each_ms: float = 10.0, *, warm: int = 3, **fields: Any) -> StepTable:
    """Steps in a row from time 0; the first ``warm`` are the warm-up, the others clean."""
    each = round(each_ms * MS)
    steps = tuple(Step(n + 1, n * each, (n + 1) * each, 1, 0, "warmup" if n < warm else "clean") for n in range(count))
    return StepTable(steps=steps, **{"source": "custom", **fields})


def make_account(parts_ms: Mapping[str, float], *, steps: int = 57, **fields: Any) -> StepAccount:
    """Return an account whose mean is the sum of its parts."""
    mean = sum(parts_ms.values())
    given = {"steps": steps, "mean_ms": mean, "ordinary_ms": mean, "windows": ("tfprof", "samples"), **fields}
    return StepAccount(parts_ms=dict(parts_ms), **given)


def make_samples(stacks: Sequence[tuple[int, str, Sequence[Frame]]] = ()) -> Samples:
    """Samples of (how many, activity, the user's frames from the outermost)."""
    samples = Samples()
    for count, activity, frames in stacks:
        for _ in range(count):
            samples.add(Stack(tuple(frames), "" if activity == "python" else "tensorflow", activity))
    return samples


def make_evidence(
    *,
    parts_ms: Mapping[str, float] | None = None,
    steps: StepTable | None = None,
    account: StepAccount | None = None,
    source: str | Mapping[str, str] = "",
    data: Mapping[str, Any] | None = None,
    offers: Mapping[str, Sequence[Any]] | None = None,
    **fields: Any,
) -> Evidence:
    """``testing.evidence_of`` with steps. ``parts_ms`` is short for an account; ``source`` for the text of
    ``train.py``, or texts by file. A record in ``data`` has the offers of its probe."""
    if account is None and parts_ms is not None:
        account = make_account(parts_ms)
    if steps is None:
        steps = make_steps(each_ms=account.mean_ms) if account is not None else make_steps()
    texts = {FILE: source} if isinstance(source, str) else source
    sources = {file: text if not text or "import " in text else text + IMPORTS for file, text in texts.items()}
    offered = {**{probe: offers_of(record) for probe, record in (data or {}).items()}, **(offers or {})}
    given = {"machine_gflops": 100.0, "data": data, "offers": offered, **fields}
    return evidence_of(steps=steps, account=account, sources=sources, **given)


def one(found: Iterable[Finding]) -> Finding:
    """The only finding of a rule."""
    (finding,) = found
    assert isinstance(finding, Finding) and finding.evidence
    return finding


def offers_of(record: Any) -> Sequence[Any]:
    """Return the offers of the probe with this record, as far as the record shows them."""
    for kind, offers in _OFFERS.items():
        if isinstance(record, kind):
            return offers(record)
    return ()


_OFFERS: dict[type, Callable[[Any], Sequence[Any]]] = {
    DevicesData: devices.offers,
    LinesData: lines.offers,
    MemoryData: memory.offers,
    OpsData: lambda data: (FunctionCosts(functions=data.all),),
    RetraceData: lambda data: (AvoidableTracing(ms=data.avoidable_ms),),
    TfprofData: tfprof.offers,
}
