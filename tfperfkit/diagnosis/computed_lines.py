"""The lines on which a compiled step computes: what no rule knows a cause of is still somewhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.gain import severity, speedup
from tfperfkit.model import Finding, Measurement, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.records.graphs import ELEMENTWISE, FUSABLE
from tfperfkit.rule import Evidence

#: Of the step, from which a line is told; see ``residual``.
LOUD = calibration.LOUD_RESIDUAL.value
EXPLAINS = calibration.EXPLAINS.value
_TYPES = 3
#: Products of matrices and convolutions, also as oneDNN and fusing call them (``_MklNativeFusedMatMul``).
_PRODUCTS = ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv2d", "Einsum")


class ComputedLine(NamedTuple):
    """A line of the person's, the share of the step that its operations take, and their types, the costliest first.
    ``usual``: of its time, in what a step is made of: products and convolutions, and arithmetic number by number, of
    which the rules about fusing know; ``direct``: made by the line itself."""

    where: SourceSpan
    share: float
    types: tuple[str, ...]
    usual: float
    direct: float


def computed_lines(evidence: Evidence) -> list[ComputedLine]:
    """Each line as the innermost on the way to its operations, forward and backward, the costliest first; what updates
    variables is the optimizer's. Empty without a trace."""
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or evidence.work is not None or data.ms <= 0 or not account.mean_ms:
        return []
    scale = min(1.0, evidence.part("graph") / data.ms) / account.mean_ms
    rows: dict[tuple[str, int], list[ComputedOperation]] = defaultdict(list)
    for row in data.operations:
        if row.file and row.stage != "update":
            rows[row.file, row.line].append(row)
    found = [_line(evidence, place, mine, scale) for place, mine in rows.items()]
    return sorted(found, key=lambda item: -item.share)


def _line(evidence: Evidence, place: tuple[str, int], rows: Sequence[ComputedOperation], scale: float) -> ComputedLine:
    types: dict[str, float] = defaultdict(float)
    for row in rows:
        types[row.type.removeprefix("_Mkl").removeprefix("Native")] += row.ms
    total = sum(row.ms for row in rows)
    return ComputedLine(
        where=SourceSpan(place[0], place[1], ""),
        share=min(1.0, total * scale),
        types=tuple(
            name for name in sorted(types, key=lambda name: -types[name])[:_TYPES] if types[name] >= 0.1 * total
        ),
        usual=sum(ms for name, ms in types.items() if _is_usual(name)) / total if total else 0.0,
        direct=sum(row.ms for row in rows if row.direct) / total if total else 0.0,
    )


def costly_lines(evidence: Evidence, findings: Sequence[Finding], code: str) -> Iterator[Finding]:
    """A finding for a line whose own operations take a third of a step or more and are not the usual ones (sorting,
    scattering, gathering, drawing random numbers ...), unless another finding tells of it."""
    told = {(span.file, span.line) for item in findings if not item.work for span in item.where}
    for line in computed_lines(evidence):
        if line.share < LOUD:
            return
        own = line.direct > EXPLAINS and line.usual < EXPLAINS
        if own and (line.where.file, line.where.line) not in told:
            yield _finding(evidence, line, code)


def _is_usual(kind: str) -> bool:
    return kind in ELEMENTWISE or kind in FUSABLE or any(part in kind for part in _PRODUCTS)


def _finding(evidence: Evidence, line: ComputedLine, code: str) -> Finding:
    return Finding(
        code=code,
        family="graph",
        title=f"{100 * line.share:.0f} % of {evidence.unit.a} is one line of a compiled function: {words(line)}",
        severity=severity(line.share),
        share_of_step=line.share,
        predicted_speedup=None,
        ceiling=speedup(line.share),
        where=(line.where,),
        evidence=(
            Measurement("share", line.share, "share", "breakdown"),
            Measurement("time", line.share * (evidence.step_ms or 0.0), "ms", "breakdown"),
        ),
        advice="Look at what this line needs: fewer elements, an operation that does less (the largest few in place of "
        "a sort, a slice in place of a gather), smaller intermediate tensors, or its result once for several steps.",
        detail="Forward and backward; the operations are the costliest of it, by TensorFlow's names.",
        parts=("graph",),
    )


def words(line: ComputedLine) -> str:
    """``TopKV2 and ScatterNd``"""
    *first, last = line.types or ("small operations",)
    return f"{', '.join(first)} and {last}" if first else last
