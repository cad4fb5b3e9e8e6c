"""Asks the installed rules. First-party rules are installed the same way as anyone's.

An entry point of the group ``tfperfkit.rules`` names a sequence of rules (``tfperfkit.rule.Rule`` or ``LastRule``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from importlib.metadata import EntryPoint
from typing import Any

import msgspec

from tfperfkit.diagnosis.checking import is_proven, with_whole_numbers
from tfperfkit.diagnosis.severity import find_saved, set_severity
from tfperfkit.model import Finding, RunInfo
from tfperfkit.records.samples import SampleLog, Samples
from tfperfkit.records.spans import Spans
from tfperfkit.records.steps import StepTable
from tfperfkit.registry import installed
from tfperfkit.rule import Evidence, LastRule, Offer, Offers

GROUP = "tfperfkit.rules"


def available() -> tuple[EntryPoint, ...]:
    """Return all installed sets of rules, by name."""
    return tuple(sorted(installed(GROUP), key=lambda point: point.name))


def apply(evidence: Evidence, points: Iterable[EntryPoint] | None = None) -> tuple[list[Finding], list[str]]:
    """Return what the ordinary rules find, and a sentence for each rule or set of rules that failed."""
    troubles: list[str] = []
    found = [
        finding
        for name, rule in _load_rules(points, troubles)
        if not isinstance(rule, LastRule)
        for finding in _ask_rule(name, rule, troubles, evidence)
    ]
    return found, troubles


def apply_last(
    evidence: Evidence, findings: Sequence[Finding], points: Iterable[EntryPoint] | None = None
) -> tuple[list[Finding], list[str]]:
    """Return what the last rules find after these findings, and a sentence for each of these rules that failed."""
    troubles: list[str] = []
    found = [
        finding
        for name, rule in _load_rules(points, [])  # ``apply`` has reported the sets that can't be loaded
        if isinstance(rule, LastRule)
        for finding in _ask_rule(name, rule, troubles, evidence, tuple(findings))
    ]
    return found, troubles


def ask_about(*records: Any) -> tuple[list[Finding], list[str]]:
    """Return what the ordinary rules find in records that are of no single run: a trace that somebody else recorded,
    the ranks of a training. And a sentence for each rule that failed. Rules ask for the records by ``Evidence.offer``.
    """
    evidence = Evidence(
        run=RunInfo(argv=(), exit_code=0, status="finished", wall_s=0.0),
        steps=StepTable(),
        account=None,
        warm_up=None,
        samples=Samples(),
        log=SampleLog({}, ()),
        settings={},
        machine_gflops=None,
        tracing=Spans(()),
        collections=Spans(()),
        data={},
        sources={},
        records=lambda stream: (),
        offers=Offers(Offer("", type(record), msgspec.to_builtins(record)) for record in records),
    )
    found, troubles = apply(evidence)
    return [set_severity(item, find_saved(item)) for item in found], troubles


def _load_rules(points: Iterable[EntryPoint] | None, troubles: list[str]) -> Iterator[tuple[str, Any]]:
    for point in available() if points is None else points:
        try:
            rules = tuple(point.load())
        except (Exception, SystemExit) as error:
            troubles.append(f"The rules {point.name!r} can't be loaded: {type(error).__name__}: {error}")
            continue
        for rule in rules:
            yield f"{point.name}.{getattr(rule, '__name__', 'rule')}", rule


def _ask_rule(name: str, rule: Any, troubles: list[str], *arguments: Any) -> list[Finding]:
    try:
        raw = msgspec.to_builtins(list(rule(*arguments)))
        given = with_whole_numbers(msgspec.convert(raw, list[Finding]), raw)
    except (Exception, SystemExit) as error:
        troubles.append(f"The rule {name} failed: {type(error).__name__}: {error}")
        return []
    kept = [finding for finding in given if is_proven(finding)]
    if len(kept) < len(given):
        troubles.append(f"The rule {name} gave a finding without evidence: left out.")
    return kept
