"""Puts a function of the person's in ``tf.function``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.replaced import called_from, module, seams


def in_graph(trial: Trial, function: Any) -> Any:
    """Unless it is compiled already."""
    if hasattr(function, "get_concrete_function"):
        trial.refuse("the function is compiled already")
        return function
    if not callable(function):  # a property, a class method
        trial.refuse("it is no plain function")
        return function
    return Compiled(trial, function, module("tensorflow").function(function), None)


class Compiled:
    """A function that is compiled; a method from the second call on of each object: the first one may make the object's
    variables (layers are built, an optimizer gets its state), which Keras does not make fit for gradients inside of a
    graph. ``begun``: what was called once, as compiled; None: it is no method.

    A step that the first call makes is not among those that compiled calls make, so a comparison of results after as
    many steps is one step apart then, and says that they differ.
    """

    def __init__(self, trial: Trial, plain: Any, compiled: Any, begun: weakref.WeakSet[Any] | None) -> None:
        self.__wrapped__ = plain
        self._trial, self._compiled, self._begun = trial, compiled, begun
        self._methods: weakref.WeakSet[Any] = weakref.WeakSet()

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        if not module("tensorflow").executing_eagerly():
            self._trial.refuse("what calls the function is compiled already")
            return self.__wrapped__(*arguments, **named)
        if self._begun is not None and self._compiled not in self._begun:
            self._begun.add(self._compiled)
            return self.__wrapped__(*arguments, **named)
        self._trial.applied()
        return self._compiled(*arguments, **named)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound = self._compiled.__get__(instance, owner)
        return Compiled(self._trial, self.__wrapped__.__get__(instance, owner), bound, self._methods)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # AutoGraph would take it for a compiled method of no object
            raise AttributeError(name)
        return getattr(self._compiled, name)


@contextmanager
def constants_of_tensors(trial: Trial) -> Iterator[None]:
    """``tf.constant(x)`` takes the tensor of a graph, too: a function that is called with arrays often begins so, and
    compiled it gets tensors."""
    tensorflow = module("tensorflow")

    def making(original: Callable[..., Any]) -> Callable[..., Any]:
        def constant(value: Any, dtype: Any = None, shape: Any = None, name: str = "Const") -> Any:
            if not tensorflow.is_symbolic_tensor(value) or not called_from(trial.is_user_code):
                return original(value, dtype, shape, name)
            made = value if dtype is None else tensorflow.cast(value, dtype)
            return made if shape is None else tensorflow.broadcast_to(made, shape)

        return constant

    with seams() as made:
        made.replace(tensorflow, "constant", making)
        yield
