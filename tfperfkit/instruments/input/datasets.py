"""tf.data pipelines as they are built: each dataset with the user's line, each iterator with its dataset.

The seams are the constructors of datasets and iterators, cold paths in a healthy script. Nothing of TensorFlow is
called that makes an operation, a name or a random number; datasets, graphs and iterators are held weakly.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, NamedTuple, Protocol

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.hooks.frame_locals import local
from tfperfkit.instruments.input.describe import describe, generator_of
from tfperfkit.instruments.stacks import call_site
from tfperfkit.records.pipelines import MadeDataset, MadeIterator, Maker, Origin, Place

#: Of one kind at one line this many datasets are described; further ones are counted.
MAX_ALIKE = 32
MAX_DATASETS = 2_000
_KERAS_WAYS = ("fit", "evaluate", "predict", "train_on_batch", "test_on_batch")


class _Token(NamedTuple):
    """A dataset or an iterator that is being made. ``passed``: number of the dataset that it stands for."""

    made: Any
    origin: Origin
    generator: Place | None
    passed: int


class Listener(Protocol):
    """Receiver of new datasets and iterators, called on the thread that made them.

    ``iterator`` must not keep the object.
    """

    def dataset(self, made: MadeDataset) -> None: ...
    def iterator(self, made: MadeIterator, iterator: Any) -> None: ...


class Pipelines:
    """Installs the seams. ``made`` counts all datasets by class, those beyond the described ones included."""

    def __init__(self, listener: Listener, is_user: Callable[[str], bool]) -> None:
        self._listener = listener
        self._is_user = is_user
        self._lock = threading.RLock()  # a signal handler may make a dataset too
        self._restores: list[Callable[[], None]] = []
        self._datasets: dict[int, tuple[int, weakref.ref[Any]]] = {}
        self._graphs: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._passed = Passed()
        self._alike: Counter[tuple[Any, ...]] = Counter()
        self._iterators: Counter[tuple[Any, ...]] = Counter()
        self._last_dataset = self._last_graph = self._last_iterator = 0
        self.made: Counter[str] = Counter()
        self.cost_ns = 0

    def install(self) -> None:
        """Raises Unavailable when TensorFlow has no such constructors."""
        datasets = sys.modules.get("tensorflow.python.data.ops.dataset_ops")
        iterators = sys.modules.get("tensorflow.python.data.ops.iterator_ops")
        if datasets is None or iterators is None:
            raise Unavailable("tf.data is not loaded")
        try:
            self._restores.append(
                method_seam.install(datasets.DatasetV2, "__init__", self._before, self._after_dataset)
            )
            self._restores.append(
                method_seam.install(iterators.OwnedIterator, "__init__", self._before, self._after_iterator)
            )
        except (Unavailable, AttributeError) as error:
            self.restore()
            raise Unavailable(f"the making of tf.data pipelines can't be observed ({error})") from error

    def restore(self) -> None:
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()

    # --- seams --------------------------------------------------------------------------------------------------

    def _before(self, instance: Any) -> _Token:
        begin = now_ns()
        frame = sys._getframe(2)
        kind = type(instance).__name__
        # The generator function of from_generator, and what is passed to a compiled function, are in the reach of
        # their frames only.
        made = generator_of(frame) if kind == "_GeneratorDataset" else None
        passed = self._passed.number(frame, instance, self.number) if kind == "_VariantDataset" else 0
        token = _Token(instance, self._origin(frame), made, passed)
        self.cost_ns += now_ns() - begin
        return token

    def _after_dataset(self, token: _Token, called: bool) -> None:
        begin = now_ns()
        if called and hasattr(token.made, "_variant_tensor_attr"):
            self._describe(token, begin)
        self.cost_ns += now_ns() - begin

    def _after_iterator(self, token: _Token, called: bool) -> None:
        begin = now_ns()
        iterator, origin = token.made, token.origin
        # One without a dataset is a handle of another, rebuilt where it enters a compiled function.
        dataset = getattr(iterator, "_dataset", None)
        if called and dataset is not None:
            key = (self.number(dataset) if origin.by == "keras" else 0, origin)
            with self._lock:
                self._last_iterator += 1
                self._iterators[key] += 1
                made = self._iterators[key]
            resource = getattr(iterator, "_iterator_resource", None)
            self._listener.iterator(
                MadeIterator(
                    number=self._last_iterator,
                    dataset=self.number(dataset),
                    origin=origin,
                    made=made,
                    ns=begin,
                    in_graph=not hasattr(resource, "numpy"),
                ),
                iterator,
            )
        self.cost_ns += now_ns() - begin

    def _describe(self, token: _Token, begin: int) -> None:
        dataset, origin = token.made, token.origin
        kind = type(dataset).__name__
        with self._lock:
            self.made[kind] += 1
            self._alike[kind, origin] += 1
            if self._alike[kind, origin] > MAX_ALIKE or self._last_dataset >= MAX_DATASETS:
                return
            self._last_dataset += 1
            number = self._last_dataset
            self._datasets[id(dataset)] = (number, weakref.ref(dataset))
        graph = _building(dataset)
        about, function_graph = describe(dataset, token.generator)
        inputs = tuple(self.number(item) for item in dataset._inputs())
        self._listener.dataset(
            MadeDataset(
                number=number,
                cls=kind,
                inputs=(token.passed,) if token.passed else inputs,
                origin=origin,
                about=about,
                function_graph=self._graph(function_graph),
                graph=self._graph(graph),
                graph_name=str(getattr(graph, "name", "")),
                ns=begin,
            )
        )

    # --- identities ---------------------------------------------------------------------------------------------

    def number(self, dataset: Any) -> int:
        """Return the number of a dataset; 0 for one that was not described."""
        known = self._datasets.get(id(dataset))
        return known[0] if known is not None and known[1]() is dataset else 0

    def _graph(self, graph: Any) -> int:
        if graph is None:
            return 0
        with self._lock:
            number = self._graphs.get(graph)
            if number is None:
                self._last_graph += 1
                number = self._graphs[graph] = self._last_graph
            return number

    def _origin(self, frame: FrameType | None) -> Origin:
        by: Maker | None = None
        way = ""
        while frame is not None:
            name = frame.f_code.co_filename
            if call_site.is_machinery(name):
                if "keras" in name:
                    by = by or "keras"
                    if not way and frame.f_code.co_name in _KERAS_WAYS:
                        way = frame.f_code.co_name
                place = None
            else:
                place = call_site.original_place(name, frame.f_lineno, frame.f_code.co_name)
            if place is not None:
                if self._is_user(place.file):
                    return Origin(
                        file=place.file,
                        line=place.line,
                        function=place.function,
                        by=by or "user",
                        way=way,
                    )
                by = by or "library"
            frame = frame.f_back
        return Origin(by=by or "library", way=way)


def _building(dataset: Any) -> Any:
    """Return the graph that the dataset belongs to; None for an eager dataset."""
    variant = dataset._variant_tensor_attr
    return None if hasattr(variant, "numpy") else getattr(variant, "graph", None)


#: TensorFlow's function that traces for the arguments it is given, and the number of frames that are looked at.
_TRACING, _FRAMES = "_maybe_define_function", 60
_DEEPEST = 8


class Passed:
    """Remembers, of each graph that is being built, which arguments have been found. Holds graphs weakly."""

    def __init__(self) -> None:
        self._taken: weakref.WeakKeyDictionary[Any, set[int]] = weakref.WeakKeyDictionary()

    def number(self, frame: FrameType | None, stand_in: Any, number: Callable[[Any], int]) -> int:
        """Return the number of the dataset that ``stand_in`` is in a graph; 0 if that is none that is known."""
        for _ in range(_FRAMES):
            if frame is None:
                return 0
            if frame.f_code.co_name == _TRACING:
                break
            frame = frame.f_back
        else:
            return 0
        bound, graph = local(frame, "bound_args"), local(frame, "func_graph")
        if bound is None or graph is None:
            return 0
        taken = self._taken.setdefault(graph, set())
        for dataset in _datasets((bound.args, bound.kwargs)):
            found = number(dataset)
            if found and found not in taken and dataset.element_spec == stand_in.element_spec:
                taken.add(found)
                return found
        return 0


def _datasets(value: Any, depth: int = 0) -> Iterator[Any]:
    """In the order of the arguments; of their attributes only what a plain container holds."""
    if depth > _DEEPEST:
        return
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from _datasets(item, depth + 1)
    elif hasattr(type(value), "element_spec") and hasattr(type(value), "_inputs"):
        yield value
