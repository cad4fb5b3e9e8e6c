"""Graph lines: join the trace with what was recorded while the graphs were built.

This includes the functions of an input pipeline (``Dataset.map``), which run on tf.data's threads next to the step, and
the calls that were under way when the trace began or ended, which left no event. A trace names operations, not the
function that they belong to: if several functions have an operation of that name, the one with the most operations seen
gets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from tfperfkit.errors import Unavailable
from tfperfkit.graph.bounds import Tensor, moved
from tfperfkit.probe import Capture
from tfperfkit.storage.safe_reader import trace_files
from tfperfkit.xplane import Plane, Space, open_space
from tfperfkit.xplane.hlo import Module, read_modules
from tfperfkit.xplane.names import HOST, SESSION_RUN
from tfperfkit.xplane.spans import Span
from tfperfkit_probes.lines.graph.account import CallTime, Usage, divide
from tfperfkit_probes.lines.graph.calls import base_name
from tfperfkit_probes.lines.graph.device import read_kernels
from tfperfkit_probes.lines.graph.locate import Locator
from tfperfkit_probes.lines.graph.model import LEFT_OUT, BuiltGraphs, read_graphs
from tfperfkit_probes.lines.graph.origin import Origin, Origins, Owner
from tfperfkit_probes.lines.graph.trace import Activity, Call, CallIndex, Key, read_activity
from tfperfkit_probes.lines.graph.tree import FunctionTime, LayerTime, Ran
from tfperfkit_probes.tfprof.analysis import choose_steps, whole
from tfperfkit_probes.tfprof.host import has_steps, read_host

_TOO_MANY = "the graphs hold too many operations: those beyond the limit have no source lines"


@dataclass
class GraphLines:
    """The functions that ran as graphs in the traced steps, the longest first. Times in ps over all steps.

    ``steps`` is 0 where there are none in the trace: then all of it counts, as one stretch.
    """

    steps: int = 0
    wall: int = 0
    functions: list[FunctionTime] = field(default_factory=list)
    pipeline: list[FunctionTime] = field(default_factory=list)  # tf.data's functions: busy time on its threads
    built: list[BuiltGraphs] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    batch: int = 0
    calls: Counter[str] = field(default_factory=Counter)  # by the runtime's names of the functions

    @property
    def graph_wall(self) -> float:
        return sum(function.wall for function in self.functions)


def analyse(capture: Capture) -> GraphLines:
    """Raises ``Unavailable`` with the reason when there is no trace or nothing was recorded."""
    built = list(read_graphs(capture))
    if not built:
        raise Unavailable("no tf.function was traced in the script")
    found = trace_files(capture.trace_dir)
    if not found:
        raise Unavailable(
            "lines inside compiled functions come from the trace of the probe tfprof, and there is none: "
            "run with --probes lines,tfprof, and for enough steps"
        )
    # The one of the steps, which may be followed by one of what ran after them.
    for file in found[:-1]:
        with open_space(file) as space:
            if has_steps(space):
                return _join(space, capture, built)
    with open_space(found[-1]) as space:
        return _join(space, capture, built)


def _join(space: Space, capture: Capture, built: list[BuiltGraphs]) -> GraphLines:
    plane = space.plane(HOST)
    if plane is None:
        raise Unavailable("the trace has no host plane")
    host = read_host(plane)
    markers, counts, _ = choose_steps(sorted(host.training.markers), capture.steps)
    window = [marker.span for marker in markers] or whole(host)
    if not window:
        raise Unavailable("nothing of TensorFlow ran in the trace")
    activity, modules = plane.once(_activity, *window)
    lines = GraphLines(
        steps=sum(counts),
        wall=sum(span.end - span.begin for span in window),
        built=built,
        notes=[_TOO_MANY] if any(item.graphs is LEFT_OUT for item in built) else [],
        batch=capture.steps.batch_size,
    )
    joint = _Joint(lines, modules)
    calls = name_sessions(with_cut(activity, host.cut, built), activity, built)
    for time in divide(calls, activity.segments, read_kernels(space, window), joint.work_of, host.fetches):
        joint.add(time)
    lines.functions = sorted(joint.functions.values(), key=lambda item: -item.wall)
    lines.pipeline = in_pipeline(built, activity.pipeline)
    return lines


def _activity(plane: Plane, *window: Span) -> tuple[Activity, dict[str, Module]]:
    modules = read_modules(plane.space)

    def cost(module: str, instruction: str) -> float | None:
        known = modules.get(module)
        return known.cost(instruction) if known is not None else 0.0

    return read_activity(plane, read_host(plane), list(window), cost), modules


class _Joint:
    """Adds the calls of the runtime's functions to the Python functions that they are of."""

    def __init__(self, lines: GraphLines, modules: dict[str, Module]) -> None:
        self.functions: dict[Owner, FunctionTime] = {}
        self._lines = lines
        self._modules = modules
        self._by_function: dict[str, BuiltGraphs] = {}
        self._described: dict[str, BuiltGraphs] = {}
        self._origins: dict[int, Origins] = {}
        for item in lines.built:
            for name in item.graphs.functions:
                self._by_function[name] = item
            if item.function:
                for graph in item.graphs.graphs:
                    if graph.name == item.function or item.graphs.functions and graph.id == 0:
                        self._described.setdefault(item.function, item)

    def add(self, time: CallTime) -> None:
        function = time.function
        origins = self._origins_of(function)
        owner = origins.owner if origins is not None else Owner("", 0, base_name(function))
        total = self.functions.setdefault(owner, FunctionTime(owner))
        total.calls += time.calls
        self._lines.calls[function] += time.calls
        total.wall += time.wall
        total.idle += time.idle
        total.jit = total.jit or bool(origins and origins.built.jit_compile)
        worked: dict[str, tuple[LayerTime, Origin, int, float]] = {}  # operation -> what it did
        for key, usage in time.usage.items():
            parts = self._parts(origins, function, key)
            total.jit = total.jit or bool(key.module)
            known = sum(share for _, share, _ in parts)
            if known < 1.0 - 1e-9:
                rest = 1.0 - known
                total.busy_unmatched += usage.busy * rest
                total.unmatched_wall += usage.wall * rest
                label = f"{key.name}:{key.type}"
                total.unmatched[label] = total.unmatched.get(label, 0.0) + usage.wall * rest
            if len(parts) > 1:
                total.divided_wall += usage.wall * known
            waits = usage.wall and not usage.busy
            total.waits += usage.wall * known if waits else 0.0
            for origin, share, name in parts:
                if not waits:
                    self._note(total, origin, key, usage, share)
                layer = total.add(origin, usage.wall * share, usage.busy * share)
                if layer is not None and origin.work is not None:
                    # XLA makes several kernels of one operation: the operation ran as often as its most frequent
                    # kernel.
                    _, _, runs, wall = worked.get(name, (layer, origin, 0, 0.0))
                    worked[name] = (layer, origin, max(runs, usage.runs), wall + usage.wall * share)
                assert origins is not None
                place = (origins.built.number, function, name)
                before = total.operations.get(place, (0.0, origin))[0]
                total.operations[place] = (before + usage.wall * share, origin)

        for layer, origin, runs, wall in worked.values():
            if flops := self._flops(origin):
                layer.flops += flops * runs
                layer.flops_wall += wall

    def _note(self, total: FunctionTime, origin: Origin, key: Key, usage: Usage, share: float) -> None:
        """Add an operation to what ran of the function."""
        layer = "/".join(node.name for node in origin.path if node.kind == "layer")
        ran = total.ran.setdefault((origin.stage, key.name, origin.type if key.module else key.type, layer), Ran())
        ran.place = next(((each.file, each.line) for each in reversed(origin.path) if each.kind == "line"), ("", 0))
        ran.of = origin.of
        ran.direct = bool(origin.path) and origin.path[-1].kind == "line"
        ran.wall += usage.wall * share
        ran.alone += usage.alone * share
        ran.busy += usage.busy * share
        ran.runs += usage.runs * share
        if flops := self._flops(origin):
            ran.flops = (ran.flops or 0.0) + flops * usage.runs
        if origin.tensors is not None and not key.module:  # XLA's kernels keep what they make to themselves
            ran.shapes = _shapes(origin.tensors, self._lines.batch)
            amount = moved(origin.type, *origin.tensors, self._lines.batch)
            if amount is not None:
                ran.moved = (ran.moved or 0.0) + amount * usage.runs

    def work_of(self, function: str, key: Key) -> float:
        """The floating-point operations of one run of an operation; 0 where they are not known."""
        if key.module:
            return 0.0  # its kernels bring their own
        return sum(self._flops(origin) for origin, _, _ in self._parts(self._origins_of(function), function, key))

    def _flops(self, origin: Origin) -> float:
        coefficient, power = origin.work or (0.0, 0)
        return coefficient * float(self._lines.batch) ** power if power == 0 or self._lines.batch else 0.0

    def _parts(self, origins: Origins | None, function: str, key: Key) -> list[tuple[Origin, float, str]]:
        """The origins of what ran, with their shares of its time, and the names of the operations."""
        graph = origins.graph_of(function) if origins is not None else None
        if origins is None or graph is None:
            return []
        if not key.module:
            origin = origins.origin(graph, key.name, key.type)
            return [(origin, 1.0, key.name)] if origin is not None else []
        module = self._modules.get(key.module)
        if module is None:
            return []
        inner = _module_graph(key.module, origins)
        found = []
        for part in module.parts(key.name):
            origin = origins.origin(graph if inner is None else inner, part.operation, root=graph)
            if origin is not None:
                found.append((origin, part.share, part.operation))
        return found

    def _origins_of(self, function: str) -> Origins | None:
        built = self._by_function.get(function)
        if built is None:
            return None
        if built.number not in self._origins:
            described = built if built.function else self._described.get(base_name(function))
            self._origins[built.number] = Origins(built, described)
        return self._origins[built.number]


