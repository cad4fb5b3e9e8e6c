"""The tool of an experiment's ``apply``: functions of the libraries that it replaces until the trial ends.

Instruments are imported by the methods only: an experiment is also loaded by commands that just list and choose, where
neither a framework nor a hook is wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from tfperfkit.experiment import Trial

DATASET = "tensorflow.python.data.ops.dataset_ops:DatasetV2"
LAYER = "keras.src.layers.layer:Layer"
TAPE = "tensorflow.python.eager.backprop:GradientTape"


class Seams:
    """The seams of one change. A replacement gets the original function first, then the arguments of the call.

    Methods that replace raise Unavailable if this version of the library has no such function. Leaving the context
    restores all originals. ``applied``, ``refuse``, ``when_keras`` and ``is_user_code`` are those of the trial.
    """

    def __init__(self, trial: Trial) -> None:
        from tfperfkit.instruments.changes.replaced import Seams as Replaced

        self.applied, self.refuse = trial.applied, trial.refuse
        self.when_keras, self.is_user_code = trial.when_keras, trial.is_user_code
        self._replaced = Replaced()

    def __enter__(self) -> Seams:
        return self

    def __exit__(self, *raised: object) -> None:
        self._replaced.restore()

    @property
    def tensorflow(self) -> Any:
        """The loaded module."""
        return self.find("tensorflow")

    def find(self, place: str) -> Any:
        """Return a loaded module, or ``module:attribute``. Raises Unavailable if it is not there."""
        from tfperfkit.instruments.changes.replaced import attribute, module

        name, _, inside = place.partition(":")
        return attribute(name, inside) if inside else module(name)

    def replace(self, owner: Any, name: str, function: Callable[..., Any]) -> None:
        """Call ``function(original, ...)`` instead of the function ``name`` of a class or module, or of the place
        that ``find`` knows."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def replacement(*arguments: Any, **named: Any) -> Any:
                return function(original, *arguments, **named)

            return replacement

        self._replaced.replace(self.find(owner) if isinstance(owner, str) else owner, name, make)

    def replace_in_keras(self, place: str, name: str, function: Callable[..., Any]) -> None:
        """Do the same once Keras has been imported."""
        self.when_keras(lambda: self.replace(place, name, function))

    def replace_in_models(self, method: str, function: Callable[..., Any]) -> None:
        """Replace a method of Keras models, such as ``fit``, once Keras has been imported."""
        from tfperfkit.instruments.changes.arguments import model_classes

        def keras() -> None:
            for owner in model_classes(method):
                self.replace(owner, method, function)

        self.when_keras(keras)

    def at_end(self, undo: Callable[[], object]) -> None:
        """Call it when the originals are restored."""
        self._replaced.callback(undo)

    def on_model_call(self, method: str, change: Callable[[dict[str, Any]], bool]) -> None:
        """Let ``change`` alter the arguments of a method of Keras models, by name and with ``self`` among them; it
        returns whether it did."""
        from tfperfkit.instruments.changes.arguments import on_model_call

        def counted(arguments: dict[str, Any]) -> None:
            if change(arguments):
                self.applied()

        self.when_keras(lambda: on_model_call(self._replaced, method, counted))

    def on_compile(self, change: Callable[[dict[str, Any]], object]) -> None:
        """Let ``change`` alter the named arguments of ``compile`` of Keras models."""
        from tfperfkit.instruments.changes.arguments import on_compile

        self.when_keras(lambda: on_compile(self._replaced, change))

    def on_tf_function(self, target: str, change: Callable[[dict[str, Any]], object]) -> None:
        """Let ``change`` alter the named arguments with which a ``tf.function`` is made of a user function called
        ``target`` ("": of any)."""
        from tfperfkit.instruments.changes.arguments import on_tf_function

        on_tf_function(self._replaced, self.is_user_code, target, change)

    def on_iteration(self, change: Callable[[Any, int | None], Any], *, keep: bool = False) -> None:
        """Iterate ``change(dataset, length)`` instead of a dataset that feeds training: in a loop of the user's, or in
        ``fit``. The length is None if it is not known. ``keep``: each dataset is changed once, and a loop that begins
        again gets the same result."""
        from tfperfkit.instruments.changes.arguments import on_iteration

        known: list[tuple[Any, Any]] = []

        def changed(dataset: Any, length: int | None) -> Any:
            made = next((made for other, made in known if other is dataset), None)
            if made is None:
                made = change(dataset, length)
                if keep:
                    known.append((dataset, made))
            return made

        on_iteration(self._replaced, self, changed)

    def when_left_out(self, callback: Callable[[], object]) -> None:
        """Call it wherever the trial leaves out a statement."""
        from tfperfkit.instruments.changes.edited import when_left_out

        when_left_out(callback)

    def caller(self) -> FrameType:
        """The frame that called the replaced function."""
        from tfperfkit.instruments.changes.replaced import caller

        return caller()

    def called_by_user(self) -> bool:
        """Whether a user file calls the replaced function."""
        return self.is_user_code(self.caller().f_code.co_filename)

    def called_by_user_graph(self) -> bool:
        """Tell whether a user file makes the call, directly or through the code that AutoGraph made from the file."""
        from tfperfkit.instruments.changes.replaced import called_from

        return called_from(self.is_user_code)

    def code_of(self, function: Any, target: str = "") -> CodeType | None:
        """The code of a Python function, if ``target`` names it (``train_step`` or ``Trainer.train_step``; "": any)."""
        from tfperfkit.instruments.changes.arguments import named_code

        return named_code(function, target)


def zero_input(tensorflow: Any, operation: Any) -> None:
    """Give an operation of a graph zeros instead of its first input, so that nothing needs what computed that input."""
    value = operation.inputs[0]
    with operation.graph.as_default():
        shape = value.shape if value.shape.is_fully_defined() else tensorflow.shape(value)
        operation._update_input(0, tensorflow.zeros(shape, value.dtype))
