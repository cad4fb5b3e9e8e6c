"""Made-up operations of a compiled step, for the tests of headroom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evidence_builder import make_evidence, make_steps

from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.rule import Evidence


def ran(type: str, ms: float, stage: Any = "forward", *, runs: float = 1.0, flops: float | None = None) -> Any:
    """Return an operation with its part of a step."""
    return ComputedOperation(name=type, type=type, stage=stage, runs=runs, ms=ms, busy_ms=ms, flops=flops)


#: Scalars and shapes, as every step has many.
SMALL = tuple(ran("Identity", 0.002) for _ in range(20))


def compiled(
    operations: Sequence[ComputedOperation],
    *,
    idle_ms: float = 0.1,
    around_ms: float = 1.0,
    batch: int = 32,
    steps: int = 1000,
    gflops: float | None = 100.0,
    part: str = "dispatch",
    more: Sequence[Any] = (),
    loop: Any = None,
    **fields: Any,
) -> Evidence:
    """Evidence of a run whose step is one call of a compiled function with these operations, and ``around_ms``.

    ``loop``: the training loop, where that matters."""
    rows = (*operations, *SMALL)
    graph = sum(row.ms for row in rows) + idle_ms
    step = ComputedStep(ms=graph, idle_ms=idle_ms, waits_ms=0.0, unknown_ms=0.0, operations=rows, batch=batch)
    return make_evidence(
        parts_ms={"graph": graph, part: around_ms},
        steps=make_steps(steps, graph + around_ms, batch_size=batch, loop=loop),
        offers={"lines": (step, *more)},
        machine_gflops=gflops,
        **fields,
    )


def spread_out(ms: float = 10.0) -> dict[str, Sequence[Any]]:
    """Make the offer of a trace for a step whose time is spread over its layers' lines, at the best rate."""
    rows = tuple(
        ComputedOperation(
            name=f"MatMul_{line}",
            type="MatMul",
            stage="forward",
            runs=1.0,
            ms=ms / 4,
            busy_ms=ms / 4,
            file="t.py",
            line=line,
            layer=f"net/dense_{line}",
            bound="arithmetic",
        )
        for line in range(4)
    )
    return {"lines": (ComputedStep(ms=ms, idle_ms=0.0, waits_ms=0.0, unknown_ms=0.0, operations=rows),)}
