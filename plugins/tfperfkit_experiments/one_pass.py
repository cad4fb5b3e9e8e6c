"""``one-pass`` or ``one-pass:FUNCTION``: reuses the first result of a function that is called again with the same
arguments while a graph is built, and takes gradients through it. Without a function: each layer and model of Keras."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import ReplaceOps
from tfperfkit.syntax.script import parse_file, repeated_functions
from tfperfkit_experiments.findings import functions
from tfperfkit_experiments.on_function import OnFunction, identity
from tfperfkit_experiments.seams import LAYER, TAPE, Seams

#: The ids of graphs in which a result is used for more than one call.
_shared: set[int] = set()


class OnePass(OnFunction):
    """Random numbers are drawn once, and the second call does not see what was updated since the first."""

    name = "one-pass"
    keeps = "nothing"
    usage = "one-pass or one-pass:FUNCTION"
    remedies = (ReplaceOps("one_pass"),)

    def problem(self, change: Change, /) -> str | None:
        """Accept a function or nothing."""
        return None if change == Change(self.name) else super().problem(change)

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """The innermost function on the finding's lines that the script calls more than once, else Keras' layers."""
        names: list[str] = []
        for file in sorted({span.file for span in finding.where}):
            if (tree := parse_file(file)) is not None:
                lines = {span.line for span in finding.where if span.file == file}
                names += repeated_functions(tree, lines, functions(finding))
        yield Change(self.name, next(iter(names), ""))

    def edits(self, change: Change, /) -> Iterable[str]:
        """The function, if one is named."""
        return (change.target,) if change.target else ()

    def apply(self, seams: Seams, change: Change) -> None:
        """Take gradients from the graph, since the tape around the second call has not seen the first; reuse the
        results of layers unless a function is named."""
        seams.refuse("nothing was called again with the same arguments while a graph was built")
        memories: dict[int, tuple[Any, _Memory]] = {}

        def gradient(original: Any, tape: Any, target: Any, sources: Any, *arguments: Any, **named: Any) -> Any:
            tensorflow = seams.tensorflow
            graph = tensorflow.compat.v1.get_default_graph()
            if tensorflow.executing_eagerly() or id(graph) not in _shared:
                return original(tape, target, sources, *arguments, **named)
            return _gradient_of_graph(tensorflow, target, sources, *arguments, **named)

        def call(original: Any, layer: Any, /, *arguments: Any, **named: Any) -> Any:
            memory = memories.setdefault(id(layer), (layer, _Memory(seams)))[1]
            return memory.result(functools.partial(original, layer), arguments, named)

        seams.at_end(_shared.clear)
        seams.replace(TAPE, "gradient", gradient)
        if not change.target:
            seams.replace_in_keras(LAYER, "__call__", call)

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Reuse results while a graph is built."""
        memory = _Memory(seams)

        @functools.wraps(function)
        def once(*arguments: Any, **named: Any) -> Any:
            return memory.result(function, arguments, named)

        return once


class _Memory:
    """The results of one function, by graph and arguments."""

    def __init__(self, seams: Seams) -> None:
        self._seams = seams
        self._kept: dict[Any, Any] = {}

    def result(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The result of the first call in this graph with these arguments."""
        tensorflow = self._seams.tensorflow
        if tensorflow.executing_eagerly():
            return function(*arguments, **named)
        values = tensorflow.nest.flatten((arguments, named))
        graph = tensorflow.compat.v1.get_default_graph()
        structure = repr(tensorflow.nest.map_structure(lambda _: 0, (arguments, named)))
        key = id(graph), structure, *map(identity, values)
        if key not in self._kept:
            # The graph and the arguments are kept with the result, so that no other object gets their ids.
            self._kept[key] = graph, values, function(*arguments, **named)
        else:
            _shared.add(id(graph))
            self._seams.applied()
        return self._kept[key][2]


def _gradient_of_graph(
    tensorflow: Any, target: Any, sources: Any, output_gradients: Any = None, unconnected_gradients: Any = None
) -> Any:
    """Compute the tape's result along the edges of the graph."""
    flat = [_variable(source) for source in tensorflow.nest.flatten(sources)]
    found = tensorflow.gradients(
        tensorflow.nest.flatten(target),
        flat,
        grad_ys=None if output_gradients is None else tensorflow.nest.flatten(output_gradients),
        unconnected_gradients=unconnected_gradients or tensorflow.UnconnectedGradients.NONE,
    )
    return tensorflow.nest.pack_sequence_as(sources, found)


def _variable(source: Any) -> Any:
    """TensorFlow's variable inside one of Keras'."""
    inner = getattr(source, "value", None)
    return source if inner is None or callable(inner) else inner
