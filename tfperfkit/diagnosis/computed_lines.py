"""The lines on which a compiled step computes: what no rule knows a cause of is still somewhere."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from tfperfkit import calibration
from tfperfkit.diagnosis import replaced
from tfperfkit.gain import severity, speedup
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit.offers import ComputedOperation, ComputedStep
from tfperfkit.records.bounds import BY_THE_MACHINE, SOLVES, plain
from tfperfkit.records.graphs import ELEMENTWISE, FUSABLE
from tfperfkit.rule import Evidence, Unit

#: Of the step, from which a line is reported; see ``residual``.
LOUD = calibration.LOUD_RESIDUAL.value
EXPLAINS = calibration.EXPLAINS.value
_TYPES = 3
#: The scope of what runs all turns at once.
_AT_ONCE = "/pfor/"
#: Products of matrices and convolutions, also as oneDNN and fusing call them (``_MklNativeFusedMatMul``).
_PRODUCTS = ("MatMul", "Conv2D", "Conv3D", "DepthwiseConv2d", "Einsum")


class ComputedLine(NamedTuple):
    """A line of the person's, or a layer that it calls, the share of the step that its operations take, and their
    types, the costliest first.

    ``usual``: of its time, in what a step is made of: products and convolutions, and arithmetic number by number, of
    which the rules about fusing know, and in copies that running all turns of a jacobian at once takes; ``direct``:
    made by the line itself; ``slow``: in kernels that are far slower than this machine's arithmetic and memory allow.
    """

    where: SourceSpan
    share: float
    types: tuple[str, ...]
    usual: float
    direct: float
    slow: float = 0.0
    layer: str = ""
    operations: tuple[ComputedOperation, ...] = ()

    @property
    def bound(self) -> str:
        """What bounds the larger half of its time; "" where that is not known."""
        walls: dict[str, float] = defaultdict(float)
        for row in self.operations:
            walls[row.bound] += row.ms
        largest = max(walls, key=lambda each: walls[each], default="")
        return largest if walls[largest] > EXPLAINS * sum(walls.values()) else ""

    @property
    def by_the_machine(self) -> bool:
        """Whether that is the machine's arithmetic or memory."""
        return self.bound in BY_THE_MACHINE

    @property
    def moves(self) -> bool:
        """Whether the larger half of what is not usual only moves bytes, by no slow kernel."""
        own = [row for row in self.operations if not _is_usual(plain(row.type))]
        moved = sum(row.ms for row in own if plain(row.type).startswith(replaced.MOVES) and row.bound != "kernel")
        return moved > EXPLAINS * sum(row.ms for row in own)

    @property
    def draws(self) -> bool:
        """Whether the larger half of it draws random numbers."""
        drawn = sum(row.ms for row in self.operations if plain(row.type).startswith(replaced.DRAWS))
        return drawn > EXPLAINS * sum(row.ms for row in self.operations)

    @property
    def solves(self) -> bool:
        """Whether the larger half of it decomposes matrices, or solves with them."""
        solved = sum(row.ms for row in self.operations if plain(row.type) in SOLVES)
        return solved > EXPLAINS * sum(row.ms for row in self.operations)

    @property
    def costliest(self) -> ComputedOperation:
        """The slow one that takes most, else the one that takes most."""
        slow = [row for row in self.operations if row.bound == "kernel"]
        return max(slow or self.operations, key=lambda row: row.ms)


def computed_lines(evidence: Evidence) -> list[ComputedLine]:
    """Each line as the innermost on the way to its operations, forward and backward, the costliest first; what updates
    variables is the optimizer's. Empty without a trace."""
    return _grouped(evidence, lambda row: "")


def computed_parts(evidence: Evidence) -> list[ComputedLine]:
    """The same, each layer of Keras' own that a line calls apart."""
    return _grouped(evidence, lambda row: "" if row.direct else row.layer)


def _grouped(evidence: Evidence, layer_of: Callable[[ComputedOperation], str]) -> list[ComputedLine]:
    data, account = evidence.offer(ComputedStep), evidence.account
    if data is None or account is None or data.ms <= 0 or not account.mean_ms:
        return []
    scale = min(1.0, evidence.part("graph") / data.ms) / account.mean_ms
    rows: dict[tuple[str, int, str], list[ComputedOperation]] = defaultdict(list)
    for row in data.operations:
        if row.file and row.stage != "update":
            rows[row.file, row.line, layer_of(row)].append(row)
    found = [_line(place, mine, scale) for place, mine in rows.items()]
    return sorted(found, key=lambda item: -item.share)


def _line(place: tuple[str, int, str], rows: Sequence[ComputedOperation], scale: float) -> ComputedLine:
    types: dict[str, float] = defaultdict(float)
    for row in rows:
        types[plain(row.type)] += row.ms
    total = sum(row.ms for row in rows)
    return ComputedLine(
        where=SourceSpan(place[0], place[1], ""),
        share=min(1.0, total * scale),
        types=tuple(
            name for name in sorted(types, key=lambda name: -types[name])[:_TYPES] if types[name] >= 0.1 * total
        ),
        usual=sum(row.ms for row in rows if _is_usual(plain(row.type)) or _is_added(row)) / total if total else 0.0,
        direct=sum(row.ms for row in rows if row.direct) / total if total else 0.0,
        slow=sum(row.ms for row in rows if row.bound == "kernel" and not _is_added(row)) / total if total else 0.0,
        layer=place[2],
        operations=tuple(rows),
    )


