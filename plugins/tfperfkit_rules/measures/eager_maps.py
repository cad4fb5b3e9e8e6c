"""Eager calls of TensorFlow's functions that go through elements: which one a line calls, and what to compile."""

from __future__ import annotations

from tfperfkit.records.samples import Frame, Place
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import is_calling
from tfperfkit_rules.measures.eager_stacks import MAPS, EagerPart
from tfperfkit_rules.measures.source_text import find_function, find_loops, quote_line


def name_map(evidence: Evidence, part: EagerPart, place: Place) -> str:
    """Name the function that a line calls, without ``tf.``."""
    for stack in part.stacks:
        for frame in stack.frames:
            if (frame.file, frame.line) == place and is_calling(evidence, frame, MAPS):
                return _of_frame(evidence, frame)
    return "map_fn"


def advise_compiling(evidence: Evidence, place: Place, name: str) -> str:
    """Say where ``@tf.function`` goes: on the function around the call, unless a loop of it repeats the call."""
    function = find_function(evidence, *place)
    put = f"Move the call of tf.{name} into a function with @tf.function"
    if function is not None and not find_loops(evidence, *place):
        put = f"Put @tf.function on {function.name} (line {function.line}), which calls tf.{name}"
    if name == "vectorized_map":
        return (
            f"{put}. Outside a compiled function, tf.vectorized_map traces the function that it is given in each call."
        )
    return f"{put}. Its iterations then run in TensorFlow's runtime, not in Python."


def _of_frame(evidence: Evidence, frame: Frame) -> str:
    for name in frame.calls or ():
        module, _, function = name.rpartition(":")
        if module.startswith(MAPS.modules) and function in MAPS.functions:
            return function.removesuffix("_v2")
    text = quote_line(evidence, frame.file, frame.line)
    return next((name for name in MAPS.methods if name in text), "map_fn")
