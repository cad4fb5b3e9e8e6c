"""Findings that the user has silenced, in pyproject.toml or by a comment at a line.

They are taken out after everything has been merged and ranked. So the time of a silenced finding stays owned: no other
finding is reported for it, and no headline says that no cause was found.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import PurePath

import msgspec

from tfperfkit.model import Finding
from tfperfkit.records.silencing import Silencing
from tfperfkit.rule_pages import suggest_code
from tfperfkit.syntax.comments import Ignore, find_ignores

Sources = Mapping[str, Sequence[str]]


class Silencer:
    """``silencing`` is what pyproject.toml says, ``sources`` holds the lines of each file."""

    def __init__(self, silencing: Silencing | None, sources: Sources) -> None:
        self._silencing = silencing or Silencing()
        self._comments = {file: found for file, lines in sources.items() if (found := find_ignores(lines))}

    def mark(self, findings: Iterable[Finding]) -> tuple[Finding, ...]:
        """Return the findings, of which those that are silenced say by what."""
        return tuple(msgspec.structs.replace(item, silenced=self._say_by_what(item)) for item in findings)

    def warnings(self) -> list[str]:
        """Return a sentence for each comment that names no rule."""
        comments = {
            (file, comment) for file, found in self._comments.items() for each in found.values() for comment in each
        }
        return [
            f"{PurePath(file).name}:{comment.line}: {problem}"
            for file, comment in sorted(comments)
            for problem in problems(comment)
        ]

    def _say_by_what(self, finding: Finding) -> str:
        if _matches(finding.code, self._silencing.ignore):
            return "ignore in pyproject.toml"
        first = finding.where[0].file if finding.where else ""
        for pattern, codes in self._silencing.per_file.items():
            if first and _matches(finding.code, codes) and self._is_file(first, pattern):
                return f"per-file-ignores {pattern} in pyproject.toml"
        for place in finding.where:
            for comment in self._comments.get(place.file, {}).get(place.line, ()):
                if _matches(finding.code, comment.codes):
                    return f"comment at {PurePath(place.file).name}:{comment.line}"
        return ""

    def _is_file(self, file: str, pattern: str) -> bool:
        relative = os.path.relpath(file, self._silencing.folder or ".").replace(os.sep, "/")
        return any(fnmatchcase(name, pattern) for name in (relative, file, PurePath(file).name))


def problems(comment: Ignore) -> list[str]:
    """Return what is wrong with the codes of a comment."""
    if not comment.codes:
        return ["tfperf: ignore[] names no code"]
    return [f"tfperf: ignore[{code}]: {said}" for code in comment.codes if (said := suggest_code(code))]


def _matches(code: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(code, pattern) for pattern in patterns)