def _shapes(tensors: tuple[Sequence[Tensor], Sequence[Tensor]], batch: int) -> str:
    takes, makes = (", ".join(each.words(batch) for each in part if each.dtype != "resource") for part in tensors)
    return f"{takes} → {makes}" if makes else takes


def _module_graph(module: str, origins: Origins) -> int | None:
    """The graph that an XLA module was compiled from: ``a_inference_step_42__XlaMustCompile_true_...``."""
    name = module.removeprefix("a_").removeprefix("cluster_")
    best: tuple[int, int] | None = None
    for function, number in origins.built.graphs.functions.items():
        plain = function.lstrip("_")
        if name.startswith(f"{plain}__") and (best is None or len(plain) > best[0]):
            best = (len(plain), number)
    return best[1] if best else None


def in_pipeline(built: Iterable[BuiltGraphs], busy: Mapping[str, int]) -> list[FunctionTime]:
    """Return the user functions in the pipeline with their busy time, the longest first; ``busy``: by operation."""
    candidates = [
        (Origins(item), {name for graph in item.graphs.graphs for name in graph.operations})
        for item in built
        if item.owner == "tf.data"
    ]
    if not busy or not candidates:
        return []
    candidates.sort(key=lambda pair: -len(pair[1] & busy.keys()))
    found: dict[Owner, FunctionTime] = {}
    for name, spent in busy.items():
        origins = next((item for item, names in candidates if name in names), None)
        if origins is None:
            continue
        root = next(iter(origins.built.graphs.functions.values()), 0)
        origin = origins.origin(root, name)
        if origin is None or not origins.built.file:
            continue
        total = found.setdefault(origins.owner, FunctionTime(origins.owner))
        total.wall += spent
        total.add(origin, float(spent), float(spent))
    return sorted(found.values(), key=lambda item: -item.wall)


