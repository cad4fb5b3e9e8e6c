"""The seam on graphs: for each outermost trace, what its graphs are made of and which source lines built them.

Nothing runs on the steady path: hooks are in place while a function is traced, and each graph is read once.
"""

from __future__ import annotations

import re
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from tfperfkit import clock
from tfperfkit.instruments.graphs import flops, tracing
from tfperfkit.instruments.graphs.building import Added, Building, Started, started_before
from tfperfkit.instruments.graphs.repeats import Called, assigns, draws, layer_calls
from tfperfkit.instruments.graphs.stacks import Stacks
from tfperfkit.instruments.graphs.tensors import Tensors
from tfperfkit.instruments.graphs.tracing import Traced
from tfperfkit.records.graphs import BACKWARD, FORWARD, HEAVY, UPDATE, Graph, Graphs, Layer

#: Operations kept of one trace. The largest networks in use have some ten thousand.
MAX_OPERATIONS = 60_000
_MAX_REASONS = 10
_CALLING = frozenset(
    {
        "PartitionedCall",
        "StatefulPartitionedCall",
        "While",
        "StatelessWhile",
        "If",
        "StatelessIf",
        "Case",
        "StatelessCase",
        "SymbolicGradient",
        "RemoteCall",
        "TPUPartitionedCall",
    }
)

_FUNCTIONS = frozenset({"PartitionedCall", "StatefulPartitionedCall"})
_RUNTIME_NAME = re.compile(r"^(?:__(?:inference|forward)_)(?P<name>.*?)(?:_\d+)*$")

#: Called with the graphs, the trace (None: built outside of any trace) and the time that reading them took, in ns.
Listener = Callable[[Graphs, Traced | None, int], None]


class GraphSources:
    """Follows traces from ``start`` to ``stop``. The listener is called on the thread that traced.

    ``is_user`` tells the person's own files: the frames of others are left out of the stacks.
    """

    def __init__(self, listener: Listener, is_user: Callable[[str], bool]) -> None:
        self._listener = listener
        self._is_user = is_user
        self._building = Building()
        self._pending: list[tuple[str, Any]] = []
        self._lock = threading.RLock()
        self._undo: list[Callable[[], None]] = []
        self._reasons: list[str] = []

    @property
    def reasons(self) -> list[str]:
        """What could not be told in this TensorFlow, in words; to be asked before ``stop``."""
        limits = [tracing.limits()] if tracing.limits() else []
        return [*limits, *self._reasons, *self._building.reasons]

    def start(self) -> None:
        """Raises ``Unavailable`` where traces can't be followed."""
        self._undo.append(tracing.subscribe(self._traced, self._building.start))
        try:
            self._hook_functions()
        except (ImportError, AttributeError, TypeError) as error:
            self._refuse("gradients of compiled functions under an eager tape have no lines", error)

    def stop(self) -> None:
        while self._undo:
            self._undo.pop()()
        self._building.stop()
        self._pending = []

    def _hook_functions(self) -> None:
        """See functions that no trace announces: forward and backward of a tf.function under an eager tape."""
        from tensorflow.python.eager.polymorphic_function import atomic_function

        original = atomic_function.from_func_graph

        def from_func_graph(name: Any, graph: Any, *arguments: Any, **named: Any) -> Any:
            function = original(name, graph, *arguments, **named)
            try:
                self._made(function.name, graph)
            except Exception as error:
                self._refuse("the graph of a gradient could not be read", error)
            return function

        atomic_function.from_func_graph = from_func_graph

        def restore() -> None:
            if atomic_function.from_func_graph is from_func_graph:
                atomic_function.from_func_graph = original

        self._undo.append(restore)

    def _made(self, name: Any, graph: Any) -> None:
        with self._lock:
            self._pending.append((_text(name), graph))
            # The backward function is made first; its lines are those of the forward function, which follows.
            if not tracing.running() and not str(getattr(graph, "name", "")).startswith("__backward_"):
                self._flush(None)

    def _traced(self, traced: Traced) -> None:
        with self._lock:
            if tracing.running():
                return  # an enclosing trace will tell
            concrete = traced.concrete
            try:
                if concrete is not None and not traced.exporting:
                    self._pending.append((_text(concrete.name), concrete.graph))
                    self._flush(traced)
            except Exception as error:
                self._refuse("the graph of a function could not be read", error)
            finally:
                self._pending = []
                self._building.stop()

    def _refuse(self, what: str, error: Exception) -> None:
        reason = f"{what} ({type(error).__name__}: {error})"
        if reason not in self._reasons and len(self._reasons) < _MAX_REASONS:
            self._reasons.append(reason)

    def _flush(self, traced: Traced | None) -> None:
        began = clock.now_ns()
        pending, self._pending = self._pending, []
        graphs = _Reading(self._building, self._is_user).read(pending)
        self._listener(graphs, traced, clock.now_ns() - began)


