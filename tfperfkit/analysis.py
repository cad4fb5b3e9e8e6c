"""From a run directory to a report. Reads files only; needs no TensorFlow."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit import registry
from tfperfkit.clock import ms
from tfperfkit.diagnosis.gathering import gather, parts_of
from tfperfkit.diagnosis.headline import headline
from tfperfkit.diagnosis.merging import merge
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.rules import apply
from tfperfkit.ending import ending_notes, run_info
from tfperfkit.errors import ProbeError, Unavailable
from tfperfkit.evidence import Evidence
from tfperfkit.model import (
    REPORT_SCHEMA,
    Finding,
    ProbeOutcome,
    ProbeResult,
    ProbeStatus,
    Report,
    RunInfo,
    StepSummary,
    WindowSummary,
)
from tfperfkit.owncost import overhead
from tfperfkit.probe import BackgroundProbe, Cost
from tfperfkit.stephint import step_hint
from tfperfkit.steps import StepTable
from tfperfkit.steptable import Weighted, read_steps, read_windows
from tfperfkit.store import Exit, Manifest, RunDirectory
from tfperfkit.writer import NOT_JSON, plain

#: How the note begins that a probe gets when its ``on_step`` callback raised.
STOPPED = "stopped following the steps"
#: More than any run has: each is looked at once for each of the other, and the files may have been damaged.
_MOST_PROBES, _MOST_EVENTS = 200, 20_000


class StoredCapture:
    """See ``tfperfkit.probe.Capture`` for the contract of each member."""

    def __init__(self, run: RunDirectory, name: str, manifest: Manifest, info: RunInfo, facts: _Facts) -> None:
        self._run = run
        self._name = name
        self._facts = facts
        self.options: Mapping[str, Any] = manifest.options.get(name, {})
        self.run = info
        self.steps = facts.steps
        self.directory = run.probe(name)
        self.trace_dir = run.trace
        self.window: WindowSummary | None = facts.windows.get(name)
        self.notes: tuple[str, ...] = tuple(
            event["text"] for event in facts.events if event.get("kind") == "note" and event.get("probe") == name
        )

    def records(self, stream: str) -> Iterator[Any]:
        return self._run.records(f"probes/{self._name}/{Path(stream).name}.jsonl")

    def session_records(self, stream: str) -> Iterator[Any]:
        return self._run.records(f"session/{Path(stream).name}.jsonl")

    def source(self, filename: str) -> tuple[str, ...]:
        return self._facts.sources.get(filename, ())


class _Facts:
    """What the session wrote, read once for all probes."""

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        rows = (row for row in run.records("session/events.jsonl") if isinstance(row, dict) and "kind" in row)
        self.events: list[dict[str, Any]] = list(itertools.islice(rows, _MOST_EVENTS))
        self.events += [event for event in rows if event["kind"] == "end"][:1]
        self.windows = read_windows(self.events)
        self.steps: StepTable = read_steps(run, self.events, manifest.steps_from)
        self.sources: dict[str, tuple[str, ...]] = {}
        for row in run.records("sources.jsonl"):
            if isinstance(row, list) and len(row) == 2 and isinstance(row[1], list):
                self.sources[str(row[0])] = tuple(str(line) for line in row[1])


class StoredRun:
    """A run directory with its steps and windows."""

    def __init__(self, run: RunDirectory, manifest: Manifest) -> None:
        self.directory = run
        self.manifest = manifest
        self._facts = _Facts(run, manifest)
        self.steps = self._facts.steps
        self.events = self._facts.events
        self.agent = _agent(run, self.events)

    def capture(self, name: str) -> StoredCapture:
        info = run_info(self.directory, self.manifest, self.agent, self.events)
        return StoredCapture(self.directory, name, self.manifest, info, self._facts)


def analyze(
    path: Path, options: Mapping[str, Mapping[str, Any]] | None = None, shown: tuple[str, ...] | None = None,
    *, show_all: bool = False, ended: Exit | None = None,
) -> Report:
    """Make the report of a run directory; raises RunDirectoryError when it is not one that we can read.

    ``options`` (by probe) are added to those that the run was made with. ``shown`` (or ``show_all``) takes the place
    of the run's own choice of the probes that the console shows in full. ``ended``: see ``run_info``.
    """
    run, manifest = RunDirectory.open(path)
    if options:
        merged = {name: {**manifest.options.get(name, {}), **given} for name, given in options.items()}
        manifest = msgspec.structs.replace(manifest, options={**manifest.options, **merged})
    facts = _Facts(run, manifest)
    agent = _agent(run, facts.events)
    info = run_info(run, manifest, agent, facts.events, ended)
    outcomes: list[ProbeOutcome] = []
    findings: list[Finding] = []
    installed = registry.available() if manifest.probes else {}
    for name in list(dict.fromkeys(manifest.probes))[:_MOST_PROBES]:
        result = _analyze_probe(run, name, manifest, info, facts, installed, bool(agent))
        outcomes.append(
            ProbeOutcome(
                name=name, status=result.status, reason=result.reason, data=result.data,
                tables=result.tables, summary=result.summary, notes=result.notes,
            )
        )
        findings += result.findings
    evidence = gather(
        run, info, agent, manifest.started_ns, facts.steps, facts.events, facts.sources, outcomes
    )
    given, troubles = apply(evidence) if manifest.probes and agent else ([], [])
    ranked = rank(merge([*findings, *given]))
    steps = _summarize(facts.steps, evidence)
    cost = overhead(run.records("session/cost.jsonl"), facts.steps, facts.windows)
    if not agent:
        steps = msgspec.structs.replace(steps, note="")  # without TensorFlow there is nothing to name a step of
    return Report(
        schema=REPORT_SCHEMA, run=info, probes=tuple(outcomes), steps=steps, findings=ranked,
        overhead=cost, windows=tuple(facts.windows.values()),
        headline=headline(ranked, evidence), notes=(*_notes(facts, agent, info, run), *troubles),
        shown=None if show_all else shown if shown is not None else _shown(manifest),
    )


def _shown(manifest: Manifest) -> tuple[str, ...] | None:
    return tuple(manifest.shown) if manifest.shown is not None else None


def open_run(path: Path) -> StoredRun:
    """A run for whoever needs more than its report; raises RunDirectoryError."""
    run, manifest = RunDirectory.open(path)
    return StoredRun(run, manifest)


def _analyze_probe(
    run: RunDirectory, name: str, manifest: Manifest, info: RunInfo, facts: _Facts,
    installed: Mapping[str, Any], armed: bool,
) -> ProbeResult:
    """A probe's result, with what went wrong while it recorded; its own failure becomes its status."""
    trouble = [e for e in facts.events if e.get("kind") == "probe" and e.get("probe") == name]
    failure = next((str(e.get("reason")) for e in trouble if e.get("status") == "failed"), None)
    failure = failure or _failed_recording(name, facts)
    if failure is not None:
        return ProbeResult(status="failed", reason=failure)
    if not armed:
        return ProbeResult(status="skipped", reason="TensorFlow was not imported")
    window = facts.windows.get(name)
    try:
        probe = registry.load(name, dict(installed))
        capture = StoredCapture(run, name, manifest, info, facts)
        result = _checked(probe.analyze(capture))
    except Unavailable as unavailable:
        return ProbeResult(status="skipped", reason=str(trouble[-1].get("reason") if trouble else unavailable))
    except ProbeError as error:
        return ProbeResult(status="failed", reason=str(error))
    except (Exception, SystemExit) as error:
        return ProbeResult(status="failed", reason=f"while analysing: {type(error).__name__}: {error}")
    if trouble:  # it could not be armed: the reason for that comes before what is said of records that are not there
        return msgspec.structs.replace(result, status="skipped", reason=str(trouble[-1].get("reason")))
    if result.status != "ok" and not (window is None and probe.cost is Cost.WINDOW):
        return result
    if window is None and probe.cost is Cost.WINDOW:
        # What it kept in the background is there all the same.
        status: ProbeStatus = "cut" if isinstance(probe, BackgroundProbe) else "skipped"
        reason = f"the run ended before its window came, after {facts.steps.count} steps"
        return msgspec.structs.replace(result, status=status, reason=reason)
    if window is not None and window.status == "cut":
        return msgspec.structs.replace(result, status="cut", reason=window.reason)
    lost = [e for e in facts.events if _is_lost(e, name)]
    if lost:
        reasons = [f"{e['file']} is incomplete: {e.get('reason')}" for e in lost]
        return msgspec.structs.replace(result, status="cut", reason="; ".join(reasons))
    return result