#: How many names are looked up: those that took longest.
_NAMES = 50


def with_cut(activity: Activity, cut: Sequence[Span], built: Sequence[BuiltGraphs]) -> list[Call]:
    """The calls, with those that the trace holds a part of if most of their operations identify their function."""
    named = ((_name_cut(activity, span, built), span) for span in cut)
    added = [Call(function, *span) for function, span in named if function]
    return sorted([*activity.calls, *added], key=lambda call: (call.begin, -call.end))


def _name_cut(activity: Activity, span: Span, built: Sequence[BuiltGraphs]) -> str:
    took: Counter[tuple[str, str]] = Counter()
    for segment in activity.segments:
        if span.begin <= segment.begin < span.end and not segment.key.module:
            took[segment.key.name, segment.key.type] += segment.end - segment.begin
    names = [name for name, _ in took.most_common(_NAMES)]
    found = {
        function: sum(_built_there(locator, item, number, *name) for name in names)
        for item in built
        for locator in (Locator(item.graphs),)
        for function, number in item.graphs.functions.items()
        if function.startswith("__")
    }
    function = max(found, key=lambda name: (found[name], name), default="")
    return function if function and 2 * found[function] > len(names) else ""


def name_sessions(calls: list[Call], activity: Activity, built: Sequence[BuiltGraphs]) -> list[Call]:
    """Name the runs of sessions by what they compute: the least that has most of the operations that ran in one."""
    if all(call.function != SESSION_RUN for call in calls):
        return calls
    locators = [(item, Locator(item.graphs)) for item in built if item.owner == "session" and item.graphs.graphs]
    locators.sort(key=lambda pair: len(pair[0].graphs.graphs[0].operations))
    index = CallIndex(calls)
    ran: list[set[str]] = [set() for _ in index.calls]
    for segment in activity.segments:
        number = index.at(segment.begin)
        if number is not None and not segment.key.module:
            ran[number].add(segment.key.name)

    @cache
    def choose(names: frozenset[str]) -> str:
        found = [sum(_built_there(locator, item, 0, name) for name in names) for item, locator in locators]
        most = max(found, default=0)
        if 2 * most <= len(names):
            return SESSION_RUN
        return next(iter(locators[found.index(most)][0].graphs.functions))

    return [
        call._replace(function=choose(frozenset(names))) if call.function == SESSION_RUN else call
        for call, names in zip(index.calls, ran, strict=True)
    ]


def _built_there(locator: Locator, item: BuiltGraphs, root: int, name: str, kind: str = "") -> bool:
    """Whether a function, or one that it calls, has this operation, not just one in the same scope. ``kind``: its type,
    "" for any: a fused kernel has another."""
    chain = locator.find(root, name)
    if chain is None:
        return False
    graph, index = chain[-1]
    row = item.graphs.graphs[graph]
    same_name = row.operations[index].rpartition("/")[2] == name.rpartition("/")[2]
    return same_name and kind in ("", item.graphs.types[row.types[index]])