class _Reading:
    """Reads the graphs of one trace and what they call."""

    def __init__(self, building: Building, is_user: Callable[[str], bool]) -> None:
        self._building = building
        self._stacks = Stacks(is_user)
        self._tensors = Tensors()
        self._types: dict[str, int] = {}
        self._layers: dict[int, int] = {}
        self._layer_rows: list[Layer] = []
        self._kept = self._left_out = 0
        self._started: dict[int, Sequence[Started]] = {}  # by number of a graph: where replicas began in it

    def read(self, roots: list[tuple[str, Any]]) -> Graphs:
        functions: dict[str, int] = {}
        numbers: dict[int, int] = {}
        graphs: list[Any] = []
        waiting = list(reversed(roots))
        while waiting:
            name, graph = waiting.pop()
            if graph is None or name in functions:
                continue
            if id(graph) not in numbers:
                numbers[id(graph)] = len(graphs)
                graphs.append(graph)
                nested = getattr(graph, "_functions", None) or {}
                waiting += [(_text(key), getattr(item, "graph", None)) for key, item in nested.items()]
            functions[name] = numbers[id(graph)]
        self._find_started(graphs, functions)
        rows = [self._graph(graph, numbers) for graph in graphs]
        self._stacks.finish()
        records = []
        for make in rows:
            records.append(make())
        stacks = self._stacks
        return Graphs(
            functions=functions,
            graphs=records,
            types=list(self._types),
            files=stacks.files,
            frames=stacks.frames,
            stacks=stacks.stacks,
            areas=stacks.areas,
            layers=self._layer_rows,
            tensors=self._tensors.texts,
            left_out=self._left_out,
        )

    def _graph(self, graph: Any, numbers: dict[int, int]) -> Callable[[], Graph]:
        """First half: what needs each operation. The second half runs when the stacks are known."""
        operations = graph.get_operations()
        room = max(MAX_OPERATIONS - self._kept, 0)
        self._left_out += max(len(operations) - room, 0)
        operations = operations[:room]
        self._kept += len(operations)
        names = [operation.name for operation in operations]
        kinds = [operation.type for operation in operations]
        number = numbers[id(graph)]
        scopes = self._building.scopes.get(id(graph), {})
        added = self._building.gradients.get(id(graph), [])
        same = _same_stacks(names, kinds, scopes, added)
        stacks = self._stacks.add(str(number), operations, names, same, self._started.get(number, ()))
        calls: dict[int, list[str]] = {}
        work: dict[int, tuple[float, int]] = {}
        takes: dict[int, list[int]] = {}
        makes: dict[int, list[int]] = {}
        for index, kind in enumerate(kinds):
            types_of = self._tensors.of(operations[index], kind)
            if types_of is not None:
                takes[index], makes[index] = types_of
            if kind in HEAVY:
                amount = flops.work(operations[index])
                if amount is not None:
                    work[index] = (amount.coefficient, amount.power)
            elif kind in _CALLING or kind.endswith(("Dataset", "DatasetV2", "DatasetV3")):
                called = _called(operations[index])
                if called:
                    calls[index] = called
        types = [self._types.setdefault(kind, len(self._types)) for kind in kinds]
        layers = {scope: self._layer(owner) for scope, owner in scopes.items() if hasattr(owner, "_inbound_nodes")}
        optimizers = {scope for scope, owner in scopes.items() if not hasattr(owner, "_inbound_nodes")}
        known = {name: index for index, name in enumerate(names)}
        # A loop that is differentiated gets inputs that were built after it: they don't make it a gradient.
        inputs = (
            [
                [source for tensor in operation.inputs if (source := known.get(tensor.op.name, index)) < index]
                for index, operation in enumerate(operations)
            ]
            if added or layers or any(kinds[index] in _FUNCTIONS for index in calls)
            else []
        )

        def finish() -> Graph:
            stages, forward = self._stages(inputs, stacks, added, numbers)
            differentiated = {
                index: known[name] for index, (of, name) in forward.items() if of == number and name in known
            }
            repeated = layer_calls(
                names,
                kinds,
                stacks,
                inputs,
                stages,
                differentiated,
                layers,
                optimizers,
                self._stacks.innermost(),
                self._functions(graph, kinds, calls),
                _variables(operations, kinds),
            )
            return Graph(
                id=number,
                name=str(getattr(graph, "name", "")),
                operations=names,
                types=types,
                stacks=stacks,
                stages=stages,
                forward=forward,
                calls=calls,
                layers=list(layers.items()),
                layer_calls=repeated,
                work=work,
                takes=takes,
                makes=makes,
            )

        return finish

    def _find_started(self, graphs: list[Any], functions: dict[str, int]) -> None:
        """Where replicas began; of loops and conditions that they built, where in the graph around."""
        known = self._building.replicas
        waiting = [number for number, graph in enumerate(graphs) if id(graph) in known]
        self._started = {number: known[id(graphs[number])] for number in waiting}
        while waiting:
            outer = waiting.pop()
            for index, operation in enumerate(graphs[outer].get_operations()[:MAX_OPERATIONS]):
                for name in _called(operation) if operation.type in _CALLING else ():
                    inner = functions.get(name)
                    if inner is not None and inner not in self._started:
                        self._started[inner] = [started_before(self._started[outer], index)._replace(begin=0)]
                        waiting.append(inner)

    def _stages(
        self, inputs: list[list[int]], stacks: list[int], added: list[Added], numbers: dict[int, int]
    ) -> tuple[str, dict[int, tuple[int, str]]]:
        """The stage of each operation, and what each gradient differentiates.

        Update: an optimizer built it, or it uses gradients and no gradient uses it (a penalty on gradients is
        differentiated again: it belongs to the forward pass).
        """
        count = len(stacks)
        gradient = [stack >= 0 and self._stacks.gradient[stack] for stack in stacks]
        forward: dict[int, tuple[int, str]] = {}
        # A gradient function that runs within another one (a custom gradient) ends first, and tells more.
        for item in reversed(added):
            of = numbers.get(item.of)
            for index in range(item.begin, min(item.end, count)):
                gradient[index] = True
                if of is not None:
                    forward[index] = (of, item.operation)
        optimizer = [stack >= 0 and self._stacks.areas[stack] == "optimizers" for stack in stacks]
        if not any(gradient) or not inputs:
            stages = (BACKWARD if gradient[i] else UPDATE if optimizer[i] else FORWARD for i in range(count))
            return "".join(stages), forward
        uses, used = list(gradient), [False] * count
        for index, sources in enumerate(inputs):
            uses[index] = uses[index] or any(uses[source] for source in sources)
            if gradient[index] and index not in forward:
                # The sum of several gradients: it goes to the first of them.
                same = next((forward[source] for source in sources if source in forward), None)
                if same is not None:
                    forward[index] = same
        for index in reversed(range(count)):
            if gradient[index] or used[index]:
                for source in inputs[index]:
                    used[source] = True
        stages = (
            BACKWARD if gradient[i] else FORWARD if used[i] else UPDATE if uses[i] or optimizer[i] else FORWARD
            for i in range(count)
        )
        return "".join(stages), forward

    def _functions(self, graph: Any, kinds: list[str], calls: dict[int, list[str]]) -> list[Called]:
        """The calls of compiled functions, each function as a layer; what is not called twice is left out."""
        nested = getattr(graph, "_functions", None) or {}
        bodies = {_text(name): getattr(item, "graph", None) for name, item in nested.items()}
        called = {index: item[0] for index, item in calls.items() if kinds[index] in _FUNCTIONS and len(item) == 1}
        often = Counter(id(bodies.get(name)) for name in called.values())
        found = []
        for index, name in called.items():
            body = bodies.get(name)
            if body is not None and often[id(body)] > 1:
                inside = _kinds(body)
                found.append(Called(index, self._function(body, name), draws(inside), assigns(inside)))
        return found

    def _function(self, body: Any, name: str) -> int:
        number = self._layers.get(id(body))
        if number is None:
            number = self._layers[id(body)] = len(self._layer_rows)
            match = _RUNTIME_NAME.match(name)
            self._layer_rows.append(Layer(match["name"] if match else name, "tf.function"))
        return number

    def _layer(self, layer: Any) -> int:
        number = self._layers.get(id(layer))
        if number is None:
            number = self._layers[id(layer)] = len(self._layer_rows)
            self._layer_rows.append(Layer(str(layer.name), type(layer).__name__, _shape(layer)))
        return number