def _failed_recording(name: str, facts: _Facts) -> str | None:
    """What a probe itself did wrong while the steps went by: the session could only note it."""
    for event in facts.events:
        text = str(event.get("text"))
        if event.get("kind") == "note" and event.get("probe") == name and text.startswith(STOPPED):
            return text
        if _is_lost(event, name) and str(event.get("reason")).startswith(NOT_JSON):
            return f"while recording: {event.get('reason')}"
    return None


def _is_lost(event: dict[str, Any], name: str) -> bool:
    return event.get("kind") == "lost" and str(event.get("file")).startswith(f"probes/{name}/")


def _checked(made: object) -> ProbeResult:
    """The result as it may go into the report: of the right types, its data as JSON. A finding without evidence is
    left out, and the reason says so. Raises ProbeError for what is no result."""
    if not isinstance(made, ProbeResult):
        raise ProbeError(f"analyze returned {type(made).__name__}, not ProbeResult")
    try:
        # Records don't check their fields when they are made; whatever is wrong must not reach the renderers.
        raw = msgspec.to_builtins(made, str_keys=True, enc_hook=plain)
        result = _with_whole_numbers(msgspec.convert(raw, ProbeResult), raw)
    except Exception as error:
        raise ProbeError(f"analyze returned what is no proper result: {error}") from error
    broken = [f for f in result.findings if not f.evidence or not math.isfinite(f.share_of_step)]
    if not broken:
        return result
    reasons = [f"{f.code} is left out: it has no {'share of the step' if f.evidence else 'evidence'}" for f in broken]
    return msgspec.structs.replace(
        result, findings=tuple(f for f in result.findings if f not in broken),
        status="cut" if result.status == "ok" else result.status,
        reason="; ".join(filter(None, [result.reason, *reasons])),
    )


