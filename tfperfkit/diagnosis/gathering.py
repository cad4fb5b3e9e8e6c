"""From a run directory and the probes' results to the evidence that rules are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tfperfkit.account import Facts, account
from tfperfkit.evidence import Evidence
from tfperfkit.model import ProbeOutcome, RunInfo
from tfperfkit.samples import read_log, steady_samples
from tfperfkit.spans import Spans
from tfperfkit.steps import StepTable
from tfperfkit.store import RunDirectory
from tfperfkit.warmup import warm_up

#: Types of operations in a graph that only move data, and that talk to other replicas.
_MOVED = {
    "copies": ("_Send", "_Recv", "_HostSend", "_HostRecv", "Memcpy", "MEMCPY", "CopyHost", "Copy"),
    "collectives": ("Collective", "Nccl", "nccl", "AllReduce", "all-reduce", "AllGather", "ReduceScatter"),
}


def gather(
    run: RunDirectory, info: RunInfo, agent: Mapping[str, Any], started_ns: int, steps: StepTable,
    events: list[dict[str, Any]], sources: Mapping[str, tuple[str, ...]], outcomes: Iterable[ProbeOutcome],
) -> Evidence:
    """Read the session's streams once and make the step's account from them and the trace's breakdown."""
    log = read_log(run.records("session/samples.jsonl"))
    steady = steady_samples(log, steps, events)
    data = {outcome.name: outcome.data for outcome in outcomes if isinstance(outcome.data, dict) and outcome.data}
    tracing = _spans(run.records("session/tracing.jsonl"))
    collections = _spans(run.records("probes/memory/gc.jsonl"))
    made = account(Facts(
        steps=steps, log=log, steady=steady, tracing=tracing, collections=collections,
        trace_ms=parts_of(data), moved=_moved(data), busy=_busy(data),
    ))
    warm = warm_up(steps, log, agent, started_ns, tracing, made.ordinary_ms if made else None)
    settings: dict[str, Any] = {}
    for event in events:
        if event.get("kind") == "settings":
            settings = {name: value for name, value in event.items() if name != "kind"}
    machine = run.read_json("machine.json")
    gflops = machine.get("float32_gflops") if isinstance(machine, dict) else None

    def records(stream: str) -> Iterable[Any]:
        return run.records(f"session/{stream}.jsonl")

    return Evidence(
        run=info, steps=steps, account=made, warm_up=warm, samples=steady, log=log, settings=settings,
        machine_gflops=float(gflops) if isinstance(gflops, (int, float)) else None,
        tracing=tracing, collections=collections, data=data, sources=sources, records=records,
    )


def parts_of(data: Mapping[str, Any]) -> dict[str, float] | None:
    """The breakdown that a probe measured in its window, ms of one step; of the first probe that has one."""
    for record in data.values():
        parts = record.get("breakdown_ms")
        if isinstance(parts, dict) and parts and all(isinstance(part, (int, float)) for part in parts.values()):
            return parts
    return None


def _busy(data: Mapping[str, Any]) -> dict[str, float]:
    """Accelerators in the trace and the share of the traced steps in which they worked."""
    rows = data.get("tfprof", {}).get("devices") or ()
    return {str(row.get("device")): row["busy_share"] for row in rows if isinstance(row.get("busy_share"), float)}


def _moved(data: Mapping[str, Any]) -> dict[str, float]:
    """Of the time of the operations in compiled functions, the shares of those that move data."""
    rows = data.get("tfprof", {}).get("top_ops") or ()
    rows = [row for row in rows if row.get("where") in ("graph", "xla", "device")]
    whole = sum(row.get("self_ms", 0.0) for row in rows)
    if not whole:
        return {}
    return {
        part: sum(row["self_ms"] for row in rows if str(row.get("type")).startswith(types)) / whole
        for part, types in _MOVED.items()
    }


def _spans(rows: Iterable[Any]) -> Spans:
    return Spans(
        (row[0], row[1]) for row in rows
        if isinstance(row, list) and len(row) >= 2 and isinstance(row[0], int) and isinstance(row[1], int)
    )
