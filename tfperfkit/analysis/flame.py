"""One step as a flame graph: the Python that stack samples saw, and below a call of a compiled function its lines.

The width of all of it is the mean step. A sample stands for its part's time in the step's account, so that picture and
account agree. A trace shows the time of a compiled function's lines; the lines divide the width of the Python that
called the function, so that both are on one axis.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from tfperfkit.ledger.call_tree import Entry, Ledger
from tfperfkit.ledger.part_lines import find_innermost_lines
from tfperfkit.offers import CompiledFunction, CompiledFunctions
from tfperfkit.records.parts import PARTS, part_of, words_of
from tfperfkit.records.pictures import MAX_NODES, LineHeat, Node, Tree
from tfperfkit.records.samples import Frame
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.rule import Evidence

#: Boxes under this share of the step are left out: on a wide screen they are no pixel wide.
_MIN_SHARE = 0.0008
_MAX_DEPTH = 60
_MAX_HEAT = 3_000
_MAX_LINES = 6
_OWN, _LIBRARY, _COMPILED, _ROOT = "own", "library", "compiled", "all"
_LINE = "line of a compiled function"
_KINDS = {
    _OWN: "your Python",
    _COMPILED: "lines of compiled functions",
    _LIBRARY: "libraries, by what they did",
}


class _Key(NamedTuple):
    name: str
    kind: str
    file: str = ""
    line: int = 0
    note: str = ""


class _Box:
    def __init__(self) -> None:
        self.value = 0.0
        self.below: defaultdict[_Key, _Box] = defaultdict(_Box)


def flame(evidence: Evidence) -> Tree | None:
    """Return the picture of the mean step, or of the sampled part of the run; None with too few samples."""
    ledger, samples = evidence.ledger, evidence.samples
    if not ledger.total:
        return None
    mean = evidence.step_ms
    whole = mean if mean else samples.span_s * 1e3
    compiled = evidence.offer(CompiledFunctions)
    root = _Box()
    for entry in ledger.entries:
        _add(root, entry)
    for part, ms in ledger.unplaced.items():
        root.below[_Key(f"{(words_of(part) or PARTS['other']).label} (not in samples)", _LIBRARY)].value += ms
    if compiled is not None:
        _open(root, {(item.file, item.line): item for item in compiled.functions})
    nodes: list[Node] = [Node(-1, "the mean step" if mean else "the sampled part of the run", round(whole, 4), _ROOT)]
    _flatten(root, 0, nodes, whole * _MIN_SHARE, 0)
    caption = f"{samples.count:,} stack samples of {'clean steps' if evidence.steps.clean else 'the run'}"
    caption += ", each part as long as in the account" if evidence.account is not None else ""
    lines = any(node.note == _LINE for node in nodes)
    inside = "; compiled lines by the trace, on the same axis" if lines else ""
    return Tree(
        key="flame",
        title="Step time, line by line" if mean else "Time, line by line",
        unit="ms",
        nodes=tuple(nodes[:MAX_NODES]),
        kinds={kind: words for kind, words in _KINDS.items() if any(node.kind == kind for node in nodes)},
        note=f"{caption}{inside}. Boxes under {_MIN_SHARE:.2%} of it are left out.",
    )


def heat(evidence: Evidence) -> list[LineHeat]:
    """Return the lines of the user's code with what they take of the mean step, the costliest first."""
    python: Counter[tuple[str, int]] = Counter()
    for entry in evidence.ledger.entries:
        for place in dict.fromkeys((frame.file, frame.line) for frame in entry.stack.frames):
            python[place] += entry.value  # type: ignore[assignment]
    compiled = evidence.offer(CompiledFunctions)
    inside = {(row.file, row.line): row for row in compiled.own} if compiled is not None else {}
    rows = []
    for place in dict.fromkeys([*python, *inside]):
        own = inside.get(place)
        graph = (own.forward_ms, own.backward_ms, own.update_ms) if own is not None else (0.0, 0.0, 0.0)
        rows.append(LineHeat(*place, round(python.get(place, 0.0), 4), *(round(value, 4) for value in graph)))
    return sorted(rows, key=lambda row: -(row.python_ms + row.forward_ms + row.backward_ms + row.update_ms))[:_MAX_HEAT]


def part_lines(evidence: Evidence) -> dict[str, tuple[tuple[SourceSpan, float], ...]]:
    """Return the lines for which the parts of the mean step ran, with ms of the step; the costliest of each part."""
    ledger = evidence.ledger if evidence.account is not None else Ledger()
    found = {part: find_innermost_lines(ledger, part, _MAX_LINES) for part in ledger.sum_parts()}
    return {part: tuple((where, round(ms, 4)) for where, ms in lines) for part, lines in found.items() if lines}


def _add(root: _Box, entry: Entry) -> None:
    box, stack, value = root, entry.stack, entry.value
    box.value += value
    for frame in stack.frames[:_MAX_DEPTH]:
        box = box.below[_make_key(frame)]
        box.value += value
    if entry.part == "gc":
        box.below[_Key(PARTS["gc"].label, _LIBRARY)].value += value
    elif stack.library or not stack.frames:
        part = part_of(stack.activity)
        doing = PARTS[part].label if part is not None and part != "python" else ""
        note = stack.activity if part in ("graph", "eager_ops", "host_sync", "dispatch", "tracing") else ""
        library = stack.library or "not in your code"
        box = box.below[_Key(f"{library}: {doing}" if doing else library, _LIBRARY, note=note)]
        box.value += value


def _make_key(frame: Frame) -> _Key:
    return _Key(frame.name, _OWN, frame.file, frame.line, f"function at line {frame.first}")


def _open(root: _Box, functions: Mapping[tuple[str, int], CompiledFunction]) -> None:
    """Put the lines of compiled functions below the boxes in which Python waited for one, all of them in proportion:
    the samples tell where a function was called, and not which of several it was."""
    calls: list[_Box] = []

    def look(box: _Box) -> None:
        for key, below in box.below.items():
            if key.kind == _LIBRARY and key.note == "graph":
                calls.append(below)
            look(below)

    look(root)
    left = sorted(functions.values(), key=lambda item: -item.ms)
    total = sum(item.ms for item in left)
    for box in calls if total else ():
        for function in left:
            _unfold(box, function, box.value / total)


def _unfold(box: _Box, function: CompiledFunction, scale: float) -> None:
    note = "compiled function"
    top = box.below[_Key(function.function, _COMPILED, function.file, function.line, note)]
    top.value += function.ms * scale
    boxes: list[_Box] = []
    for line in function.lines:
        above = top if line.parent < 0 else boxes[line.parent]
        made = above.below[_Key(line.name, _COMPILED, line.file, line.line, _LINE)]
        made.value += line.ms * scale
        boxes.append(made)


def _flatten(box: _Box, parent: int, nodes: list[Node], lower: float, depth: int) -> None:
    for key, below in sorted(box.below.items(), key=lambda item: -item[1].value):
        if below.value < lower or len(nodes) >= MAX_NODES or depth > _MAX_DEPTH + 20:
            continue
        nodes.append(Node(parent, key.name, round(below.value, 4), key.kind, key.file, key.line, key.note))
        _flatten(below, len(nodes) - 1, nodes, lower, depth + 1)