def costly_lines(evidence: Evidence, findings: Sequence[Finding], code: str) -> Iterator[Finding]:
    """A finding for a line whose own operations take a third of a step or more and are not the usual ones (sorting,
    scattering, gathering ...), or for a line or layer in which kernels that are slow at what
    they are given take as much, unless another finding tells of it. A remark where it only moves bytes, or solves with
    matrices, which rules of their own look at; nothing where it draws random numbers."""
    reported = {(span.file, span.line) for item in findings if not item.work for span in item.where}
    for line in computed_parts(evidence):
        if line.share < LOUD:
            return
        own = line.direct > EXPLAINS and line.usual < EXPLAINS
        slow = line.share * line.slow >= LOUD
        if line.draws and not line.layer:  # a simulation's own: fewer numbers would be another result
            continue
        # Of a layer the line is where the model is called: much else stands there.
        if (own or slow) and (line.layer or (line.where.file, line.where.line) not in reported):
            remark = line.solves or (line.moves and not slow)
            yield _finding(evidence, line, code, "info" if remark else severity(line.share))


def _is_added(row: ComputedOperation) -> bool:
    """Whether it only moves bytes, and TensorFlow made it to run all turns of a jacobian or of ``tf.vectorized_map`` at
    once: nobody wrote the order of its axes."""
    return _AT_ONCE in row.name and plain(row.type).startswith((*replaced.MOVES, "Transpose"))


def _is_usual(kind: str) -> bool:
    return kind in ELEMENTWISE or kind in FUSABLE or any(part in kind for part in _PRODUCTS)


def _finding(evidence: Evidence, line: ComputedLine, code: str, loudness: Severity) -> Finding:
    one = line.costliest
    scale = line.share / sum(row.ms for row in line.operations)
    runs, kind = max(one.runs, 1.0), plain(one.type)
    window = evidence.offered_by(ComputedStep)
    backward = any(row.stage == "backward" for row in line.operations)
    what = f"the layer {line.layer.rpartition('/')[2]}" if line.layer else "one line of a compiled function"
    figures = [
        Measurement("share", line.share, "share", "breakdown"),
        Measurement("time", line.share * (evidence.step_ms or 0.0), "ms", "breakdown"),
        Measurement(f"of it {kind}, its costliest operation", scale * one.ms / line.share, "share", window),
        Measurement(f"a run of {kind}", one.ms / runs, "ms", window),
    ]
    if one.lower_ms:
        figures.append(
            Measurement("its arithmetic and bytes, at this machine's best", one.lower_ms / runs, "ms", window)
        )
    return Finding(
        code=code,
        family="graph",
        title=f"{100 * line.share:.0f} % of {evidence.unit.a} is {what}: {words(line)}",
        severity=loudness,
        share_of_step=line.share,
        predicted_speedup=None,
        ceiling=speedup(line.share),
        where=(line.where,),
        evidence=tuple(figures),
        advice=replaced.advice(kind),
        detail=" ".join((*_bound(one, evidence.machine_gflops, evidence.unit), _BOTH if backward else _PARTS)),
        parts=("graph",),
    )


#: "2×64×64×1, 53×53×1×1 → …": the second operand of a convolution.
_KERNEL = re.compile(r", (\d+)×(\d+)×(\d+)×\d+")
_PARTS = "The operations are the costliest of it, by TensorFlow's names."
_BOTH = f"Forward and backward; {_PARTS[0].lower()}{_PARTS[1:]}"


def _bound(one: ComputedOperation, peak: float | None, unit: Unit) -> Iterable[str]:
    """What bounds the costliest operation, in a sentence."""
    per = unit.a if unit.a.startswith("a") else f"in {unit.a}"
    kind, runs = plain(one.type), max(one.runs, 1.0)
    if one.shapes:
        often = "once" if runs < 1.5 else f"{runs:,.0f} times"
        yield f"{kind} ({one.shapes}) runs {often} {per}."
    yield from _large_kernel(one)
    rate = f"{one.flops / (one.ms * 1e6):,.3g}" if one.flops and one.ms else ""
    of = f" of {peak:,.0f}" if peak else ""
    if one.bound == "kernel":
        reached = f" at {rate}{of} GFLOP/s" if rate else ""
        yield f"It computes{reached}, far below what the other operations get out of the machine: its"
        yield "kernel is slow at these shapes."
    elif one.bound == "memory":
        yield "It is bound by memory: it moves more than it computes."
    elif one.bound == "arithmetic":
        yield f"It is bound by its arithmetic: {rate}{of} GFLOP/s."
    elif one.bound == "starting":
        yield "A run is so short that most of it is starting and ending."


def _large_kernel(one: ComputedOperation) -> Iterable[str]:
    """Of a convolution with a large kernel on few channels, what could take its place."""
    sides = _KERNEL.search(one.shapes) if plain(one.type).startswith(("Conv2D", "DepthwiseConv2d")) else None
    if sides is None:
        return
    height, width, channels = (int(side) for side in sides.groups())
    if min(height, width) >= calibration.LARGE_KERNEL.value and channels <= calibration.FEW_CHANNELS.value:
        yield f"Its kernel has {height} × {width} numbers on {channels} channel{'s' * (channels != 1)}: if that is a"
        yield "column times a row (a Gaussian, a mean), two convolutions, one with each, take far less; so may the"
        yield "Fourier transform (tf.signal.rfft2d)."


def words(line: ComputedLine) -> str:
    """``TopKV2 and ScatterNd``"""
    *first, last = line.types or ("small operations",)
    return f"{', '.join(first)} and {last}" if first else last
