"""The data passed to ``fit``, ``evaluate`` or ``predict``: seen where Keras makes its adapter for it, once a call."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.instruments.hooks import method_seam
from tfperfkit.instruments.hooks.frame_locals import local
from tfperfkit.instruments.padding import padding_of
from tfperfkit.instruments.steps.functions import own_code
from tfperfkit.records.pipelines import KerasData, Padding, Place, RanOut

_ADAPTERS = "keras.src.trainers.data_adapters."
_CLASSES = {
    "py_dataset_adapter": "PyDatasetAdapter",
    "generator_data_adapter": "GeneratorDataAdapter",
    "array_data_adapter": "ArrayDataAdapter",
    "tf_dataset_adapter": "TFDatasetAdapter",
    "torch_data_loader_adapter": "TorchDataLoaderAdapter",
    "grain_dataset_adapter": "GrainDatasetAdapter",
}
_EPOCHS = ("keras.src.trainers.epoch_iterator", "EpochIterator", "_interrupted_warning")
KINDS = {
    "PyDatasetAdapter": "PyDataset",
    "GeneratorDataAdapter": "generator",
    "ArrayDataAdapter": "arrays",
    "TFDatasetAdapter": "tf.data",
    "TorchDataLoaderAdapter": "torch",
    "GrainDatasetAdapter": "grain",
}


class KerasDatasets:
    """Installs the seams. ``on_data(data)`` and ``ran_out(data)`` are called on the thread of the ``fit``."""

    def __init__(
        self,
        on_data: Callable[[KerasData], None],
        is_user: Callable[[str], bool],
        number: Callable[[Any], int],
        ran_out: Callable[[RanOut], None],
    ) -> None:
        self._on_data = on_data
        self._ran_out = ran_out
        self._is_user = is_user
        self._number = number
        self._restores: list[Callable[[], None]] = []
        self.reasons: list[str] = []

    def install(self) -> bool:
        """Return whether Keras is loaded, so that there was something to observe. Call again when it is not yet."""
        if self._restores or _ADAPTERS + "py_dataset_adapter" not in sys.modules:
            return bool(self._restores)
        for module, name in _CLASSES.items():
            owner = getattr(sys.modules.get(_ADAPTERS + module), name, None)
            if owner is None:
                continue
            try:
                self._restores.append(method_seam.install(owner, "__init__", self._before, self._after))
            except Unavailable as error:
                self.reasons.append(f"data passed to Keras as {KINDS[name]} can't be described ({error})")
        module, name, method = _EPOCHS
        try:
            owner = getattr(sys.modules[module], name)
            self._restores.append(method_seam.install(owner, method, self._interrupted, _nothing))
        except (Unavailable, AttributeError, KeyError) as error:
            self.reasons.append(f"data that ran out within Keras can't be seen ({error})")
        return True

    def restore(self) -> None:
        for undo in reversed(self._restores):
            undo()
        self._restores.clear()

    def _interrupted(self, epochs: Any) -> None:
        """Keras warns that its input ran out; without a number of steps that is how each epoch ends."""
        asked = _number(getattr(epochs, "steps_per_epoch", None))
        if not asked:
            return
        had = _number(getattr(epochs, "_num_batches", None)) or _number(getattr(epochs, "_steps_seen", None)) or 0
        ways, place = [], ("", 0, "")
        frame: FrameType | None = sys._getframe(2)
        while frame is not None:
            name = frame.f_code.co_filename
            if self._is_user(name):
                place = name, frame.f_lineno, frame.f_code.co_name
                break
            if "keras" in name and frame.f_code.co_name in ("fit", "evaluate", "predict"):
                ways.append(frame.f_code.co_name)
            frame = frame.f_back
        if ways:
            file, line, function = place
            self._ran_out(
                RanOut(
                    way=ways[-1],
                    validation=len(ways) > 1,
                    file=file,
                    line=line,
                    function=function,
                    asked=asked,
                    had=had,
                )
            )

    def _before(self, adapter: Any) -> tuple[Any, str, tuple[str, int, str], int | None]:
        frame: FrameType | None = sys._getframe(2)
        way, steps = "", None
        while frame is not None:
            name = frame.f_code.co_filename
            if self._is_user(name):
                return adapter, way, (name, frame.f_lineno, frame.f_code.co_name), steps
            if frame.f_code.co_name == "get_data_adapter":
                steps = _number(local(frame, "steps_per_epoch"))
            if not way and "keras" in name and frame.f_code.co_name in ("fit", "evaluate", "predict"):
                way = frame.f_code.co_name
                # ``fit`` makes the iterator of the training data first; once a call, so its locals may be read.
                if way == "fit" and local(frame, "epoch_iterator") is not None:
                    way = "validation"
            frame = frame.f_back
        return adapter, way, ("", 0, ""), steps

    def _after(self, token: tuple[Any, str, tuple[str, int, str], int | None], called: bool) -> None:
        adapter, way, (file, line, function), steps = token
        if not called:
            return
        kind = KINDS.get(type(adapter).__name__, type(adapter).__name__)
        about: dict[str, Any] = {}
        if kind == "PyDataset":
            data = adapter.py_dataset
            about = {
                "cls": type(data).__name__,
                "place": _code_place(getattr(type(data), "__getitem__", None)),
                "workers": _number(getattr(data, "workers", None)),
                "use_multiprocessing": bool(getattr(data, "use_multiprocessing", False)),
                "max_queue_size": _number(getattr(data, "max_queue_size", None)),
            }
        elif kind == "generator":
            about = _generator(adapter)
        elif kind == "arrays":
            arrays = [item for item in _flat(getattr(adapter, "_inputs", None)) if item is not None]
            about = {
                "cls": ", ".join(dict.fromkeys(type(getattr(item, "array", item)).__name__ for item in arrays)),
                "arrays_bytes": sum(_size(item) for item in arrays),
                "batch_size": _number(adapter.batch_size),
                "shuffle": bool(getattr(adapter, "_shuffle", False)),
                "padding": _padding(arrays, _number(adapter.batch_size)) if way == "fit" else None,
            }
        elif kind == "tf.data":
            dataset = getattr(adapter, "_dataset", None)
            about = {"cls": type(dataset).__name__, "dataset": self._number(dataset)}
        # A PyDataset's is the user's own __len__: not called by us.
        batches = _number(getattr(adapter, "num_batches", None)) if kind == "arrays" else None
        self._on_data(
            KerasData(
                kind=kind,
                way="fit" if way == "validation" else way,
                validation=way == "validation",
                file=file,
                line=line,
                function=function,
                batches=batches,
                steps=steps,
                ns=now_ns(),
                **about,
            )
        )


def _nothing(token: Any, called: bool) -> None:
    """Never called: the call is of no interest when it ends."""


def _padding(arrays: list[Any], batch_size: int | None) -> Padding | None:
    """Return the padding of the widest sequences."""
    found = [padding_of(getattr(item, "array", item), batch_size) for item in arrays]
    return max((item for item in found if item is not None), key=lambda item: item.width, default=None)


def _generator(adapter: Any) -> dict[str, Any]:
    """Keras wraps the user's generator into a closure that chains the batches that it peeked at."""
    for cell in getattr(adapter.generator, "__closure__", None) or ():
        try:
            code = getattr(cell.cell_contents, "gi_code", None)
        except ValueError:  # an empty cell
            continue
        if code is not None:
            name = getattr(code, "co_qualname", code.co_name)
            return {"cls": "generator", "place": Place(file=code.co_filename, line=code.co_firstlineno, function=name)}
    return {"cls": "iterator"}


def _code_place(function: Any) -> Place | None:
    code = own_code(function) if function is not None else None
    if code is None:
        return None
    return Place(file=code.co_filename, line=code.co_firstlineno, function=getattr(code, "co_qualname", code.co_name))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    return [found for item in value for found in _flat(item)] if isinstance(value, (list, tuple)) else [value]


def _size(value: Any) -> int:
    size = getattr(getattr(value, "array", value), "nbytes", None)
    return int(size) if isinstance(size, int) else 0


def _number(value: Any) -> int | None:
    return int(value) if isinstance(value, int) else None