def _same_stacks(names: list[str], kinds: list[str], scopes: dict[str, Any], added: list[Added]) -> list[int]:
    """For each operation the one whose stack it shares; -1 where none is needed.

    What a gradient function added goes to its forward operation. All that one call of a stock layer or of an
    optimizer builds has the same stack, as far as the person's own frames go.
    """
    same = list(range(len(names)))
    for item in added:
        for index in range(item.begin, min(item.end, len(same))):
            same[index] = -1
    single = {scope for scope, owner in scopes.items() if _is_stock(owner)}
    owners: dict[str, str] = {}  # name scope -> the stock layer's scope around it, "" for none
    first: dict[str, int] = {}
    for index, name in enumerate(names):
        if same[index] < 0:
            continue
        if kinds[index] in ("Const", "Placeholder"):
            same[index] = -1
            continue
        scope = name.rpartition("/")[0]
        owner = owners.get(scope)
        if owner is None:
            owner = scope
            while owner and owner not in single:
                owner = owner.rpartition("/")[0]
            owners[scope] = owner
        if owner:
            same[index] = first.setdefault(owner, index)
    return same


def _is_stock(owner: Any) -> bool:
    """Whether no code of the person's runs within: a layer of Keras' own without layers in it, an optimizer."""
    activation = getattr(owner, "activation", None)
    own = (owner, activation) if activation is not None else (owner,)
    modules = [getattr(item, "__module__", None) or "" for item in own]
    return all(module.startswith("keras.") for module in modules) and not getattr(owner, "_layers", None)


