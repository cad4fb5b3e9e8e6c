"""From a run directory and what the probes offer to the evidence that rules are given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tfperfkit import calibration
from tfperfkit.analysis.overhead import waited_share
from tfperfkit.analysis.run_account import RunFacts, run_account
from tfperfkit.analysis.step_account import Facts, account
from tfperfkit.analysis.step_table import described_spans, tracing_spans
from tfperfkit.analysis.warm_up import warm_up
from tfperfkit.clock import NS_PER_S
from tfperfkit.diagnosis.rank_samples import sampled
from tfperfkit.model import History, ProbeOutcome, RunInfo, StepAccount
from tfperfkit.offers import (
    AcceleratorUse,
    GarbageCollections,
    GraphWaits,
    InputPace,
    Pipelines,
    RanOperations,
    StepBreakdown,
)
from tfperfkit.records.events import of_kind, window_spans
from tfperfkit.records.freed import freed
from tfperfkit.records.parts import PartName
from tfperfkit.records.samples import read_log, steady_samples
from tfperfkit.records.spans import Span, Spans
from tfperfkit.records.steps import StepTable
from tfperfkit.rule import Evidence, Offers
from tfperfkit.storage.run_directory import PHASES, RunDirectory

SAMPLES = "session/samples.jsonl"
#: Types of operations in a graph that only move data, and that talk to other replicas.
_MOVED: dict[PartName, tuple[str, ...]] = {
    "copies": ("_Send", "_Recv", "_HostSend", "_HostRecv", "Memcpy", "MEMCPY", "CopyHost", "Copy"),
    "collectives": ("Collective", "Nccl", "nccl", "AllReduce", "all-reduce", "AllGather", "ReduceScatter"),
}


def gather(
    run: RunDirectory,
    info: RunInfo,
    agent: Mapping[str, Any],
    started_ns: int,
    steps: StepTable,
    events: list[dict[str, Any]],
    sources: Mapping[str, tuple[str, ...]],
    outcomes: Iterable[ProbeOutcome],
    offers: Offers,
    *,
    brief: bool = False,
    history: History | None = None,
) -> Evidence:
    """Read the session's streams once and make the step's account from them and the breakdown that a probe offers.
    ``brief``: without the account of the whole run. ``history``: of a run in watch mode."""
    sampled = not lost_samples(events)
    rows: Iterable[Any] = run.records(SAMPLES)
    kept = list(rows) if brief else None  # of a rank they are asked for again
    log = read_log((rows if kept is None else kept) if sampled else ())
    steady = steady_samples(log, steps, events)
    data = {outcome.name: outcome.data for outcome in outcomes if isinstance(outcome.data, dict) and outcome.data}
    tracing = tracing_spans(run)
    collected, breakdown = offers.first(GarbageCollections), offers.first(StepBreakdown)
    used, ran = offers.first(AcceleratorUse), offers.first(RanOperations)
    in_graph, in_graph_by = offers.first(GraphWaits), offers.maker(GraphWaits)
    there = offers.first(Pipelines)
    collections = Spans(collected.spans if collected is not None else ())
    made = account(
        Facts(
            steps=steps,
            log=log,
            steady=steady,
            tracing=tracing,
            collections=collections,
            trace_ms=breakdown.parts_ms if breakdown is not None else None,
            traced_by=offers.maker(StepBreakdown) or in_graph_by,
            longer_wait_share=breakdown.longer_wait_share if breakdown is not None else None,
            waits=in_graph.share if in_graph is not None and _in_steps(in_graph_by, steps, events) else 0.0,
            # A trace without steps has what came before them: a few operations tell nothing of a step's.
            moved=_moved(ran, info.machine.get("devices")) if ran is not None and breakdown is not None else {},
            busy=used.busy_share if used is not None else {},
            # Of several ranks one may wait there for another, whose epoch begins later.
            feeds=there is not None and there.feeds_steps and not brief,
            sampled=sampled,
        )
    )
    warm = warm_up(steps, log, agent, started_ns, tracing, made.ordinary_ms if made else None)
    whole = None
    if not brief:
        waits = freed(log) if there is not None and there.iterated else []
        whole = run_account(
            RunFacts(
                started_ns=started_ns,
                ended_ns=started_ns + round(info.wall_s * NS_PER_S) if info.wall_s > 0 else 0,
                agent=agent,
                events=events,
                steps=steps,
                log=log,
                tracing=tracing,
                ours=waits_for_us(run, steps),
                freed=Spans((wait.begin_ns, wait.end_ns) for wait in waits),
                warm_up=warm,
                sources=sources,
            )
        )
    settings: dict[str, Any] = {}
    for event in of_kind(events, "settings"):
        settings = {name: value for name, value in event.items() if name != "kind"}
    gflops = info.machine.get("float32_gflops")

    def records(stream: str) -> Iterable[Any]:
        name = f"session/{stream}.jsonl"
        return kept if kept is not None and name == SAMPLES else run.records(name)

    evidence = Evidence(
        run=info,
        steps=steps,
        account=made,
        warm_up=warm,
        run_account=whole[0] if whole is not None else None,
        run_ledger=whole[1] if whole is not None else None,
        samples=steady,
        log=log,
        settings=settings,
        machine_gflops=float(gflops) if isinstance(gflops, (int, float)) else None,
        tracing=tracing,
        collections=collections,
        data=data,
        sources=sources,
        records=records,
        offers=offers,
        waited_share=waited_share(run.records("session/cost.jsonl"), steps),
        history=history,
    )
    evidence.account = with_own_input(evidence)
    return evidence


def lost_samples(events: Iterable[Any]) -> bool:
    """Return whether stack samples are missing in between, so that shares of the rest would mislead. A stream that has
    reached its size lacks its end only: the steady steps, from which shares are drawn, came long before."""
    return any(
        isinstance(event, dict)
        and event.get("kind") == "lost"
        and event.get("file") == SAMPLES
        and not event.get("full", str(event.get("reason")).startswith("more than"))  # older runs have the words only
        for event in events
    )


def _in_steps(probe: str, steps: StepTable, events: list[dict[str, Any]]) -> bool:
    """Return whether the window of a probe lay in training steps, for the most part."""
    ran = Spans((step.begin_ns, step.end_ns) for step in steps.steps)
    spans = [(begin, end) for begin, end, name in window_spans(events) if name == probe]
    return any(2 * ran.overlap(begin, end) > end - begin for begin, end in spans)


def _moved(ran: RanOperations, devices: object) -> dict[PartName, float]:
    """Return the shares of the time of operations in compiled functions that operations which move data take.

    On a single device, operations with these names pass a tensor on within the device.
    """
    rows = [row for row in ran.rows if row.where in ("graph", "xla", "device")]
    whole = sum(row.self_ms for row in rows)
    if not whole:
        return {}
    alone = isinstance(devices, (list, tuple)) and len(devices) == 1
    return {
        part: sum(row.self_ms for row in rows if row.type.startswith(types)) / whole
        for part, types in _MOVED.items()
        if not (alone and part == "copies")
    }


GRAPH: PartName = "graph"
INPUT: PartName = "input"


def with_own_input(evidence: Evidence) -> StepAccount | None:
    """Count the time in which one of several workers waits for its own input inside a compiled step as input.

    ``next(iterator)`` in a ``tf.function`` is part of the compiled function, like the exchange with other ranks, and
    neither uses the CPU. But the pipeline's own pace is known: if it needs most of a step for a batch, it sets the pace
    of this rank. The account stays as it is if a trace measured the wait, or nothing did.
    """
    account, pace = evidence.account, evidence.offer(InputPace)
    traced = evidence.offer(StepBreakdown) is not None or evidence.offer(GraphWaits) is not None
    if account is None or pace is None or traced:
        return account
    clean = evidence.steps.clean
    turn_ms = account.mean_ms + account.between_total_ms
    if any(step.input_ns for step in clean) or pace.ms_per_step < calibration.OWN_PACE.value * turn_ms:
        return account  # Python fetches: its waiting was timed; or the pipeline is quick enough
    found = sampled(evidence)
    if found is None:
        return account
    unused = account.parts_ms.get(GRAPH, 0.0) * (1 - found.compute_share)
    waits = min(unused, pace.ms_per_step - (turn_ms - unused))
    if waits <= 0:
        return account
    parts = dict(account.parts_ms)
    parts[GRAPH] -= waits
    parts[INPUT] = parts.get(INPUT, 0.0) + waits
    return msgspec.structs.replace(account, parts_ms=parts, input_in_graph_ms=waits)


#: A window's phase is written as it begins: these are our work, until the next one begins.
_WORKING = ("opening", "closing")


def waits_for_us(run: RunDirectory, steps: StepTable) -> Spans:
    """Return when the script waited for tfperf: see ``pauses``, and while its traces were described."""
    return Spans([*pauses(run.records(f"session/{PHASES}.jsonl"), steps), *described_spans(run)])


def pauses(phases: Iterable[Any], steps: StepTable) -> Spans:
    """When the script waited for tfperf: while windows were opened and closed, and between two steps.

    ``phases``: rows of ``session/phases.jsonl``, ``[probe, phase, ns]``. A fourth item means that a thread of tfperf's
    did the work, so the script did not wait.
    """
    found: list[Span] = list(steps.pauses)
    begun: dict[str, int] = {}
    for row in phases:
        if not isinstance(row, list) or len(row) != 3 or not isinstance(row[2], int):
            continue
        probe, phase, when = str(row[0]), row[1], row[2]
        since = begun.pop(probe, None)
        if since is not None and when > since:
            found.append((since, when))
        if phase in _WORKING:
            begun[probe] = when
    return Spans(found)
