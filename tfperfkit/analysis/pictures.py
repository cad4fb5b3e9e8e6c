"""What can be drawn of a run: its steps, where samples and compiled lines fell, and what its probes draw."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tfperfkit.analysis.beginning import Beginning
from tfperfkit.analysis.flame import flame, heat, part_lines
from tfperfkit.analysis.start_line import start_line
from tfperfkit.analysis.step_bars import timeline
from tfperfkit.model import Finding, ProbeOutcome, ProbeResult
from tfperfkit.picture import PictureProbe
from tfperfkit.records.pictures import Album, Picture, Tree
from tfperfkit.rule import Evidence

#: Characters of source that an album carries, of all files and of one line.
_MAX_SOURCE, _MAX_LINE = 400_000, 400
_MAX_PICTURES = 40


def album(
    evidence: Evidence,
    outcomes: Sequence[ProbeOutcome],
    findings: Sequence[Finding],
    captured: Callable[[str], tuple[object, Any]],
    begun: Beginning | None = None,
) -> Album:
    """``captured``: the probe of a name and its capture; ``begun``: when the process did. A probe that fails to draw
    draws nothing."""
    whole = flame(evidence)
    warm = heat(evidence)
    pictures = [*([whole] if whole is not None else []), *_drawn(outcomes, captured)]
    files = [span.file for finding in findings for span in finding.where]
    files += [line.file for line in warm]
    files += [node.file for picture in pictures if isinstance(picture, Tree) for node in picture.nodes if node.file]
    return Album(
        timeline=timeline(evidence),
        start=start_line(evidence, begun),
        pictures=tuple(pictures[:_MAX_PICTURES]),
        sources=_sources(evidence, files),
        heat=tuple(warm),
        part_lines=part_lines(evidence),
    )


def _drawn(outcomes: Sequence[ProbeOutcome], captured: Callable[[str], tuple[object, Any]]) -> Iterator[Picture]:
    for outcome in outcomes:
        if outcome.status not in ("ok", "cut") or not outcome.data:
            continue
        try:
            probe, capture = captured(outcome.name)
            if isinstance(probe, PictureProbe):
                made = list(probe.pictures(capture, ProbeResult(data=outcome.data)))
                yield from msgspec.convert(msgspec.to_builtins(made), list[Picture])
        except Exception:  # a fault of the probe: its tables say the same
            continue


def _sources(evidence: Evidence, files: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """The files that matter most, as far as there is room: the first named come first."""
    found: dict[str, tuple[str, ...]] = {}
    room = _MAX_SOURCE
    for file in dict.fromkeys(files):
        lines = tuple(line[:_MAX_LINE] for line in evidence.source(file))
        size = sum(map(len, lines)) + len(lines)
        if lines and size <= room:
            found[file] = lines
            room -= size
    return found
