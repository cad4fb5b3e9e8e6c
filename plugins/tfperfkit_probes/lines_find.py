"""Findings of the probe ``lines``: data loaded anew at every step (INP002)."""

from __future__ import annotations

import math
import os
from typing import Any

import msgspec

from tfperfkit.clock import ms
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.probe import Capture
from tfperfkit.samples import Samples

#: A file counts as reloaded when it is opened in at least this share of the steps that passed meanwhile.
RELOAD_RATE = 0.9
LEAST_OPENS = 4
#: Below this share of a step nothing is said (the design's floor for findings).
FLOOR = 0.02
#: A call below which more than this share of all of TensorFlow's samples lies does more than load data.
MIXED = 0.3


class Evidence(msgspec.Struct, frozen=True):
    """Shares by line, exact where a window measured them; functions as (file, first line, name, {line: share})."""

    functions: tuple[Any, ...]
    samples: Samples
    compiled: set[tuple[str, int]]

    def share(self, file: str, line: int) -> tuple[float, str]:
        """A line's share of the step and the window that says so."""
        for other, _, _, shares in self.functions:
            if other == file and line in shares:
                return float(shares[line]), "lines"
        return self.samples.share((file, line)), "samples"


def find(capture: Capture, evidence: Evidence) -> tuple[Finding, ...]:
    """All findings of this probe."""
    return _reloads(capture, evidence)


def _reloads(capture: Capture, evidence: Evidence) -> tuple[Finding, ...]:
    """A file that the person's code opens again at (nearly) every step."""
    latest: dict[tuple[Any, ...], list[Any]] = {}
    for row in capture.session_records("opens"):
        latest[(row[0], *(tuple(place) for place in row[1]))] = row
    steps = capture.steps.steps
    by_chain: dict[tuple[Any, ...], list[list[Any]]] = {}
    for row in latest.values():
        path, chain, opens, first_ns, last_ns, _ = row
        passed = sum(1 for step in steps if step.begin_ns <= last_ns and step.end_ns >= first_ns)
        if opens >= LEAST_OPENS and passed and opens >= RELOAD_RATE * passed:
            by_chain.setdefault(tuple(tuple(place) for place in chain), []).append(row)
    findings = []
    for chain, rows in by_chain.items():
        found = _reload(capture, evidence, chain, rows)
        if found is not None:
            findings.append(found)
    return tuple(sorted(findings, key=lambda f: -f.share_of_step)[:3])


def _reload(
    capture: Capture, evidence: Evidence, chain: tuple[Any, ...], rows: list[list[Any]]
) -> Finding | None:
    # The load is the outermost call on the way to the file that does nothing of the step but load: what it does
    # besides opening (decompress, normalise, convert) would be saved with it.
    updating = {tuple(place) for row in capture.session_records("sites") for place in row.get("chain", ())}
    loader, depth = chain[0], 0
    for index, place in enumerate(chain):
        if place[:2] in updating or evidence.samples.tensorflow_share(place[:2]) > MIXED:
            break
        loader, depth = place, index
    share, window = evidence.share(loader[0], loader[1])
    if share < FLOOR:
        return None
    path = str(rows[0][0])
    opens = max(int(row[2]) for row in rows)
    passed = max(len([s for s in capture.steps.steps if rows[0][3] <= s.end_ns and s.begin_ns <= rows[0][4]]), 1)
    median = _median_ms(capture)
    low, high = _range(share, evidence.samples.count if window == "samples" else 0)
    where = [SourceSpan(str(f), int(n), str(name)) for f, n, name in reversed(chain[: depth + 1])]
    name = os.path.basename(path)
    evidence_rows = [
        Measurement("opens per step", opens / passed, "count", "run"),
        Measurement("share of step", share, "share", window),
    ]
    if median is not None:
        evidence_rows.append(Measurement("time per step", median * share, "ms", window))
    if rows[0][5]:
        evidence_rows.append(Measurement("size of the file", float(rows[0][5]), "bytes", "run"))
    if len(rows) > 1:
        evidence_rows.append(Measurement("files opened there", float(len(rows)), "count", "run"))
    return Finding(
        code="INP002", family="input", severity=_severity(share),
        title=f"{name} is loaded again at every step", share_of_step=share,
        predicted_speedup=1 / (1 - min(share, 0.99)), predicted_range=(low, high), where=tuple(where),
        evidence=tuple(evidence_rows),
        advice=(
            f"Load {name} once, before the training loop, and keep the arrays in memory: "
            f"what the step calls at {os.path.basename(where[0].file)}:{where[0].line} should only pick its batch."
        ),
        absorbs_here=("LIN001",),
    )


def _median_ms(capture: Capture) -> float | None:
    durations = sorted(step.duration_ns for step in capture.steps.clean or capture.steps.steps)
    return ms(durations[len(durations) // 2]) if durations else None


def _range(share: float, samples: int) -> tuple[float, float]:
    """The speed-up if the share fell to nothing, Amdahl's 1 / (1 - p): p within its 95 % interval.

    For sampled shares the interval is Wilson's; exact ones get +- 2 % of a step for the window's own cost.
    """
    if samples:
        z = 1.96
        centre = (share + z * z / (2 * samples)) / (1 + z * z / samples)
        half = z / (1 + z * z / samples) * math.sqrt(share * (1 - share) / samples + z * z / (4 * samples * samples))
        low, high = centre - half, centre + half
    else:
        low, high = share - 0.02, share + 0.02
    return 1 / (1 - min(max(low, 0.0), 0.99)), 1 / (1 - min(max(high, 0.0), 0.99))


def _severity(share: float) -> Severity:
    return "high" if share >= 0.2 else "medium" if share >= 0.05 else "low"
