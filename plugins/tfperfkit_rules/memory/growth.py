"""Containers (MEM001) and graphs (MEM002) that grow with the steps.

tfperf counts the elements of the script's containers and the live graphs in regular steps, and fits the growth of the
process's memory. It predicts no gain in time; the severity follows from the steps that are left until the limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit_probes.memory.model import Grower, MemoryData

from tfperfkit.calibration import Chosen, Threshold
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.remedy import Remove
from tfperfkit.rule import Evidence, Unit
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.new_models import find_new_models

TITLES = {
    "MEM001": "Memory grows because a container is never emptied",
    "MEM002": "Graph grows because every iteration adds operations",
}

MIN_GROWTH_BYTES = Threshold(
    8_000_000,
    "bytes",
    "minimum growth over the run that is a leak",
    Chosen("the floor of the probe memory's own test: an allocator's arena may give and take as much"),
)
MIN_STEP_BYTES = Threshold(
    1024,
    "bytes",
    "minimum growth per step of a list that is reported",
    Chosen("losses kept as numbers take less: 8 to 100 bytes each"),
)
LONG_STEPS = Threshold(
    300,
    "steps",
    "minimum number of steps for an unexplained growth to be more than a remark",
    Chosen("allocators settle within some hundred"),
)
LARGE_BYTES = Threshold(
    200_000_000,
    "bytes",
    "minimum size of an unexplained growth that is more than a remark",
    Chosen("25 times the growth of an arena"),
)
NEAR_RUNS = Threshold(
    10, "number", "time until the limit, in lengths of this run, for severity high", Chosen("a short trial")
)
FAR_RUNS = Threshold(
    1000,
    "number",
    "time until the limit, in lengths of this run, for severity low",
    Chosen("a hundred times NEAR_RUNS"),
)
KEPT_SHARE = Threshold(
    0.1, "share", "share of the limit that grew within this run, for severity high", Chosen("1 / NEAR_RUNS")
)
MIN_GRAPHS = Threshold(
    5,
    "count",
    "minimum number of graphs that stay alive",
    Chosen("fewer are a function each for training, testing and predicting, and a last, smaller batch for two of them"),
)
SURE = Threshold(
    0.2,
    "share",
    "minimum ratio of the lower end of the growth's interval to the growth, if nothing explains it",
    Chosen("an interval that nearly holds 0 makes no growth as likely"),
)


def kept(evidence: Evidence) -> Iterator[Finding]:
    """MEM001: something that the script keeps gets longer with each step."""
    data = evidence.offer(MemoryData)
    if data is None:
        return
    growers = [row for row in data.growers if row.kind != "graphs"]
    known = [row for row in growers if row.bytes_per_step is not None and _grown(row) >= MIN_GROWTH_BYTES.value]
    if known:
        for row in sorted(known, key=_grown, reverse=True)[: shared.MAX_FINDINGS.value]:
            if (row.bytes_per_step or 0.0) >= MIN_STEP_BYTES.value:
                yield _kept(evidence, data, row, row.bytes_per_step or 0.0)
        return
    if not data.growth_is_significant or not data.growth_bytes_per_step:
        return
    # Memory grows, and what holds it has no size that is known: a list of objects, say.
    unknown = [row for row in growers if row.bytes_per_step is None]
    if unknown:
        yield _kept(evidence, data, unknown[0], data.growth_bytes_per_step)
    elif _sure(data) and not any(row.kind == "graphs" for row in data.growers):
        models = find_new_models(evidence)
        if models:
            yield _of_models(data, data.growth_bytes_per_step, models, evidence.unit)
        else:
            yield _unexplained(data, data.growth_bytes_per_step, evidence.steps.count, evidence.unit)


def _sure(data: MemoryData) -> bool:
    """Return whether a growth is sure. An allocator's arenas give and take, so that a growth is reported though next to
    none is as likely."""
    lower = SURE.value * (data.growth_bytes_per_step or 0.0)
    return data.growth_range is None or data.growth_range[0] >= lower


def _grown(row: Grower) -> float:
    """Bytes that it grew by, while it was looked at."""
    return (row.bytes_per_step or 0.0) * (row.last - row.first) / row.per_step if row.per_step else 0.0


def _kept(evidence: Evidence, data: MemoryData, row: Grower, per_step: float) -> Finding:
    unit = evidence.unit
    where = SourceSpan(row.file, row.line, row.function)
    name = row.name
    return Finding(
        code="MEM001",
        remedy=Remove(),
        severity=_severity(evidence, data, per_step),
        basis="risk",
        title=f"Memory grows with {unit.every} because {name} is never emptied",
        share_of_step=0.0,
        where=(where,),
        evidence=(
            Measurement(f"memory growth {unit.per}", per_step, "bytes", "run"),
            Measurement(f"new elements {unit.per}", row.per_step, "number", "run"),
            Measurement("elements at the end", row.last, "count", "run"),
            *_limits(data, per_step),
        ),
        advice=_advice(row),
        detail=f"{name} holds {row.element or row.kind}.",
    )


def _advice(row: Grower) -> str:
    name = row.name
    if row.container in ("dict", "set"):
        return f"Delete entries of {name} that are no longer needed. Or: bound it, functools.lru_cache(maxsize=100)."
    if row.kind == "tensors":
        return (
            f"Keep numbers, not tensors: {name}.append(float(value)). Or: keep only the newest, "
            f"{name} = collections.deque(maxlen=100)."
        )
    if row.kind == "variables":
        return "Create the variables once, before the loop, and assign to them."
    if row.container in ("ndarray", "tensor"):
        return f"Create {name} once, at its full size, for each append copies it. Or: write it to a file."
    return f"Keep only the newest: {name} = collections.deque(maxlen=100). Or: keep a mean, or write to a file."


def _unexplained(data: MemoryData, per_step: float, steps: int, unit: Unit) -> Finding:
    tops = [row for row in data.functions if row.mean_increase_bytes and row.mean_increase_bytes > 0 and row.file]
    tops.sort(key=lambda row: -(row.mean_increase_bytes or 0.0))
    lasting = steps >= LONG_STEPS.value and steps * per_step >= LARGE_BYTES.value
    return Finding(
        code="MEM001",
        remedy=Remove(),
        basis="risk",
        title=f"Memory grows with {unit.every}, cause unknown",
        severity="low" if lasting else "info",
        share_of_step=0.0,
        # All of a script grows where a part of it does.
        where=tuple(SourceSpan(row.file, row.line, row.function) for row in tops[:1] if row.function != "<module>"),
        evidence=(Measurement(f"memory growth {unit.per}", per_step, "bytes", "run"), *_limits(data, per_step)),
        advice=(
            "Look for what a library keeps: callbacks, loggers, caches. No container of the script grows. Or: compare "
            "two snapshots of tracemalloc, a few hundred steps apart."
        ),
    )


def _of_models(data: MemoryData, per_step: float, models: list[SourceSpan], unit: Unit) -> Finding:
    """Make a note: that nothing frees the models follows from their number, not from the number of steps."""
    return Finding(
        code="MEM001",
        remedy=Remove(),
        basis="risk",
        title="Memory grows because models are created one after another",
        severity="info",
        share_of_step=0.0,
        where=tuple(models[:1]),
        evidence=(Measurement(f"memory growth {unit.per}", per_step, "bytes", "run"), *_limits(data, per_step)),
        advice=(
            "Delete each model before the next one: del model, keras.backend.clear_session(), gc.collect(). Keep "
            "numbers of its history, not the History object. Or: train each model in its own process."
        ),
        detail="Each model holds its variables, its optimizer's variables and the graphs of its functions.",
    )


def _limits(data: MemoryData, per_step: float) -> list[Measurement]:
    rows = []
    left = steps_left(data, per_step)
    if left is not None:
        rows.append(Measurement("steps until the limit", left, "count", "run"))
    if data.rss_last_bytes is not None:
        rows.append(Measurement("memory at the end", data.rss_last_bytes, "bytes", "run"))
    return rows


def steps_left(data: MemoryData, per_step: float) -> float | None:
    """Steps until the memory limit at this growth; None when it is not known."""
    if per_step <= 0:
        return None
    if data.steps_to_limit is not None and data.growth_bytes_per_step:  # the room that the probe names, of all limits
        return data.steps_to_limit * data.growth_bytes_per_step / per_step
    if not data.limit_bytes or not data.rss_last_bytes:
        return None
    return max(data.limit_bytes - data.rss_last_bytes, 0) / per_step


def _severity(evidence: Evidence, data: MemoryData, per_step: float) -> Severity:
    left, steps = steps_left(data, per_step), max(evidence.steps.count, 1)
    if left is not None and left <= NEAR_RUNS.value * steps:
        return "high"
    if data.limit_bytes and per_step * steps >= KEPT_SHARE.value * data.limit_bytes:
        return "high"
    return "medium" if left is None or left <= FAR_RUNS.value * steps else "low"


def graphs_grow(evidence: Evidence) -> Iterator[Finding]:
    """MEM002: each step leaves graphs, or operations in the default graph, behind."""
    unit = evidence.unit
    data = evidence.offer(MemoryData)
    for row in data.growers if data is not None else ():
        if row.kind != "graphs" or row.last - row.first < MIN_GRAPHS.value:
            continue
        default = row.element == "operation"
        where = SourceSpan(row.file, row.line, row.function)
        yield Finding(
            code="MEM002",
            remedy=Remove(),
            severity="medium",
            basis="risk",
            title=f"Graph grows because {unit.every} adds operations to the default graph"
            if default
            else f"Graph grows because every trace of {row.function or 'a function'} is kept",
            share_of_step=0.0,
            where=(where,) if row.file else (),
            evidence=(
                Measurement(
                    f"new operations {unit.per}" if default else f"new graphs {unit.per}", row.per_step, "number", "run"
                ),
                Measurement(f"{'operations' if default else 'graphs'} alive at the end", row.last, "count", "run"),
                *(
                    [Measurement("operations in these graphs", row.operations, "count", "run")]
                    if row.operations
                    else []
                ),
            ),
            advice=(
                "Build all operations before the loop and only run them in it. tf.Graph.finalize() then raises at the "
                "line that adds one."
                if default
                else "Trace the function once: pass tensors, not Python values, and create the tf.function outside the "
                "loop."
            ),
        )
