"""A seam, and where those of TensorFlow and Keras are found."""

from __future__ import annotations

from typing import NamedTuple


class Seam(NamedTuple):
    """``how``: see ``breaking``. ``probe``: whose row must hold ``words``; "" for the notes of the whole report."""

    group: str
    instruments: str
    module: str
    path: str
    how: str
    probe: str = ""
    words: str = ""


POLYMORPHIC = "tensorflow.python.eager.polymorphic_function."
CONTEXT = "tensorflow.python.eager.context"
OPS = "tensorflow.python.framework.ops"
ITERATORS = "tensorflow.python.data.ops.iterator_ops"
KERAS = "keras.src."
PROFILER = "tensorflow.python.profiler."
ADAPTERS = "keras.src.trainers.data_adapters."
