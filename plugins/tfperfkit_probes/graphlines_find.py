"""Findings from graph lines: a forward pass run twice (GRF001), metrics on the hot path (GRF002), a layer that computes
far more slowly than others of its kind (GRF003)."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterator

from tfperfkit.instruments.graph_records import FORWARD, Graph, LayerCall
from tfperfkit.model import Finding, Measurement, Severity, SourceSpan
from tfperfkit_probes.graphlines_analysis import GraphLines
from tfperfkit_probes.graphlines_codes import METRICS, REPEATED_FORWARD, SLOW_LAYER
from tfperfkit_probes.graphlines_data import PS_PER_MS, GraphFunction
from tfperfkit_probes.graphlines_origin import Node, Owner
from tfperfkit_probes.graphlines_tree import Branch, FunctionTime

#: Below this share of the step nothing is said.
LEAST_REPEATED, LEAST_METRICS, LEAST_LAYER = 0.03, 0.05, 0.15
#: Of the repeated passes' time, what goes with them: less where operations ran beside others, more by what is not
#: on their lines (the runtime's gaps, what was kept for a gradient). The GAN gained 1.37 with a share of 0.21.
LEAST_SAVED, MOST_SAVED = 0.6, 1.5
#: How many times slower than the median of its kind a layer has to be, with how many others of its kind.
SLOWER, NEIGHBOURS = 6.0, 2
#: Layers with less work than this are slow by nature: their time is in starting.
LEAST_GFLOP = 0.01
WINDOW = "tfprof"
_ADVICE = {
    "metrics": (
        "Leave the costly metrics to the validation data, once per epoch, or choose cheaper ones (AUC keeps 200 "
        "thresholds by default: num_thresholds=50)."
    ),
    "summaries": "Write summaries every n-th step only: with tf.summary.record_if(step % 100 == 0).",
}


def find(lines: GraphLines, functions: tuple[GraphFunction, ...]) -> tuple[Finding, ...]:
    """All findings of graph lines."""
    if not lines.wall:
        return ()
    found: list[Finding] = []
    for function, data in zip(lines.functions, functions, strict=True):
        found += _repeated(lines, function)
        found += _metrics(lines, function)
        found += _slow_layers(lines, data)
    return tuple(found)


def _repeated(lines: GraphLines, function: FunctionTime) -> Iterator[Finding]:
    """Calls of a model of which one could serve for all."""
    saved = forward = 0.0
    names: list[str] = []
    places: list[Node] = []
    callers: list[Node] = []
    for number, graph, calls in _groups(lines, function):
        times, nodes = [], []
        for call in calls:
            wall, node, above = _forward(function, number, graph, call)
            times.append(wall)
            nodes += [item for item in node if item not in nodes]
            callers += [item for item in above if item not in callers]
        forward += sum(times)
        saved += sum(times) * (len(calls) - 1) / len(calls)
        built = next(item for item in lines.built if item.number == number)
        name = built.graphs.layers[calls[0].layer].name
        names += [name] if name not in names else []
        places += [item for item in nodes if item not in places]
    share = saved / lines.wall
    if share < LEAST_REPEATED:
        return
    places.sort(key=lambda node: (node.file, node.line))
    places += [item for item in callers if item not in places]
    words = " and ".join(names)
    yield Finding(
        code=REPEATED_FORWARD, family="graph", title=f"The forward pass of {words} runs twice in a step",
        severity=_severity(share), share_of_step=share, predicted_speedup=1 / (1 - share),
        predicted_range=(1 / (1 - LEAST_SAVED * share), 1 / (1 - min(MOST_SAVED * share, 0.9))),
        where=tuple(SourceSpan(node.file, node.line, node.name) for node in places) or _owner(function.owner),
        evidence=(
            Measurement("repeated forward pass", _per_step(saved, lines), "ms", WINDOW),
            Measurement("share of the step", share, "share", WINDOW),
            Measurement("all of these forward passes", _per_step(forward, lines), "ms", WINDOW),
        ),
        advice=(
            f"Run {words} once and take every gradient from that pass: one GradientTape(persistent=True) around it, "
            "all gradients before the first update. Updates then see the same weights and the same random numbers, "
            "which alternating updates do not: check that it trains as well."
        ),
    )


def _groups(lines: GraphLines, function: FunctionTime) -> Iterator[tuple[int, Graph, list[LayerCall]]]:
    """Calls of one model whose work is the same: on the same tensors, or by the same code for different updates."""
    numbers = {number for number, _, _ in function.operations}
    for built in lines.built:
        if built.number not in numbers:
            continue
        for graph in built.graphs.graphs:
            updates = 0
            for call in graph.layer_calls:
                updates |= call.serves
            alike: dict[tuple[int, int], list[LayerCall]] = {}
            for call in graph.layer_calls:
                alike.setdefault((call.layer, call.structure), []).append(call)
            for calls in alike.values():
                if len(calls) > 1 and (_same_input(calls) or _for_updates(calls, updates)):
                    yield built.number, graph, calls


def _same_input(calls: list[LayerCall]) -> bool:
    return len({call.inputs for call in calls}) == 1 and not any(call.random for call in calls)


def _for_updates(calls: list[LayerCall], updates: int) -> bool:
    """One pass for each of several optimizers. Several passes for one of them are several updates: needed."""
    disjoint = all(not a.serves & b.serves for i, a in enumerate(calls) for b in calls[i + 1 :])
    return disjoint and any(call.serves for call in calls) and len(calls) <= updates.bit_count()


def _forward(
    function: FunctionTime, number: int, graph: Graph, call: LayerCall
) -> tuple[float, list[Node], list[Node]]:
    """The forward time of a call, the person's line that makes it, and the line of the traced function above."""
    wall = 0.0
    lines: dict[Node, None] = {}
    above: dict[Node, None] = {}
    for (built, _, name), (spent, origin) in function.operations.items():
        if built != number or not name.startswith(f"{call.scope}/") or origin.stage != FORWARD:
            continue
        wall += spent
        way = list(itertools.takewhile(lambda node: node.kind == "line", origin.path))
        if way:
            lines[way[-1]] = above[way[0]] = None
    return wall, list(lines), list(above)


