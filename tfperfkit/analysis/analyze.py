"""From a run directory to a report. Reads files only; needs no TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit import registry
from tfperfkit.analysis import summary, window_deaths
from tfperfkit.analysis.family.whole import children
from tfperfkit.analysis.gather import gather, lost_samples, waits_for_us
from tfperfkit.analysis.history import history
from tfperfkit.analysis.overhead import overhead
from tfperfkit.analysis.pictures import album
from tfperfkit.analysis.probe_results import probe_result
from tfperfkit.analysis.run_account import children_note
from tfperfkit.analysis.run_status import ending_notes, read_exit, run_info
from tfperfkit.analysis.step_summary import of_work, summarize
from tfperfkit.analysis.step_table import described_spans
from tfperfkit.analysis.stored_run import Facts, StoredCapture, agent_facts, beginning
from tfperfkit.analysis.work.views import views
from tfperfkit.diagnosis.call_sites import list_calls, list_thread_calls
from tfperfkit.diagnosis.every_work import findings as find
from tfperfkit.diagnosis.headline import conclude, conclude_without_probes, conclude_without_silenced
from tfperfkit.diagnosis.headroom import split
from tfperfkit.diagnosis.other_training import notes as other_training_notes
from tfperfkit.diagnosis.proven import proven
from tfperfkit.diagnosis.ranking import rank
from tfperfkit.diagnosis.silencing import Silencer
from tfperfkit.diagnosis.ties import mark_ties
from tfperfkit.diagnosis.together import add_gains_after
from tfperfkit.errors import RunDirectoryError
from tfperfkit.model import (
    REPORT_SCHEMA,
    CallTime,
    Finding,
    Measured,
    ProbeOutcome,
    Report,
    RunInfo,
    TrialReport,
)
from tfperfkit.offers import GraphWaits, StepBreakdown
from tfperfkit.records.children import Children
from tfperfkit.records.conclusion import (
    FAILED_EARLY,
    LARGEST_ENDS,
    LARGEST_START_UP,
    NO_CAUSE,
    START_UP,
    Conclusion,
)
from tfperfkit.records.events import of_kind
from tfperfkit.records.silencing import Silencing
from tfperfkit.records.trials import PROOF
from tfperfkit.report.silenced import say_silenced
from tfperfkit.rule import Evidence, Offer, Offers
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory

#: More than any run has: each is looked at once for each of the other, and the files may have been damaged.
_MAX_PROBES = 200


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
    silencing: Silencing | None = None,
) -> tuple[Report, Evidence]:
    """Return the report of a run directory and the evidence that it was made from; raises RunDirectoryError when it is
    none that we can read.

    ``options`` (by probe) are added to those that the run was made with. ``shown`` (or ``show_all``) takes the place
    of the run's own choice of the probes that the console shows in full. ``ended``: see ``run_info``.
    ``pictures``: with what can be drawn (``Report.album``). ``silencing`` takes the place of the run's own.
    """
    with _one_reading():
        return _study(path, options, shown, show_all=show_all, ended=ended, pictures=pictures, silencing=silencing)


def _one_reading() -> AbstractContextManager[None]:
    """Decode a trace once for all probes. If nothing can be decoded (no protobuf), there is no trace to share."""
    try:
        from tfperfkit.xplane import sharing
    except ImportError:
        return nullcontext()
    return sharing()


def _study(
    path: Path,
    options: Mapping[str, Mapping[str, Any]] | None,
    shown: tuple[str, ...] | None,
    *,
    show_all: bool,
    ended: Exit | None,
    pictures: bool,
    silencing: Silencing | None,
) -> tuple[Report, Evidence]:
    run, manifest = RunDirectory.open(path)
    if manifest.child is not None and not manifest.child.trains:
        whole = path.absolute().parents[1]
        raise RunDirectoryError(f"{path} is the part of a child that trains nothing: it is in the report of {whole}")
    if options:
        merged = {name: {**manifest.options.get(name, {}), **given} for name, given in options.items()}
        manifest = msgspec.structs.replace(manifest, options={**manifest.options, **merged})
    facts = Facts(run, manifest)
    agent = agent_facts(run, facts.events)
    ended = ended or read_exit(run)
    info = run_info(run, manifest, agent, facts.events, ended)
    outcomes: list[ProbeOutcome] = []
    findings: list[Finding] = []
    offers: list[Offer] = []
    installed = registry.available() if manifest.probes else {}
    for name in list(dict.fromkeys(manifest.probes))[:_MAX_PROBES]:
        result = probe_result(run, name, manifest, info, facts, installed, bool(agent))
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
    family = children(run, manifest, facts.steps, info.status not in ("running", "unknown"), analyze)
    if family is not None:
        offers.append(Offer("children", Children, family))
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
        history=history(run, manifest, facts.events, facts.steps.dropped, headline_of),
    )
    wall_ns = round(info.wall_s * 1e9) or sum(end - begin for begin, end in evidence.log.whole)
    gap = bool(facts.steps.gaps)  # then what work took of the run is not known
    ours = waits_for_us(run, facts.steps)
    looked = bool(manifest.probes and agent)
    work: list[Evidence] = []
    if looked and not gap:
        work = views(evidence, facts.events, facts.sources, wall_ns, ours, described_spans(run))
    ranked, troubles = find(evidence, work, findings, wall_ns / 1e9) if looked else (rank(findings), [])
    if looked:
        ranked = proven(ranked, _measured(run))
    found, headroom = split(ranked)
    silencer = Silencer(silencing or manifest.silencing, facts.sources)
    found, headroom = silencer.mark(found), silencer.mark(headroom)
    silenced = tuple(item for item in (*found, *headroom) if item.silenced)
    ranked = mark_ties(add_gains_after([item for item in found if not item.silenced]))
    headroom = tuple(item for item in headroom if not item.silenced)
    steps = summarize(facts.steps, evidence)

    def captured(name: str) -> tuple[object, StoredCapture]:
        probe = registry.load(name, dict(installed))
        return probe, StoredCapture(run, name, manifest, info, facts, probe)

    cost = overhead(run.records("session/cost.jsonl"), facts.steps, facts.windows, agent.get("by_python", ""))
    if not agent:
        steps = msgspec.structs.replace(steps, note="")  # without TensorFlow there is nothing to name a step of
    conclusion = _conclude(
        info,
        found,
        headroom,
        evidence,
        work,
        looked=bool(manifest.probes) or not agent,
        with_others=manifest.rank is not None and (manifest.rank.size or 1) > 1,
    )
    calls = list_calls(evidence, found)
    report = Report(
        schema=REPORT_SCHEMA,
        run=info,
        probes=tuple(outcomes),
        steps=steps,
        findings=ranked,
        overhead=cost,
        windows=tuple(facts.windows.values()),
        headroom=headroom,
        headline=conclusion.headline if conclusion is not None else "",
        conclusion=conclusion,
        silenced=silenced,
        notes=(
            *filter(None, [] if manifest.children else [children_note(evidence.run_account, info.machine)]),
            *other_training_notes(evidence),
            *_notes(facts, agent, info, run, ended, family),
            *troubles,
            *filter(None, [say_silenced(silenced)]),
            *silencer.warnings(),
        ),
        work=tuple(of_work(item) for item in work),
        shown=None if show_all else shown if shown is not None else _shown_probes(manifest),
        run_account=evidence.run_account,
        calls=calls,
        thread_calls=list_thread_calls(evidence, found),
        source=_source_lines(facts, (*ranked, *headroom), calls),
        children=family,
        history=evidence.history,
        words=_window_words(evidence),
        album=album(evidence, outcomes, ranked, captured, beginning(agent, manifest.started_ns)) if pictures else None,
    )
    return report, evidence


def _window_words(evidence: Evidence) -> dict[str, str]:
    """Return what the report calls the windows that accounts come from."""
    waits, breakdown = evidence.offer(GraphWaits), evidence.offer(StepBreakdown)
    found = {evidence.offered_by(type(offered)): offered.words for offered in (waits, breakdown) if offered is not None}
    return {name: words for name, words in found.items() if words}


def headline_of(folder: Path) -> str:
    """Return the headline of a window's run; made once, if its folder can be written."""
    known = summary.read(folder)
    if known is not None:
        return known.headline
    try:
        report = analyze(folder)
    except RunDirectoryError as error:
        return str(error)
    summary.write(folder, report)
    return report.headline


