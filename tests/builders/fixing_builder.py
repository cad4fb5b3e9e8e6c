"""Findings on made source, and the source after their patches."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from remedies import remedy_of

from tfperfkit.fixing.files import Files
from tfperfkit.fixing.patches import Patch, Patches
from tfperfkit.model import Finding, Measurement, SourceSpan

FILE = "train.py"


def finding_at(code: str, *places: tuple[int, str], **fields: Any) -> Finding:
    """Return a finding at (line, function) of the made file."""
    return Finding(
        **{
            "code": code,
            "remedy": remedy_of(code),
            "family": "input",
            "title": "It is slow",
            "severity": "high",
            "share_of_step": 0.5,
            "where": tuple(SourceSpan(FILE, line, function) for line, function in places),
            "evidence": (Measurement("share", 0.5, "share"),),
            "advice": "Make it fast.",
            **fields,
        }
    )


class Made:
    """Offers of one kind."""

    def __init__(self, *offers: Any) -> None:
        self._offers = offers

    def offer(self, kind: type[Any], /) -> Any:
        return next((item for item in self._offers if isinstance(item, kind)), None)


def at(source: str, mark: str = "# here") -> list[int]:
    """The lines that end in the mark."""
    return [number for number, line in enumerate(source.splitlines(), 1) if line.rstrip().endswith(mark)]


def patch_of(folder: Path, source: str, finding: Finding, *offers: Any) -> tuple[Patch, str]:
    """The patch, and the file after it."""
    (folder / FILE).write_bytes(source.encode())
    patches = Patches(Files({FILE: source.splitlines(keepends=True)}, str(folder)), Made(*offers))
    patch = patches.make_patch(finding.code, finding)
    return patch, patches.after.get(FILE, source.encode()).decode()


def fixed(folder: Path, source: str, code: str, *offers: Any, function: str = "", **fields: Any) -> str:
    """The file after the patch of a finding at the marked lines; applied again it changes nothing more."""
    places = [(line, function) for line in at(source)]
    _, after = patch_of(folder, source, finding_at(code, *places, **fields), *offers)
    ast.parse(after)
    again = [(line, function) for line in at(after)]
    assert patch_of(folder, after, finding_at(code, *again, **fields), *offers)[1] == after
    return after


def reason(folder: Path, source: str, code: str, *offers: Any, function: str = "", **fields: Any) -> str:
    """Why there is no patch."""
    places = [(line, function) for line in at(source)]
    return refusal_of(*patch_of(folder, source, finding_at(code, *places, **fields), *offers), source)


def refusal_of(patch: Patch, after: str, source: str) -> str:
    """Why the source proves no patch, and what a candidate assumes instead."""
    assert patch.steps == () or patch.is_candidate
    assert after == source
    return "; ".join([patch.reason, *patch.assumed])
