"""From a run directory to a report. Reads files only; needs no TensorFlow."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit import registry
from tfperfkit.analysis.gather import gather, lost_samples
from tfperfkit.analysis.offered import offered
from tfperfkit.analysis.overhead import overhead
from tfperfkit.analysis.pictures import album
from tfperfkit.analysis.run_account import children_note
from tfperfkit.analysis.run_status import ending_notes, read_exit, run_info
from tfperfkit.analysis.step_hint import step_hint
from tfperfkit.analysis.step_table import Weighted, read_steps, read_windows
from tfperfkit.analysis.window_deaths import sentence
from tfperfkit.analysis.work.views import views
from tfperfkit.clock import ms
from tfperfkit.diagnosis.checking import is_proven, with_whole_numbers
from tfperfkit.diagnosis.every_work import findings as find
from tfperfkit.diagnosis.headline import headline, not_looked_for
from tfperfkit.diagnosis.headroom import split
from tfperfkit.diagnosis.proven import proven
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.errors import ProbeError, Unavailable
from tfperfkit.model import (
    REPORT_SCHEMA,
    Finding,
    Measured,
    ProbeOutcome,
    ProbeResult,
    ProbeStatus,
    Report,
    RunInfo,
    StepSummary,
    TrialReport,
    WindowSummary,
    Work,
)
from tfperfkit.offers import StepBreakdown
from tfperfkit.option import effective
from tfperfkit.probe import BackgroundProbe, Cost
from tfperfkit.records.events import Event, of_kind
from tfperfkit.records.parts import TRACED
from tfperfkit.records.steps import StepTable
from tfperfkit.records.trials import PROOF
from tfperfkit.rule import Evidence, Offer, Offers
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory
from tfperfkit.storage.stream_writer import plain

#: More than any run has: each is looked at once for each of the other, and the files may have been damaged.
_MAX_PROBES, _MAX_EVENTS = 200, 20_000


class StoredCapture:
    """See ``tfperfkit.probe.Capture`` for the contract of each member."""

    def __init__(
        self, run: RunDirectory, name: str, manifest: Manifest, info: RunInfo, facts: _Facts, probe: object
    ) -> None:
        self._run = run
        self._name = name
        self._facts = facts
        self.options: Mapping[str, Any] = effective(probe, manifest.options.get(name, {}))
        self.gpu_required = manifest.require_gpu
        self.run = info
        self.steps = facts.steps
        self.directory = run.probe(name)
        self.trace_dir = run.trace
        self.window: WindowSummary | None = facts.windows.get(name)
        self.notes: tuple[str, ...] = tuple(
            event["text"] for event in of_kind(facts.events, "note") if event.get("probe") == name
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
        self.events: list[dict[str, Any]] = list(itertools.islice(rows, _MAX_EVENTS))
        self.events += list(of_kind(rows, "end"))[:1]
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

    def capture(self, name: str, probe: object) -> StoredCapture:
        """What ``probe``, which is called so, is given."""
        info = run_info(self.directory, self.manifest, self.agent, self.events)
        return StoredCapture(self.directory, name, self.manifest, info, self._facts, probe)


def analyze(
    path: Path,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    shown: tuple[str, ...] | None = None,
    *,
    show_all: bool = False,
    ended: Exit | None = None,
    pictures: bool = False,
) -> Report:
    """Make the report of a run directory, see ``study``; raises RunDirectoryError when it is none that we can read."""
    return study(path, options, shown, show_all=show_all, ended=ended, pictures=pictures)[0]


def study(
    path: Path,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    shown: tuple[str, ...] | None = None,
    *,
    show_all: bool = False,
    ended: Exit | None = None,
    pictures: bool = False,
) -> tuple[Report, Evidence]:
    """The report of a run directory and the evidence that it was made from; raises RunDirectoryError when it is none
    that we can read.

    ``options`` (by probe) are added to those that the run was made with. ``shown`` (or ``show_all``) takes the place
    of the run's own choice of the probes that the console shows in full. ``ended``: see ``run_info``.
    ``pictures``: with what can be drawn (``Report.album``).
    """
    run, manifest = RunDirectory.open(path)
    if options:
        merged = {name: {**manifest.options.get(name, {}), **given} for name, given in options.items()}
        manifest = msgspec.structs.replace(manifest, options={**manifest.options, **merged})
    facts = _Facts(run, manifest)
    agent = _agent(run, facts.events)
    ended = ended or read_exit(run)
    info = run_info(run, manifest, agent, facts.events, ended)
    outcomes: list[ProbeOutcome] = []
    findings: list[Finding] = []
    offers: list[Offer] = []
    installed = registry.available() if manifest.probes else {}
    for name in list(dict.fromkeys(manifest.probes))[:_MAX_PROBES]:
        result = _analyze_probe(run, name, manifest, info, facts, installed, bool(agent))
        outcomes.append(
            ProbeOutcome(
                name=name,
                status=result.status,
                reason=result.reason,
                data=result.data,
                tables=result.tables,
                summary=result.summary,
                notes=result.notes,
            )
        )
        findings += result.findings
        offers += result.offers
    evidence = gather(
        run,
        info,
        agent,
        manifest.started_ns,
        facts.steps,
        facts.events,
        facts.sources,
        outcomes,
        Offers(offers),
    )
    breakdown = evidence.offer(StepBreakdown)
    wall_ns = round(info.wall_s * 1e9) or sum(end - begin for begin, end in evidence.log.whole)
    work = views(evidence, facts.events, facts.sources, wall_ns) if manifest.probes and agent else []
    looked = bool(manifest.probes and agent)
    ranked, troubles = find(evidence, work, findings, wall_ns / 1e9) if looked else (rank(findings), [])
    if looked:
        ranked = proven(ranked, _measured(run))
    ranked, headroom = split(ranked)
    steps = _summarize(facts.steps, evidence)

    def captured(name: str) -> tuple[object, StoredCapture]:
        probe = registry.load(name, dict(installed))
        return probe, StoredCapture(run, name, manifest, info, facts, probe)

    cost = overhead(run.records("session/cost.jsonl"), facts.steps, facts.windows)
    if not agent:
        steps = msgspec.structs.replace(steps, note="")  # without TensorFlow there is nothing to name a step of
    report = Report(
        schema=REPORT_SCHEMA,
        run=info,
        probes=tuple(outcomes),
        steps=steps,
        findings=ranked,
        overhead=cost,
        windows=tuple(facts.windows.values()),
        headroom=headroom,
        headline=_headline(info, ranked, headroom, evidence, work, looked=bool(manifest.probes) or not agent),
        notes=(
            *filter(None, [children_note(evidence.run_account)]),
            *_notes(facts, agent, info, run, ended),
            *troubles,
        ),
        work=tuple(_of_work(item) for item in work),
        shown=None if show_all else shown if shown is not None else _shown(manifest),
        run_account=evidence.run_account,
        words={evidence.offered_by(StepBreakdown): breakdown.words} if breakdown and breakdown.words else {},
        album=album(evidence, outcomes, ranked, captured) if pictures else None,
    )
    return report, evidence


def _measured(run: RunDirectory) -> tuple[Measured, ...]:
    """What ``tfperf prove`` has left beside the run."""
    try:
        return msgspec.convert(run.read_json(PROOF), TrialReport).measured
    except msgspec.ValidationError:  # none, or damaged
        return ()


def _shown(manifest: Manifest) -> tuple[str, ...] | None:
    return tuple(manifest.shown) if manifest.shown is not None else None


def open_run(path: Path) -> StoredRun:
    """A run for whoever needs more than its report; raises RunDirectoryError."""
    run, manifest = RunDirectory.open(path)
    return StoredRun(run, manifest)


def _analyze_probe(
    run: RunDirectory,
    name: str,
    manifest: Manifest,
    info: RunInfo,
    facts: _Facts,
    installed: Mapping[str, Any],
    armed: bool,
) -> ProbeResult:
    """A probe's result, with what went wrong while it recorded; its own failure becomes its status."""
    trouble = [e for e in of_kind(facts.events, "probe") if e.get("probe") == name]
    failure = next((str(e.get("reason")) for e in trouble if e.get("status") == "failed"), None)
    failure = failure or _failed_recording(name, facts)
    if failure is not None:
        return ProbeResult(status="failed", reason=failure)
    if not armed:
        return ProbeResult(status="skipped", reason="TensorFlow was not imported")
    window = facts.windows.get(name)
    try:
        probe = registry.load(name, dict(installed))
        capture = StoredCapture(run, name, manifest, info, facts, probe)
        result = _checked(name, probe.analyze(capture))
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
        reason = _no_window(manifest, name, facts)
        return msgspec.structs.replace(result, status=status, reason=reason)
    if window is not None and window.status == "cut":
        return msgspec.structs.replace(result, status="cut", reason=window.reason)
    lost = [e for e in of_kind(facts.events, "lost") if _is_lost(e, name)]
    if lost:
        reasons = [f"{e['file']} is incomplete: {e.get('reason')}" for e in lost]
        return msgspec.structs.replace(result, status="cut", reason="; ".join(reasons))
    return result


