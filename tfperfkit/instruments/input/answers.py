"""Record the results of ``predict`` and ``evaluate`` and their data, recognised by samples of the numbers.

Looked at where Keras says that such a call ends: what it was given and what it has computed are local variables there.
Equal results of equal data say that a call was in vain, whatever happened in between: with other weights, or after a
number of the data was written, what comes out differs in some bit. Nothing is copied but the sample, or kept alive.
"""

from __future__ import annotations

import itertools
import sys
import zlib
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.instruments.hooks.frame_locals import locals_of, unseen
from tfperfkit.instruments.input.callback_moments import CallbackMoments
from tfperfkit.instruments.input.returns import Unknown, host_array
from tfperfkit.records.pipelines import Answer

#: The method of Keras' list of callbacks, the method of a model that calls it at its end, its variables: what it was
#: given, and what it gives.
_ENDS = {
    "on_predict_end": ("predict", ("x",), "outputs"),
    "on_test_end": ("evaluate", ("x", "y", "sample_weight"), "logs"),
}
#: Numbers that are looked at, of the data and of the result each, evenly strewn; arrays that they are of at most.
SAMPLES, _ARRAYS = 1024, 256
#: With more arrays than that nothing is looked at.
_MAX_ARRAYS = 20_000
_DEEPEST = 4
#: A multiplier with which consecutive numbers are strewn over any range (Knuth: 2^32 by the golden section).
_STREWN = 2_654_435_761
#: Calls that are looked at in a run, and the share of its time that looking may take; a few are free.
_MAX_CALLS, _MAX_SHARE, _FREE_NS = 3000, 0.005, 20_000_000


class Answers(CallbackMoments):
    """``on_answer`` is called on the thread of the call, just before it returns."""

    def __init__(
        self, on_answer: Callable[[Answer], None], is_user: Callable[[str], bool], number: Callable[[Any], int]
    ) -> None:
        super().__init__(
            {method: self._at(method) for method in _ENDS},
            "it can't be seen whether predict and evaluate get the same data again",
        )
        self._on_answer = on_answer
        self._is_user = is_user
        self._number = number
        self._calls = self._first_ns = self.cost_ns = 0

    def _at(self, method: str) -> Callable[[Any], None]:
        way, given, gives = _ENDS[method]

        def before(callbacks: Any) -> None:
            begin = now_ns()
            self._first_ns = self._first_ns or begin
            if self._calls >= _MAX_CALLS or self.cost_ns > _FREE_NS + _MAX_SHARE * (begin - self._first_ns):
                return
            self._calls += 1
            try:
                self._look(sys._getframe(2), way, given, gives)
            finally:
                self.cost_ns += now_ns() - begin

        return before

    def _look(self, frame: FrameType, way: str, given: tuple[str, ...], gives: str) -> None:
        code = frame.f_code
        if code.co_name != way or "keras" not in code.co_filename or not unseen(code):
            return  # a loop of the user's that calls the callbacks itself
        place = self._place(frame.f_back)
        if place is None:
            return
        with locals_of(frame) as values:
            asked = mark([values.get(name) for name in given], self._number)
            gave = mark(values.get(gives)) if asked is not None else None
            inputs = mark([values.get("x")], self._number) if gave is not None else None
            model = id(values.get("self"))
        if asked is not None and gave is not None:
            file, line, function = place
            self._on_answer(
                Answer(
                    way=way,
                    file=file,
                    line=line,
                    function=function,
                    key=f"{asked:08x}{gave:08x}",
                    ns=now_ns(),
                    inputs=f"{inputs or 0:08x}{model:x}",
                )
            )

    def _place(self, frame: FrameType | None) -> tuple[str, int, str] | None:
        """Return the user's line that called; None where ``fit`` did, for its validation."""
        while frame is not None:
            name = frame.f_code.co_filename
            if self._is_user(name):
                return name, frame.f_lineno, frame.f_code.co_name
            if frame.f_code.co_name == "fit" and "keras" in name:
                return None
            frame = frame.f_back
        return None


def mark(value: Any, number: Callable[[Any], int] = lambda dataset: 0) -> int | None:
    """Return a checksum of types, shapes and a sample of the numbers; None if a value has none (objects, strings,
    tensors on a GPU). ``number``: what tells a dataset from others, 0 for what is none."""
    try:
        found = list(itertools.islice(_parts(value, number, 0), _MAX_ARRAYS + 1))
        if len(found) > _MAX_ARRAYS:
            return None
        crc = len(found)
        chosen = found if len(found) <= _ARRAYS else [found[_strewn(i, len(found))] for i in range(_ARRAYS)]
        for part in chosen:
            crc = zlib.crc32(_sample(part, max(SAMPLES // len(chosen), 16)), crc)
        return crc
    except Unknown:
        return None


def _parts(value: Any, number: Callable[[Any], int], depth: int) -> Iterator[Any]:
    if isinstance(value, dict):
        yield repr(list(value))
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        if depth > _DEEPEST:
            raise Unknown
        for item in value:
            yield from _parts(item, number, depth + 1)
    elif value is None or isinstance(value, (bool, int, float)):
        yield repr(value)
    elif known := number(value):
        yield f"dataset {known}"
    else:
        yield value


def _sample(part: Any, count: int) -> bytes:
    if isinstance(part, str):
        return part.encode()
    numpy = sys.modules["numpy"]
    # Not a subclass: one that lies in a file would be read from there.
    array = part if type(part) is numpy.ndarray else numpy.asarray(host_array(part))
    if array.dtype.hasobject:
        raise Unknown
    if array.size > count:
        at = numpy.arange(count, dtype=numpy.uint64) * numpy.uint64(_STREWN) % numpy.uint64(array.size)
        values = (array.reshape(-1) if array.flags.c_contiguous else array.flat)[at.astype(numpy.int64)]
    else:
        values = array
    return f"{array.dtype.str}{array.shape}".encode() + bytes(values.tobytes())


def _strewn(index: int, size: int) -> int:
    return index * _STREWN % size
