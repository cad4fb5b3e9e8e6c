"""A probe's result as it may go into the report: its own failure, and what its recording lacks, is its status."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tfperfkit import registry
from tfperfkit.analysis.stored_run import Facts, StoredCapture
from tfperfkit.diagnosis.checking import is_proven, with_whole_numbers
from tfperfkit.errors import ProbeError, Unavailable
from tfperfkit.model import (
    ProbeResult,
    ProbeStatus,
    RunInfo,
)
from tfperfkit.probe import BackgroundProbe, Cost
from tfperfkit.records.events import Event, of_kind
from tfperfkit.records.plural import plural
from tfperfkit.rule import LIVE, Offer
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.storage.stream_writer import plain


def probe_result(
    run: RunDirectory,
    name: str,
    manifest: Manifest,
    info: RunInfo,
    facts: Facts,
    installed: Mapping[str, Any],
    armed: bool,
) -> ProbeResult:
    """Return a probe's result, with what went wrong while it recorded; its own failure becomes its status."""
    trouble = _trouble(facts.events, name)
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
        # Data that the probe kept in the background exist all the same.
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


def _trouble(events: Sequence[Event], name: str) -> list[Event]:
    """Return what went wrong with a probe; a postponement of its window is left out if the window opened in the end."""
    trouble: list[Event] = []
    again = False
    for event in of_kind(events, "window", "opened", "probe"):
        if event.get("probe") != name:
            continue
        if event["kind"] == "window":
            again = bool(event.get("again"))
        elif event["kind"] == "probe":
            trouble.append(event)
        elif not again:
            trouble.clear()
    return trouble


def _no_window(manifest: Manifest, name: str, facts: Facts) -> str:
    if name in manifest.left_out:
        return f"its window was {manifest.left_out[name]}"
    if manifest.windows.get(name) == "none":
        return f"--window {name}=none: it had no window"
    if manifest.watch is not None:
        return "watch mode: its windows, if any, have reports of their own (below)"
    count = facts.steps.count
    if not count:
        return "the run ended before its first step"
    return f"the run ended before its window came, after {plural(count, 'step')}"


def _failed_recording(name: str, facts: Facts) -> str | None:
    """Return the errors of a probe while the steps ran: the session could only note them."""
    for event in of_kind(facts.events, "note", "lost"):
        if event["kind"] == "note" and event.get("probe") == name and _has_stopped(event):
            return str(event.get("text"))
        if _is_lost(event, name) and _is_not_json(event):
            return f"while recording: {event.get('reason')}"
    return None


def _is_lost(event: Event, name: str) -> bool:
    return event["kind"] == "lost" and str(event.get("file")).startswith(f"probes/{name}/")


def _has_stopped(note: Event) -> bool:
    """Return whether a callback of the probe raised. Recordings of before November 2026 say so in words only."""
    return bool(note.get("stopped", str(note.get("text")).startswith("stopped following the steps")))


def _is_not_json(lost: Event) -> bool:
    """Return whether a record could not be encoded; the words as in ``_has_stopped``."""
    return bool(lost.get("not_json", str(lost.get("reason")).startswith("a record can't be written as JSON")))


def _checked(name: str, made: object) -> ProbeResult:
    """Return the result as it may go into the report: of the right types, its data as JSON, its offers as ``Offer``. A
    finding without evidence and an offer that is none are left out, and the reason says so. Raises ProbeError for what
    is no result."""
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


def offered(name: str, made: ProbeResult, data: Any) -> tuple[tuple[Offer, ...], list[str]]:
    """Check once what a probe offers to others, its ``data`` (as builtins) included: (offers, reasons for those left
    out). A record that is not of its declared type never reaches a rule."""
    offers: list[Offer] = []
    refused = []
    try:
        given = tuple(made.offers)
    except TypeError:
        given, refused = (), [f"what it offers is left out: {type(made.offers).__name__} is no tuple"]
    for each in given:
        kind = type(each)
        if isinstance(each, LIVE):
            offers.append(Offer(name, kind, each))
            continue
        try:
            if not isinstance(each, msgspec.Struct) and not dataclasses.is_dataclass(kind):
                raise TypeError("it is neither a msgspec Struct nor a dataclass")
            value = msgspec.to_builtins(each, str_keys=True, enc_hook=plain)
            msgspec.convert(value, kind, strict=False)
            offers.append(Offer(name, kind, value))
        except Exception as error:  # foreign records: whatever is wrong with them must not reach a rule
            refused.append(f"what it offers as {kind.__name__} is left out: {error}")
    if isinstance(data, dict) and data and type(made.data) is not dict:
        offers.append(Offer(name, type(made.data), data))
    return tuple(offers), refused