def _with_whole_numbers(result: ProbeResult, raw: dict[str, Any]) -> ProbeResult:
    """Counts as they were given: conversion made floats of them, and 7 retraces are not 7.0."""
    findings = []
    for finding, given in zip(result.findings, raw["findings"], strict=True):
        pairs = zip(finding.evidence, given["evidence"], strict=True)
        evidence = tuple(msgspec.structs.replace(item, value=pair["value"]) for item, pair in pairs)
        findings.append(msgspec.structs.replace(finding, evidence=evidence))
    return msgspec.structs.replace(result, findings=tuple(findings))


def _summarize(table: StepTable, evidence: Evidence) -> StepSummary:
    clean = table.clean
    note = table.note
    if not clean and table.count:
        note = note or "no step ran clean of invasive probes: the times are of all steps but the first two"
        clean = table.steps[2:] or table.steps
    durations = Weighted((step.duration_ns, step.count) for step in clean)
    if not durations.count:
        note = " ".join(filter(None, (note, step_hint(evidence))))
        return StepSummary(count=table.count, source=table.source, definition=table.definition, note=note)
    parts, window = _breakdown(evidence)
    median = durations.median
    between_ms = evidence.account.between_total_ms if evidence.account is not None else 0.0
    turn_s = median / 1e9 + between_ms / 1e3
    return StepSummary(
        count=table.count,
        source=table.source,
        warmup=sum(step.count for step in table.in_window("warmup")),
        clean=durations.count if table.clean else 0,
        median_ms=ms(median),
        mean_ms=ms(durations.mean),
        p90_ms=ms(durations.at(0.9)),
        examples_per_s=table.batch_size / turn_s if table.batch_size and turn_s else None,
        batch_size=table.batch_size or None,
        breakdown_ms=parts,
        breakdown_window=window,
        definition=table.definition,
        note=note,
        account=evidence.account,
        warm_up=evidence.warm_up,
    )


#: Parts that the JSON always has; the others only where they took time.
_ALWAYS = ("input", "python", "eager_ops", "graph", "tracing", "other")


def _breakdown(evidence: Evidence) -> tuple[dict[str, float] | None, str]:
    """The parts of the mean clean step; without clean steps those of the traced step; and what told them."""
    made = evidence.account
    if made is not None and made.parts_ms:
        parts = {name: value for name, value in made.parts_ms.items() if value or name in _ALWAYS}
        return parts, " and ".join(made.windows)
    traced = parts_of(evidence.raw)
    return (dict(traced), "tfprof") if traced else (None, "")


def _agent(run: RunDirectory, events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the script's process said when TensorFlow was there; empty when it never was."""
    told = next((event.get("facts") for event in events if event.get("kind") == "agent"), None)
    for facts in (run.read_json("agent.json"), told):
        if isinstance(facts, dict):
            return facts
    return {}


def _notes(facts: _Facts, agent: dict[str, Any], info: RunInfo, run: RunDirectory) -> tuple[str, ...]:
    notes = []
    if not agent:
        notes.append("The script never imported TensorFlow, so nothing was recorded.")
    notes += [str(e.get("text")) for e in facts.events if e.get("kind") == "note" and "probe" not in e]
    lost = [e for e in facts.events if e.get("kind") == "lost"]
    notes += [f"{event.get('file')} is incomplete: {event.get('reason')}" for event in lost]
    notes += [f"{name} is larger than what tfperf reads: only its first part was." for name in sorted(run.read_in_part)]
    notes += ending_notes(agent, facts.events, info)
    return tuple(notes)


