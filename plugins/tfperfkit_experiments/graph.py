"""``graph:FUNCTION``: compiles the function with ``tf.function``."""

from __future__ import annotations

import weakref
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.remedy import Compile
from tfperfkit_experiments.on_function import OnFunction
from tfperfkit_experiments.seams import Seams


class Graph(OnFunction):
    """Rounding may differ: a graph is optimised as a whole."""

    name = "graph"
    keeps = "mathematics"
    usage = "graph:FUNCTION"
    remedies = (Compile("step"), Compile("function"), Compile("loop"), Compile("map"))
    limit = 2

    def apply(self, seams: Seams, change: Change) -> None:
        """Let ``tf.constant`` take the tensor of a graph, too: a function that is called with arrays often begins with
        it, and when it is compiled it gets tensors."""
        super().apply(seams, change)
        tensorflow = seams.tensorflow

        def constant(original: Any, value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
            if not tensorflow.is_symbolic_tensor(value) or not seams.called_by_user_graph():
                return original(value, dtype, shape, name)
            made = value if dtype is None else tensorflow.cast(value, dtype)
            return made if shape is None else tensorflow.broadcast_to(made, shape)

        seams.replace(tensorflow, "constant", constant)

    def wrap(self, seams: Seams, function: Any) -> Any:
        """Compile it, unless it is compiled already."""
        if hasattr(function, "get_concrete_function"):
            seams.refuse("the function is compiled already")
            return function
        return _Compiled(seams, function, seams.tensorflow.function(function), None)


class _Compiled:
    """A compiled function. A method is compiled from the second call on of each object: the first call may make the
    object's variables (layers are built, an optimizer gets its state), and Keras makes those unfit for gradients inside
    of a graph.

    ``begun`` holds the bound methods that were called once; None: it is no method. A step that the first call makes is
    not among those of compiled calls, so a comparison of results after as many steps is one step apart and says that
    they differ.
    """

    def __init__(self, seams: Seams, plain: Any, compiled: Any, begun: weakref.WeakSet[Any] | None) -> None:
        self.__wrapped__ = plain
        self._seams, self._compiled, self._begun = seams, compiled, begun
        self._methods: weakref.WeakSet[Any] = weakref.WeakSet()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not self._seams.tensorflow.executing_eagerly():
            self._seams.refuse("what calls the function is compiled already")
            return self.__wrapped__(*arguments, **named)
        if self._begun is not None and self._compiled not in self._begun:
            self._begun.add(self._compiled)
            return self.__wrapped__(*arguments, **named)
        self._seams.applied()
        return self._compiled(*arguments, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = self._compiled.__get__(instance, owner)
        return _Compiled(self._seams, self.__wrapped__.__get__(instance, owner), bound, self._methods)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # AutoGraph would take it for a compiled method of no object
            raise AttributeError(name)
        return getattr(self._compiled, name)