def _measured(run: RunDirectory) -> tuple[Measured, ...]:
    """Return the measurements that ``tfperf try`` has left in the run directory."""
    try:
        return msgspec.convert(run.read_json(PROOF), TrialReport).measured
    except msgspec.ValidationError:  # none, or damaged
        return ()


def _shown_probes(manifest: Manifest) -> tuple[str, ...] | None:
    """Return the probes whose tables the run asked to show in full; None for the default."""
    return tuple(manifest.shown) if manifest.shown is not None else None


def _source_lines(facts: Facts, findings: Sequence[Finding], calls: Sequence[CallTime]) -> dict[str, str]:
    """Return the lines of code at the places of findings and calls, by ``file:line``."""
    places = [span for finding in findings for span in finding.where] + [call.where for call in calls]
    found = {}
    for span in places:
        lines = facts.sources.get(span.file, ())
        if 0 < span.line <= len(lines) and (code := lines[span.line - 1].strip()):
            found[f"{span.file}:{span.line}"] = code
    return found


def _conclude(
    info: RunInfo,
    ranked: Sequence[Finding],
    headroom: Sequence[Finding],
    evidence: Evidence,
    work: Sequence[Evidence],
    *,
    looked: bool,
    with_others: bool,
) -> Conclusion | None:
    """Return what the report concludes; None if nothing was seen that takes time."""
    if info.window_death is not None:
        return window_deaths.conclude(info.window_death)
    if not looked:
        return conclude_without_probes()
    reported = [item for item in ranked if not item.silenced]
    said = conclude_without_silenced(ranked) or conclude(reported, evidence, work, headroom, with_others=with_others)
    early = info.status == "failed" and not evidence.steps.count and all(map(_only_traced, work))
    if early and said is not None and said.verdict in (NO_CAUSE, START_UP, LARGEST_START_UP, LARGEST_ENDS):
        return Conclusion(
            verdict=FAILED_EARLY, why="it ended before its first training step, so there is nothing to profile"
        )
    return said


def _only_traced(evidence: Evidence) -> bool:
    """Return whether a work is one call that came no further than to trace its functions."""
    parts = evidence.account.parts_ms if evidence.account is not None else {}
    is_call = evidence.work is not None and evidence.work.kind == "call"
    return is_call and max(parts, key=lambda part: parts[part], default="") == "tracing"


def _notes(
    facts: Facts, agent: dict[str, Any], info: RunInfo, run: RunDirectory, ended: Exit | None, family: Children | None
) -> tuple[str, ...]:
    notes = []
    if not agent:
        only = ": only its children were recorded." if family else ", so nothing was recorded."
        notes.append(f"The script never imported TensorFlow{only}")
    notes += [str(e.get("text")) for e in of_kind(facts.events, "note") if "probe" not in e]
    lost = list(of_kind(facts.events, "lost"))
    notes += [f"{event.get('file')} is incomplete: {event.get('reason')}" for event in lost]
    if lost_samples(facts.events):
        notes.append("Stack samples were lost: what a step spends its time on is not known, nor what follows from it.")
    notes += [f"{name} is larger than what tfperf reads: only its first part was." for name in sorted(run.read_in_part)]
    notes += ending_notes(agent, facts.events, info, ended)
    return tuple(notes)