def _variables(operations: list[Any], kinds: list[str]) -> set[int]:
    """The operations that hand variables, and other resources, into a graph."""
    handed = (index for index, kind in enumerate(kinds) if kind == "Placeholder")
    return {index for index in handed if operations[index].outputs[0].dtype.name == "resource"}


def _kinds(graph: Any) -> set[str]:
    """The types of operations in a graph and in all that it calls."""
    found: set[str] = set()
    pending, seen = [graph], {id(graph)}
    while pending:
        here = pending.pop()
        found.update(operation.type for operation in here.get_operations())
        for item in (getattr(here, "_functions", None) or {}).values():
            inner = getattr(item, "graph", None)
            if inner is not None and id(inner) not in seen:
                seen.add(id(inner))
                pending.append(inner)
    return found


def _called(operation: Any) -> list[str]:
    found = []
    for value in operation.node_def.attr.values():
        if value.HasField("func"):
            found.append(value.func.name)
        found += [item.name for item in value.list.func]
    return found


def _shape(layer: Any) -> str:
    try:
        shape = layer._inbound_nodes[-1].output_tensors[0].shape
        return "×".join("?" if size is None else str(size) for size in shape[1:])
    except Exception:
        return ""


def _text(name: Any) -> str:
    return name.decode("utf-8", "replace") if isinstance(name, bytes) else str(name)
