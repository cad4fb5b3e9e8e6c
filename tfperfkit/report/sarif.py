"""Findings as SARIF 2.1.0 (OASIS, 2020), which GitHub, GitLab and editors show at the line.

One run; a rule for each code; a result for each annotation, its first place as the location and the others as related
ones. Paths are relative to ``%SRCROOT%``.
"""

from __future__ import annotations

import urllib.parse
from collections.abc import Iterable, Sequence
from typing import Any

from tfperfkit.model import Report, SourceSpan
from tfperfkit.report.annotation import Annotation, below, of_finding
from tfperfkit.report.json import encode_any
from tfperfkit.report.replacements import Replacement
from tfperfkit.version import __version__

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def report_sarif(report: Report, root: str = "") -> bytes:
    """Return the findings of a report as a SARIF document; ``root``: the folder that paths are given from."""
    folder = report.run.folder
    return sarif([of_finding(finding, folder) for finding in report.findings], root or folder)


def sarif(annotations: Sequence[Annotation], root: str = "") -> bytes:
    """Return a SARIF document of these annotations."""
    codes = list(dict.fromkeys(each.code for each in annotations))
    rules = {each.code: each for each in reversed(annotations)}
    return encode_any(
        {
            "$schema": _SCHEMA,
            "version": "2.1.0",
            "runs": [
                {
                    "tool": {
                        "driver": {
                            "name": "tfperf",
                            "semanticVersion": _semantic(__version__),
                            "rules": [_rule(rules[code]) for code in codes],
                        }
                    },
                    "columnKind": "unicodeCodePoints",
                    "results": [_result(each, codes.index(each.code), root) for each in annotations],
                }
            ],
        }
    )


def _semantic(version: str) -> str:
    parts = version.split(".")[:3]
    return ".".join(part if part.isdecimal() else "0" for part in [*parts, "0", "0"][:3])


def _rule(example: Annotation) -> dict[str, Any]:
    return {
        "id": example.code,
        "name": f"tfperf{example.rule.title().replace(' ', '').replace('_', '')}",
        "shortDescription": {"text": example.title},
        "help": {"text": f"tfperf explain {example.code}"},
        "properties": {"tags": ["performance", example.rule]},
    }


def _result(each: Annotation, index: int, root: str) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": each.code,
        "ruleIndex": index,
        "level": each.level,
        "message": {"text": each.text},
    }
    places = list(_locations(each.where, root))
    if places:
        result["locations"] = places[:1]
    if places[1:]:
        result["relatedLocations"] = [{"id": number, **place} for number, place in enumerate(places[1:], 1)]
    if each.fix:
        result["fixes"] = [{"description": {"text": each.title}, "artifactChanges": list(_changes(each.fix, root))}]
    return result


def _changes(fix: Sequence[Replacement], root: str) -> Iterable[dict[str, Any]]:
    """Whole lines: from the first character of one to the first of another."""
    for file in dict.fromkeys(each.file for each in fix):
        made = [
            {
                "deletedRegion": {
                    "startLine": each.line,
                    "startColumn": 1,
                    "endLine": each.line + each.count,
                    "endColumn": 1,
                },
                **({"insertedContent": {"text": each.text}} if each.text else {}),
            }
            for each in fix
            if each.file == file
        ]
        yield {"artifactLocation": _artifact(file, root), "replacements": made}


def _locations(spans: Iterable[SourceSpan], root: str) -> Iterable[dict[str, Any]]:
    for span in spans:
        physical: dict[str, Any] = {"artifactLocation": _artifact(span.file, root)}
        if span.line > 0:
            physical["region"] = {"startLine": span.line}
        place: dict[str, Any] = {"physicalLocation": physical}
        if span.function:
            place["logicalLocations"] = [{"name": span.function, "kind": "function"}]
        yield place


def _artifact(file: str, root: str) -> dict[str, Any]:
    path = below(file, root)
    uri = urllib.parse.quote(path)
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": "%SRCROOT%"}
