"""The installed rules, and what they find: first-party ones come through the same door as anyone's.

An entry point of the group ``tfperfkit.rules`` names a sequence of rules (``tfperfkit.rule.Rule``).
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.metadata import EntryPoint

import msgspec

from tfperfkit.diagnosis.checking import is_proven, with_whole_numbers
from tfperfkit.model import Finding
from tfperfkit.registry import installed
from tfperfkit.rule import Evidence, Rule

GROUP = "tfperfkit.rules"


def available() -> tuple[EntryPoint, ...]:
    """All installed sets of rules, by name."""
    return tuple(sorted(installed(GROUP), key=lambda point: point.name))


def apply(evidence: Evidence, points: Iterable[EntryPoint] | None = None) -> tuple[list[Finding], list[str]]:
    """What the rules find; and a sentence for each rule or set of rules that failed."""
    found: list[Finding] = []
    troubles: list[str] = []
    for point in available() if points is None else points:
        try:
            rules = tuple(point.load())
        except (Exception, SystemExit) as error:
            troubles.append(f"The rules {point.name!r} can't be loaded: {type(error).__name__}: {error}")
            continue
        for rule in rules:
            found += _one(rule, point.name, evidence, troubles)
    return found, troubles


def _one(rule: Rule, group: str, evidence: Evidence, troubles: list[str]) -> list[Finding]:
    name = f"{group}.{getattr(rule, '__name__', 'rule')}"
    try:
        raw = msgspec.to_builtins(list(rule(evidence)))
        given = with_whole_numbers(msgspec.convert(raw, list[Finding]), raw)
    except (Exception, SystemExit) as error:
        troubles.append(f"The rule {name} failed: {type(error).__name__}: {error}")
        return []
    kept = [finding for finding in given if is_proven(finding)]
    if len(kept) < len(given):
        troubles.append(f"The rule {name} gave a finding without evidence: left out.")
    return kept