def _metrics(lines: GraphLines, function: FunctionTime) -> Iterator[Finding]:
    """Metrics and summaries: what the training itself does not need."""
    spent: dict[tuple[str, Node | None], float] = {}

    def visit(branch: Branch, line: Node | None) -> None:
        line = branch.node if branch.node.kind == "line" and branch.node.line else line
        if branch.node.kind == "part" and branch.node.name in ("metrics", "summaries"):
            key = (branch.node.name, line)
            spent[key] = spent.get(key, 0.0) + branch.total
            return
        for inner in branch.branches.values():
            visit(inner, line)

    visit(function.root, None)
    total = sum(spent.values())
    share = total / lines.wall
    if share < LEAST_METRICS:
        return
    kinds = sorted({kind for (kind, _), wall in spent.items() if wall >= 0.1 * total})
    words = " and ".join(kinds)
    where = tuple(
        SourceSpan(node.file, node.line, node.name)
        for (_, node), wall in sorted(spent.items(), key=lambda item: -item[1])
        if node is not None and wall >= 0.1 * total
    )
    yield Finding(
        code=METRICS, family="graph", title=f"{words.capitalize()} take {100 * share:.0f} % of every step",
        severity=_severity(share), share_of_step=share, predicted_speedup=1 / (1 - share),
        where=where or _owner(function.owner),
        evidence=(
            Measurement("metrics and summaries per step", _per_step(total, lines), "ms", WINDOW),
            Measurement("share of the step", share, "share", WINDOW),
        ),
        advice=" ".join(_ADVICE[kind] for kind in kinds),
    )


def _slow_layers(lines: GraphLines, function: GraphFunction) -> Iterator[Finding]:
    rated = [row for row in function.layers if row.gflop_per_s and (row.gflop or 0.0) >= LEAST_GFLOP]
    for row in rated:
        others = [item.gflop_per_s or 0.0 for item in rated if item.kind == row.kind and item is not row]
        if len(others) < NEIGHBOURS or not row.gflop_per_s:
            continue
        usual = statistics.median(others)
        share = row.share * (function.ms_per_step or 0.0) * lines.steps * PS_PER_MS / lines.wall
        if share < LEAST_LAYER or row.gflop_per_s * SLOWER > usual:
            continue
        place = next(_lines_of(function, row.layer), None)
        span = SourceSpan(*place) if place else SourceSpan(function.file, function.line, function.function)
        yield Finding(
            code=SLOW_LAYER, family="graph", title=f"{row.layer} computes {usual / row.gflop_per_s:.0f} times more "
            f"slowly than other {row.kind} layers", severity="info", share_of_step=share, predicted_speedup=None,
            where=(span,),
            evidence=(
                Measurement("GFLOP/s of the layer", row.gflop_per_s, "number", WINDOW),
                Measurement(f"GFLOP/s of the other {row.kind} layers (median)", usual, "number", WINDOW),
                Measurement("share of the step", share, "share", WINDOW),
            ),
            advice=(
                "Look at its shapes and its number format: few channels, a dilation or groups, a stride over a large "
                "image, float64, or a size that is no multiple of 8 keep a layer from using the processor well."
            ),
        )


def _lines_of(function: GraphFunction, layer: str) -> Iterator[tuple[str, int, str]]:
    """The lines on which a layer is called, from the outermost."""
    wanted = layer.rpartition("/")[2]
    for top in function.lines:
        pending = [(top, (top.file, top.line, top.function))]
        while pending:
            item, place = pending.pop()
            if item.kind == "layer" and item.name == wanted:
                yield place
            for child in item.children:
                pending.append((child, (child.file, child.line, child.function) if child.kind == "line" else place))


def _owner(owner: Owner) -> tuple[SourceSpan, ...]:
    return (SourceSpan(owner.file, owner.line, owner.function),)


def _per_step(ps: float, lines: GraphLines) -> float:
    return ps / PS_PER_MS / max(lines.steps, 1)


def _severity(share: float) -> Severity:
    return "high" if share >= 0.2 else "medium" if share >= 0.05 else "low"