def _no_window(manifest: Manifest, name: str, facts: _Facts) -> str:
    if name in manifest.left_out:
        return f"its window was {manifest.left_out[name]}"
    if manifest.windows.get(name) == "none":
        return f"--window {name}=none: it had no window"
    return f"the run ended before its window came, after {facts.steps.count} steps"


def _failed_recording(name: str, facts: _Facts) -> str | None:
    """What a probe itself did wrong while the steps went by: the session could only note it."""
    for event in of_kind(facts.events, "note", "lost"):
        if event["kind"] == "note" and event.get("probe") == name and _has_stopped(event):
            return str(event.get("text"))
        if _is_lost(event, name) and _is_not_json(event):
            return f"while recording: {event.get('reason')}"
    return None


def _is_lost(event: Event, name: str) -> bool:
    return event["kind"] == "lost" and str(event.get("file")).startswith(f"probes/{name}/")


def _has_stopped(note: Event) -> bool:
    """Whether a callback of the probe raised. Recordings of before November 2026 say so in words only."""
    return bool(note.get("stopped", str(note.get("text")).startswith("stopped following the steps")))


def _is_not_json(lost: Event) -> bool:
    """Whether a record could not be encoded; the words as in ``_has_stopped``."""
    return bool(lost.get("not_json", str(lost.get("reason")).startswith("a record can't be written as JSON")))


