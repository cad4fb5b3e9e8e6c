"""The record of graph lines on disk: one for each outermost trace, in the stream ``graphs``."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.probe import Capture
from tfperfkit.records.graphs import Graphs

STREAM = "graphs"
#: Levels that a line is unfolded by, unless the option ``depth`` says otherwise.
DEPTH = 3


class Place(msgspec.Struct, frozen=True, array_like=True):
    """A frame of the user's code."""

    file: str
    line: int
    function: str


class BuiltGraphs(msgspec.Struct, frozen=True, kw_only=True):
    """The graphs of one outermost trace, and the Python function that was traced.

    ``function`` is empty for functions built outside of any trace: forward and backward of a ``tf.function`` that
    is called under an eager tape.
    """

    number: int
    function: str = ""
    file: str = ""
    line: int = 0
    owner: str = ""  # "user", "keras", "tensorflow", "tf.data"
    called_from: list[Place] = []  # the user's frames when the trace began, outermost first
    keras_method: str = ""  # of the model, where Keras itself made the function: "fit"
    jit_compile: bool = False
    trace_ns: int = 0
    cost_ns: int = 0  # what reading the graphs took
    graphs: Graphs


def read_graphs(capture: Capture) -> Iterator[BuiltGraphs]:
    """What was recorded; a damaged record is left out."""
    for row in capture.records(STREAM):
        try:
            yield msgspec.convert(row, BuiltGraphs, str_keys=True)
        except msgspec.ValidationError:
            continue
