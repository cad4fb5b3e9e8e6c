"""The report's first line: what to do first, or that there is nothing to do and what bounds the step."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit.evidence import Evidence
from tfperfkit.model import LEAST_BETWEEN, Finding, StepAccount

#: Below this a step does next to no arithmetic that is counted: a rate would say nothing.
LEAST_GFLOPS = 1.0
#: In words, for "The step is mostly ...".
_WORDS = {
    "input": "waiting for its input", "python": "the script's own Python", "dispatch": "Python of TensorFlow and Keras",
    "eager_ops": "operations called one by one", "graph": "computing in compiled functions",
    "tracing": "tracing functions", "host_sync": "reading values of tensors", "copies": "copies between devices",
    "collectives": "communication between replicas", "saving": "saving and summaries", "gc": "garbage collection",
    "evaluate": "predicting and validating",
    "other": "time that nothing explains",
}
#: What a step is there for; the largest part of a healthy one.
_WORK = ("graph",)
#: With less of it than this there may be something to gain that no rule knows.
_SOUND = 0.75
_BETWEEN = {"callback": "callbacks", "build": "building models", "waiting": "freeing an iterator or the like"}

#: Words that no name begins with.
_SMALL = frozenset(
    ("A", "All", "An", "Each", "Every", "In", "It", "Memory", "No", "One", "Some", "The", "There", "With")
)


def headline(findings: Sequence[Finding], evidence: Evidence) -> str:
    """One or two plain sentences; "" when no step was seen."""
    loud = [finding for finding in findings if finding.severity != "info"]
    if loud:
        return _first(loud[0])
    if evidence.account is None or not evidence.account.parts_ms:
        return ""
    parts = evidence.account.parts_ms
    name = max(parts, key=lambda part: parts[part])
    share = parts[name] / evidence.account.mean_ms
    found = "Nothing to fix" if name in _WORK and share >= _SOUND else "Nothing to fix was found"
    return f"{found}: {100 * share:.0f} % of a step is {_WORDS[name]}.{bound(evidence)}{_between(evidence.account)}"


def _between(account: StepAccount) -> str:
    """What runs between the steps, where it takes a good part of the time."""
    if account.between_total_ms < LEAST_BETWEEN * account.mean_ms:
        return ""
    kind = max(account.between_ms, key=lambda part: account.between_ms[part], default="")
    most = f", most of it {_BETWEEN.get(kind) or _WORDS[kind]}" if kind in _BETWEEN or kind in _WORDS else ""
    taken = account.between_total_ms
    return f" Between the steps pass another {taken:,.{1 if taken < 100 else 0}f} ms for each{most}."


def within(title: str) -> str:
    """A title inside a sentence: its first letter small, unless it may be a name's (Python, TensorFlow, a class)."""
    return title[:1].lower() + title[1:] if title.partition(" ")[0] in _SMALL else title


def _first(finding: Finding) -> str:
    place = ""
    if finding.where:
        place = f" ({finding.where[0].file.rpartition('/')[2]}:{finding.where[0].line})"
    return f"First: {within(finding.title)}{place}."


def bound(evidence: Evidence) -> str:
    """What bounds a step that computes: the FLOP/s that it reaches, against a matrix product on this machine."""
    reached = achieved_gflops(evidence)
    if reached is None or reached < LEAST_GFLOPS:
        return ""
    peak = evidence.machine_gflops
    if not peak or reached > peak:  # the machine was busy when its speed was measured
        return f" It reaches {reached:,.0f} GFLOP/s there."
    return (
        f" It reaches {reached:,.0f} GFLOP/s there; a float32 matrix product reaches {peak:,.0f} on this machine"
        f" ({100 * reached / peak:.0f} %)."
    )


def achieved_gflops(evidence: Evidence) -> float | None:
    """FLOPs of the functions that run in a step, over the time in compiled functions; None if either is unknown."""
    flops = step_flops(evidence)
    graph = evidence.part("graph", "eager_ops")
    return flops / (graph / 1e3) / 1e9 if flops and graph > 0 else None


def step_flops(evidence: Evidence) -> float | None:
    """FLOPs of one step: what the probe ``ops`` counted in the functions that the trace saw Python call in it, or the
    work of the layers that ran (probe ``lines``), whichever is more: open sizes are missing from the first.
    """
    calls = {row.get("name"): row.get("per_step", 0.0) for row in evidence.raw.get("tfprof", {}).get("calls") or ()}
    total = 0.0
    for row in evidence.raw.get("ops", {}).get("all") or ():
        per_step = calls.get(row.get("graph"), 0.0)
        total += per_step * (row.get("flops") or 0.0)
    layers = sum(
        (layer.get("gflop") or 0.0) * 1e9
        for function in evidence.raw.get("lines", {}).get("graph_functions") or ()
        for layer in function.get("layers") or ()
    )
    return max(total, layers) or None
