"""One step as a flame graph: the Python that stack samples saw, and below a call of a compiled function its lines.

The width of all of it is the mean step. A sample stands for its part's time in the step's account, so that picture and
account agree. What a compiled function's lines took, a trace tells; they divide the width of the Python that called the
function, so that both stand on one axis.
"""

from __future__ import annotations

import bisect
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import NamedTuple

from tfperfkit.offers import CompiledFunction, CompiledFunctions
from tfperfkit.records.parts import PARTS, PartName, part_of
from tfperfkit.records.pictures import MAX_NODES, LineHeat, Node, Tree
from tfperfkit.records.samples import MIN, Frame, Stack
from tfperfkit.records.source_span import SourceSpan
from tfperfkit.rule import Evidence

#: Boxes under this share of the step are left out: on a wide screen they are no pixel wide.
_MIN_SHARE = 0.0008
#: A sample this soon behind a garbage collection tells what it interrupted: twice the pause between two samples.
_BEHIND_NS = 20_000_000
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
    """None with too few samples to tell shares."""
    samples = evidence.samples
    if samples.count < MIN:
        return None
    mean = evidence.step_ms
    weights = _weights(evidence)
    whole = mean if mean else samples.span_s * 1e3
    compiled = evidence.offer(CompiledFunctions)
    root = _Box()
    for stack, count in samples.stacks.items():
        _add(root, stack, count * weights[_part_of_stack(stack)])
    collected = _collected(evidence)
    for stack, ms in collected:
        _add(root, stack._replace(library=PARTS["gc"].label, activity="python"), ms)
    unsampled = _not_sampled(evidence)
    if collected:
        unsampled["gc"] -= sum(ms for _, ms in collected)
    for part, ms in unsampled.items():
        root.below[_Key(f"{PARTS[part].label} (not in samples)", _LIBRARY)].value += ms
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
        title="Where a step's time goes, line by line" if mean else "Where the time goes, line by line",
        unit="ms",
        nodes=tuple(nodes[:MAX_NODES]),
        kinds={kind: words for kind, words in _KINDS.items() if any(node.kind == kind for node in nodes)},
        note=f"{caption}{inside}. Boxes under {_MIN_SHARE:.2%} of it are left out.",
    )


def heat(evidence: Evidence) -> list[LineHeat]:
    """The lines of the user's with what they take of the mean step, the costliest first."""
    samples = evidence.samples
    python: Counter[tuple[str, int]] = Counter()
    if samples.count >= MIN:
        weights = _weights(evidence)
        for stack, count in samples.stacks.items():
            for place in dict.fromkeys((frame.file, frame.line) for frame in stack.frames):
                python[place] += count * weights[_part_of_stack(stack)]  # type: ignore[assignment]
        for stack, ms in _collected(evidence):
            for place in dict.fromkeys((frame.file, frame.line) for frame in stack.frames):
                python[place] += ms  # type: ignore[assignment]
    compiled = evidence.offer(CompiledFunctions)
    inside = {(row.file, row.line): row for row in compiled.own} if compiled is not None else {}
    rows = []
    for place in dict.fromkeys([*python, *inside]):
        own = inside.get(place)
        graph = (own.forward_ms, own.backward_ms, own.update_ms) if own is not None else (0.0, 0.0, 0.0)
        rows.append(LineHeat(*place, round(python.get(place, 0.0), 4), *(round(value, 4) for value in graph)))
    return sorted(rows, key=lambda row: -(row.python_ms + row.forward_ms + row.backward_ms + row.update_ms))[:_MAX_HEAT]


def part_lines(evidence: Evidence) -> dict[str, tuple[tuple[SourceSpan, float], ...]]:
    """For which lines the parts of the mean step ran, in the proportions of the samples; the costliest of each."""
    account, samples = evidence.account, evidence.samples
    if account is None or samples.count < MIN:
        return {}
    seen: defaultdict[PartName, Counter[tuple[str, int, str]]] = defaultdict(Counter)
    for place in samples.leaves():
        names = samples.innermost(place).most_common(1)
        for activity, count in samples.doing_innermost(place).items():
            where = (*place, names[0][0].name if names else "")
            seen[part_of(activity) or "other"][where] += count
    return {
        part: tuple(
            (SourceSpan(*where), round(account.parts_ms[part] * count / lines.total(), 4))
            for where, count in lines.most_common(_MAX_LINES)
        )
        for part, lines in seen.items()
        if account.parts_ms.get(part, 0.0) > 0
    }


def _part_of_stack(stack: Stack) -> PartName:
    """Return the part of the account that a stack counts for."""
    return "evaluate" if stack.context == "evaluate" else part_of(stack.activity) or "other"


def _weights(evidence: Evidence) -> defaultdict[PartName, float]:
    """ms of the mean step that a sample of each part stands for: as many as the account has of it, so that the picture
    and the account agree. Without an account all samples are alike."""
    samples, account = evidence.samples, evidence.account
    if account is None or not account.parts_ms:
        unit = (evidence.step_ms or samples.span_s * 1e3) / max(samples.count, 1)
        return defaultdict(lambda: unit)
    seen: Counter[PartName] = Counter()
    for stack, count in samples.stacks.items():
        seen[_part_of_stack(stack)] += count
    return defaultdict(float, {part: account.parts_ms.get(part, 0.0) / count for part, count in seen.items()})


def _not_sampled(evidence: Evidence) -> dict[PartName, float]:
    """Parts of the account on which no sample fell."""
    if evidence.account is None:
        return {}
    seen = {_part_of_stack(stack) for stack in evidence.samples.stacks}
    return {part: ms for part, ms in evidence.account.parts_ms.items() if ms > 0 and part not in seen}


def _collected(evidence: Evidence) -> list[tuple[Stack, float]]:
    """Garbage collections by what ran: a collection holds the interpreter's lock, so no sample falls into it, and the
    first one behind it is of the line that asked for it, or in which Python began it by itself."""
    ms = evidence.account.parts_ms.get("gc", 0.0) if evidence.account is not None else 0.0
    clean = [(step.begin_ns, step.end_ns) for step in evidence.steps.clean]
    samples, index, begun = evidence.log.inside(clean), 0, [first for first, _ in clean]
    found, whole = list[tuple[Stack, int]](), 0
    for begin, end in evidence.collections[:] if ms and samples else ():
        step = bisect.bisect_right(begun, begin) - 1
        if step < 0 or begin >= clean[step][1]:
            continue
        whole += end - begin
        while index < len(samples) and samples[index][0] < begin:
            index += 1
        if index < len(samples) and samples[index][0] <= end + _BEHIND_NS:
            found.append((samples[index][1], end - begin))
    return [(stack, ms * took / whole) for stack, took in found]


def _add(root: _Box, stack: Stack, value: float) -> None:
    box = root
    box.value += value
    for frame in stack.frames[:_MAX_DEPTH]:
        box = box.below[_key(frame)]
        box.value += value
    if stack.library or not stack.frames:
        part = part_of(stack.activity)
        doing = PARTS[part].label if part is not None and part != "python" else ""
        note = stack.activity if part in ("graph", "eager_ops", "host_sync", "dispatch", "tracing") else ""
        library = stack.library or "not in your code"
        box = box.below[_Key(f"{library}: {doing}" if doing else library, _LIBRARY, note=note)]
        box.value += value


def _key(frame: Frame) -> _Key:
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
