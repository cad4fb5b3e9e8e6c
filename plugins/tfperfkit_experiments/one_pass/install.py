"""Calls that are answered with an earlier result of the same graph."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import attribute, module, seams

_PLAIN = (str, int, float, bytes, bool, type(None))
#: The graphs in which a result stands for more than one call.
_shared: set[int] = set()


class Memory:
    """The results of one function, by graph and arguments."""

    def __init__(self, trial: Trial) -> None:
        self._trial = trial
        self._graph: Any = module("tensorflow").compat.v1.get_default_graph
        self._kept: dict[Any, Any] = {}

    def result(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """Of this call, or of the first that was like it."""
        tensorflow: Any = module("tensorflow")
        if tensorflow.executing_eagerly():
            return function(*arguments, **named)
        values = tensorflow.nest.flatten((arguments, named))
        graph = self._graph()
        structure = repr(tensorflow.nest.map_structure(lambda _: 0, (arguments, named)))
        key = id(graph), structure, *(_key(value) for value in values)
        if key not in self._kept:
            # The graph and the arguments are kept with the result, so that no other object gets their place.
            self._kept[key] = graph, values, function(*arguments, **named)
        else:
            _shared.add(id(graph))
            self._trial.applied()
        return self._kept[key][2]


def first_stands(trial: Trial, function: Any) -> Any:
    """While a graph is built."""
    if not callable(function):
        trial.refuse("it is no plain function")
        return function
    memory = Memory(trial)

    @functools.wraps(function)
    def once(*arguments: Any, **named: Any) -> Any:
        return memory.result(function, arguments, named)

    return once


@contextmanager
def install(trial: Trial, layers: bool) -> Iterator[None]:
    """The tape of the second call has not seen the first: gradients are taken from the graph."""
    trial.refuse("nothing was called again with the same arguments while a graph was built")

    def asking(original: Callable[..., Any]) -> Callable[..., Any]:
        def gradient(tape: Any, target: Any, sources: Any, *arguments: Any, **named: Any) -> Any:
            tensorflow: Any = module("tensorflow")
            graph = tensorflow.compat.v1.get_default_graph()
            if tensorflow.executing_eagerly() or id(graph) not in _shared:
                return original(tape, target, sources, *arguments, **named)
            return _by_graph(tensorflow, target, sources, *arguments, **named)

        return gradient

    def calling(original: Callable[..., Any]) -> Callable[..., Any]:
        memories: dict[int, tuple[Any, Memory]] = {}

        def __call__(layer: Any, *arguments: Any, **named: Any) -> Any:
            memory = memories.setdefault(id(layer), (layer, Memory(trial)))[1]
            return memory.result(functools.partial(original, layer), arguments, named)

        return __call__

    with seams() as made:
        made.replace(attribute("tensorflow.python.eager.backprop", "GradientTape"), "gradient", asking)
        if layers:
            trial.when_keras(lambda: made.replace(attribute("keras.src.layers.layer", "Layer"), "__call__", calling))
        yield
    _shared.clear()


def _by_graph(
    tensorflow: Any, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = None
) -> Any:
    """What the tape would give, by way of the graph's own edges."""
    flat = [_variable(source) for source in tensorflow.nest.flatten(sources)]
    found = tensorflow.gradients(
        tensorflow.nest.flatten(target),
        flat,
        grad_ys=None if output_gradients is None else tensorflow.nest.flatten(output_gradients),
        unconnected_gradients=unconnected_gradients or tensorflow.UnconnectedGradients.NONE,
    )
    return tensorflow.nest.pack_sequence_as(sources, found)


def _variable(source: Any) -> Any:
    """TensorFlow's own of one of Keras'."""
    inner = getattr(source, "value", None)
    return source if inner is None or callable(inner) else inner


def _key(value: Any) -> Any:
    return (type(value), value) if isinstance(value, _PLAIN) else id(value)
