"""The time of one function as a tree: its lines, unfolded along the calls down to Keras' layers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tfperfkit.graph.stages import BACKWARD, FORWARD, UPDATE
from tfperfkit_probes.lines.graph.origin import Node, Origin, Owner

STAGES = (FORWARD, BACKWARD, UPDATE)


@dataclass
class Branch:
    """A node of the tree and all below it. Times in ps over the whole window, by stage."""

    node: Node
    wall: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    busy: float = 0.0
    own_wall: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))  # without its branches
    branches: dict[Node, Branch] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.wall.values())

    def add(self, path: tuple[Node, ...], stage: str, wall: float, busy: float) -> None:
        """Add time at the end of a path below this node."""
        self.wall[stage] += wall
        self.busy += busy
        if not path:
            self.own_wall[stage] += wall
            return
        inner = self.branches.get(path[0])
        if inner is None:
            inner = self.branches[path[0]] = Branch(path[0])
        inner.add(path[1:], stage, wall, busy)

    def walk(self) -> Iterator[Branch]:
        """This branch and all below it."""
        yield self
        for inner in self.branches.values():
            yield from inner.walk()


@dataclass
class LayerTime:
    """A Keras layer in the window: ps of wall time by stage, and its floating-point operations where known."""

    kind: str
    shape: str
    wall: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0))
    flops: float = 0.0
    flops_wall: float = 0.0  # of the operations whose work is known


@dataclass
class Ran:
    """An operation in the window: ps, its runs, its floating-point operations where they are known. ``alone``: of
    ``wall``, where nothing else ran."""

    wall: float = 0.0
    alone: float = 0.0
    busy: float = 0.0
    runs: float = 0.0
    flops: float | None = None
    direct: bool = False  # made by the line itself, in no layer or part of Keras below it
    place: tuple[str, int] = ("", 0)  # the innermost of the user's lines
    of: str = ""  # the operation, by its name in its graph; of a gradient the one that it differentiates
    moved: float | None = None  # bytes, where the shapes tell
    shapes: str = ""


@dataclass
class FunctionTime:
    """All calls of one Python function that ran as a graph."""

    owner: Owner
    root: Branch = field(default_factory=lambda: Branch(Node("line", "")))
    calls: int = 0
    wall: float = 0.0
    idle: float = 0.0
    busy_matched: float = 0.0
    busy_unmatched: float = 0.0
    unmatched: dict[str, float] = field(default_factory=dict)  # name:type -> wall
    unmatched_wall: float = 0.0
    divided_wall: float = 0.0  # of kernels whose time was divided over several operations
    saved_wall: float = 0.0  # of operations loaded without source lines
    layers: dict[str, LayerTime] = field(default_factory=dict)
    #: (number of the trace, runtime's function, operation) -> ps of wall time, where it comes from
    operations: dict[tuple[int, str, str], tuple[float, Origin]] = field(default_factory=dict)
    #: (stage, name, type, layer) -> what ran of it
    ran: dict[tuple[str, str, str, str], Ran] = field(default_factory=dict)
    waits: float = 0.0  # ps of wall time of operations that only wait for others
    jit: bool = False

    @property
    def matched_share(self) -> float | None:
        busy = self.busy_matched + self.busy_unmatched
        return self.busy_matched / busy if busy else None

    def add(self, origin: Origin, wall: float, busy: float) -> LayerTime | None:
        """Add the time of an operation; gives the layer that it belongs to, if any."""
        self.root.add(origin.path, origin.stage, wall, busy)
        self.busy_matched += busy
        if origin.saved:
            self.saved_wall += wall
        names = [node.name for node in origin.path if node.kind == "layer"]
        if not names:
            return None
        last = next(node for node in reversed(origin.path) if node.kind == "layer")
        layer = self.layers.setdefault("/".join(names), LayerTime(last.detail, last.shape))
        layer.wall[origin.stage] += wall
        return layer