def _checked(name: str, made: object) -> ProbeResult:
    """The result as it may go into the report: of the right types, its data as JSON, its offers as ``Offer``. A finding
    without evidence and an offer that is none are left out, and the reason says so. Raises ProbeError for what is no
    result."""
    if not isinstance(made, ProbeResult):
        raise ProbeError(f"analyze returned {type(made).__name__}, not ProbeResult")
    try:
        # Records don't check their fields when they are made; whatever is wrong must not reach the renderers.
        raw = msgspec.to_builtins(msgspec.structs.replace(made, offers=()), str_keys=True, enc_hook=plain)
        result = msgspec.convert(raw, ProbeResult)
        result = msgspec.structs.replace(result, findings=with_whole_numbers(result.findings, raw["findings"]))
    except Exception as error:
        raise ProbeError(f"analyze returned what is no proper result: {error}") from error
    broken = [f for f in result.findings if not is_proven(f)]
    reasons = [f"{f.code} is left out: it has no {'share of the step' if f.evidence else 'evidence'}" for f in broken]
    offers, refused = offered(name, made, raw["data"])
    reasons += refused
    result = msgspec.structs.replace(result, offers=offers)
    if not reasons:
        return result
    return msgspec.structs.replace(
        result,
        findings=tuple(f for f in result.findings if f not in broken),
        status="cut" if result.status == "ok" else result.status,
        reason="; ".join(filter(None, [result.reason, *reasons])),
    )


def _headline(
    info: RunInfo,
    found: Sequence[Finding],
    headroom: Sequence[Finding],
    evidence: Evidence,
    work: Sequence[Evidence],
    *,
    looked: bool,
) -> str:
    if info.window_death is not None:
        return sentence(info.window_death)
    return headline(found, evidence, work, headroom) if looked else not_looked_for()


def _of_work(evidence: Evidence) -> Work:
    """A work with the times and the account of its iterations."""
    made = evidence.work
    assert made is not None
    return msgspec.structs.replace(made, steps=_summarize(evidence.steps, evidence))


def _summarize(table: StepTable, evidence: Evidence) -> StepSummary:
    clean = table.clean
    note = table.note
    if not clean and table.count:
        note = note or "no step ran clean of invasive probes: the times are of all steps but the first two"
        clean = table.steps[2:] or table.steps
    durations = Weighted((step.duration_ns, step.count) for step in clean)
    if not durations.count:
        note = " ".join(filter(None, (note, step_hint(evidence)))) if evidence.work is None else note
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


def _breakdown(evidence: Evidence) -> tuple[dict[str, float] | None, str]:
    """The parts of the mean clean step, those that a trace tells and others that took time; without clean steps those
    of the traced step; and what told them."""
    made = evidence.account
    if made is not None and made.parts_ms:
        parts: dict[str, float] = {name: value for name, value in made.parts_ms.items() if value or name in TRACED}
        return parts, " and ".join(made.windows)
    if lost_samples(evidence.records("events")):
        return None, ""
    traced = evidence.offer(StepBreakdown)
    return (dict(traced.parts_ms), evidence.offered_by(StepBreakdown)) if traced and traced.parts_ms else (None, "")


def _agent(run: RunDirectory, events: list[dict[str, Any]]) -> dict[str, Any]:
    """What the script's process said when TensorFlow was there; empty when it never was."""
    told = next((event.get("facts") for event in of_kind(events, "agent")), None)
    for facts in (run.read_json("agent.json"), told):
        if isinstance(facts, dict):
            return facts
    return {}


def _notes(
    facts: _Facts, agent: dict[str, Any], info: RunInfo, run: RunDirectory, ended: Exit | None
) -> tuple[str, ...]:
    notes = []
    if not agent:
        notes.append("The script never imported TensorFlow, so nothing was recorded.")
    notes += [str(e.get("text")) for e in of_kind(facts.events, "note") if "probe" not in e]
    lost = list(of_kind(facts.events, "lost"))
    notes += [f"{event.get('file')} is incomplete: {event.get('reason')}" for event in lost]
    if lost_samples(facts.events):
        notes.append("Stack samples were lost: what a step spends its time on is not told, nor what follows from it.")
    notes += [f"{name} is larger than what tfperf reads: only its first part was." for name in sorted(run.read_in_part)]
    notes += ending_notes(agent, facts.events, info, ended)
    return tuple(notes)
