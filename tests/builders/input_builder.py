"""Made-up input pipelines, for the tests of the rules of family input."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from evidence_builder import FILE, make_evidence, make_samples
from tfperfkit_probes.input.model import InputData, Pipeline, Stage
from tfperfkit_probes.memory.model import MemoryData
from tfperfkit_rules import input as rules

from tfperfkit.model import Finding, SourceSpan
from tfperfkit.records.samples import Frame, Samples, Stack
from tfperfkit.rule import Evidence

WAITS = {"input": 6.0, "graph": 4.0}
SOURCE = "\n".join(f"line {n}" for n in range(1, 41))


def stage(kind: str, line: int = 5, **fields: Any) -> Stage:
    return Stage(**{"kind": kind, "cls": f"_{kind}Dataset", "file": FILE, "line": line, **fields})


def mapped(kind: str = "Map", own_ms: float | None = 9.0, **fields: Any) -> Stage:
    given = {
        "mapped": SourceSpan(FILE, 2, "load"),
        "self_ms_per_output": own_ms,
        "ops": 30,
        "bytes_per_element": 50_000,
        **fields,
    }
    return stage(kind, 7, **given)


def pipeline(*stages: Stage, **fields: Any) -> Pipeline:
    given = {
        "file": FILE,
        "line": 20,
        "function": "",
        "role": "training",
        "in_training": True,
        "measured": "model",
        "outputs_per_step": 1.0,
        "iterators": 1,
        "iterators_per_step": 0.01,
        "way": "fit",
        **fields,
    }
    return Pipeline(stages=stages, **given)


def evidence(*pipelines: Pipeline, data: dict[str, Any] | None = None, **fields: Any) -> Evidence:
    """Return a step of 10 ms that waits 6 ms for its input, unless ``parts`` say otherwise."""
    inputs = fields.pop("inputs", {})
    made = InputData(pipelines=pipelines, steps=60, **inputs)
    memory = MemoryData(limit_bytes=8_000_000_000)
    given = {"source": SOURCE, **({} if "account" in fields else {"parts_ms": WAITS}), **fields}
    return make_evidence(data={"input": made, "memory": memory, **(data or {})}, **given)


def codes(given: Evidence) -> set[str]:
    return {finding.code for rule in rules.RULES for finding in rule(given)}


def one(found: Iterable[Finding]) -> Finding:
    (finding,) = found
    assert finding.evidence and finding.where
    return finding


def ranged(finding: Finding) -> tuple[float, float]:
    assert finding.gain.bounds is not None and finding.gain.likely is not None
    assert finding.gain.bounds[0] <= finding.gain.likely <= finding.gain.bounds[1]
    return finding.gain.bounds


PREFETCH, BATCH = stage("Prefetch", 9), stage("Batch", 8, parameters={"batch_size": 32}, fused=True)
LOOP, FETCH = Frame(FILE, 1, "<module>", 30), Frame(FILE, 10, "fetch", 12)


def sampled(*, loading: int = 60, picking: int = 20, computing: int = 20) -> Samples:
    samples = make_samples(
        [
            (picking, "python", [LOOP, Frame(FILE, 10, "fetch", 14)]),
            (computing, "graph", [Frame(FILE, 1, "<module>", 31)]),
        ]
    )
    for _ in range(loading):
        samples.add(Stack((LOOP, FETCH), "numpy", "python"))
    return samples
