"""What the trace of a few steps offers to the step's account, the headline and the rules."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from tfperfkit.offers import (
    AcceleratorUse,
    Exchange,
    Exchanges,
    FunctionCalls,
    GraphWaits,
    InputPrefetch,
    OperationsAfterSteps,
    RanOperation,
    RanOperations,
    StepBreakdown,
    XlaCompilations,
)
from tfperfkit_probes.tfprof.analysis import RunClock, TraceFacts
from tfperfkit_probes.tfprof.model import ExchangeRow, OpRow, TfprofData


def offers(data: TfprofData, after: TraceFacts | None = None, clock: RunClock | None = None) -> tuple[Any, ...]:
    """Of a trace without steps only what does not need them. ``after``: of a second one, after the steps. ``clock``:
    of the first."""
    made: list[Any] = [
        RanOperations(steps=data.steps, rows=_rows(data.top_ops), input=_rows(data.input_ops), rest_ms=data.rest_ms),
        FunctionCalls(per_step={row.name: row.per_step for row in data.calls}),
        XlaCompilations(count=data.xla_compiles, ms=data.xla_compile_ms, wall_ms=data.wall_ms),
        AcceleratorUse(busy_share={row.device: row.busy_share for row in data.devices}),
        InputPrefetch(there=data.prefetches),
    ]
    if data.breakdown_ms:
        made.append(StepBreakdown(parts_ms=data.breakdown_ms, steps=data.steps, words="the trace"))
    elif data.graph_wait_share is not None:
        made.append(GraphWaits(share=data.graph_wait_share, words="the trace"))
    if data.exchanges:
        rows = tuple(
            Exchange(step=row.step, name=row.name, ms=row.ms, ended_ns=_ended_ns(row, clock)) for row in data.exchanges
        )
        error = clock.error_ms if clock is not None else 0.0
        made.append(
            Exchanges(
                rows=rows,
                ms_per_step=data.exchange_ms,
                hidden_ms_per_step=data.exchange_hidden_ms,
                steps=data.steps,
                clock_error_ms=error,
            )
        )
    if after is not None:
        made.append(OperationsAfterSteps(wall_ms=after.wall_ms, rows=_rows(after.top_ops)))
    return tuple(made)


def _ended_ns(row: ExchangeRow, clock: RunClock | None) -> int | None:
    begin = clock.begins_ns.get(row.step) if clock is not None else None
    return round(begin + (row.after_ms + row.ms) * 1e6) if begin is not None else None


def _rows(rows: Iterable[OpRow]) -> tuple[RanOperation, ...]:
    return tuple(
        RanOperation(
            name=row.name,
            type=row.type,
            count=row.count,
            self_ms=row.self_ms,
            where=cast(Any, row.where),
            kernel_ms=row.kernel_ms,
        )
        for row in rows
    )
