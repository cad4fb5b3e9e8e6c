"""Watch the return values of chosen functions of the user's for single steps, through ``sys.setprofile``.

Only for functions that a loader is made of: hand-made input, which no tf.data tool sees. A value is recognised by a
fingerprint of its type, shape and a sample of its bytes; objects that have none are left out.
"""

from __future__ import annotations

import sys
import zlib
from collections.abc import Iterable
from types import CodeType, FrameType
from typing import Any

from tfperfkit.clock import now_ns
from tfperfkit.errors import Unavailable
from tfperfkit.records.pipelines import Returned

#: At most this much of one value is hashed, in all of its parts.
SAMPLE_BYTES = 64 * 1024
_MAX_PARTS = 32
_DEEPEST = 4
_MAX_CALLS = 2_000
_GENERATORS = 0x20 | 0x80 | 0x200  # CO_GENERATOR, CO_COROUTINE, CO_ASYNC_GENERATOR


class _Seen:
    def __init__(self) -> None:
        self.calls = self.unknown = self.size = 0
        self.values: dict[str, int] = {}
        self.what = ""


class Returns:
    """Watches on the thread that calls ``start``. Raises Unavailable when a profiler of the script's is at work."""

    def __init__(self, codes: Iterable[CodeType]) -> None:
        self._codes = {code: _Seen() for code in codes if not code.co_flags & _GENERATORS}
        self._calls = 0
        self.cost_ns = 0
        self._ours: Any = None

    def start(self) -> None:
        if sys.getprofile() is not None or sys.gettrace() is not None:
            raise Unavailable("a profiler or tracer is at work")
        codes, returned = self._codes, self._returned

        def watch(frame: FrameType, event: str, value: Any) -> None:
            if self._ours is not watch:  # a script that sets a profile function for a while puts back what was there
                if sys.getprofile() is watch:
                    sys.setprofile(None)
            elif event == "return" and frame.f_code in codes:
                returned(frame.f_code, value)

        self._ours = watch
        sys.setprofile(watch)

    def stop(self) -> list[Returned]:
        """End, unless the script has set a profiler of its own meanwhile; gives what was seen."""
        if sys.getprofile() is self._ours:
            sys.setprofile(None)
        self._ours = None
        return [
            Returned(
                file=code.co_filename,
                line=code.co_firstlineno,
                function=getattr(code, "co_qualname", code.co_name),
                calls=row.calls,
                values=row.values,
                unknown=row.unknown,
                what=row.what,
                size=row.size,
            )
            for code, row in self._codes.items()
            if row.calls
        ]

    def _returned(self, code: CodeType, value: Any) -> None:
        self._calls += 1
        if self._calls > _MAX_CALLS:
            return
        begin = now_ns()
        row = self._codes[code]
        row.calls += 1
        try:
            found = fingerprint(value)
        except Exception:  # an error of ours must not end the profile function's life with a traceback
            found = None
        if found is None:
            row.unknown += 1
        else:
            row.values[found[0]] = row.values.get(found[0], 0) + 1
            if not row.what:
                row.what, row.size = found[1], found[2]
        self.cost_ns += now_ns() - begin


class Unknown(Exception):
    """A value that can't be told from others."""


def fingerprint(value: Any) -> tuple[str, str, int] | None:
    """(fingerprint, the value in words, bytes of its arrays); None for what has no value of its own (None, objects).

    Equal fingerprints: the same types, shapes, and bytes where they were sampled, evenly over the whole array.
    """
    if value is None:
        return None
    state = _State()
    try:
        words = state.add(value, 0)
    except Unknown:
        return None
    return f"{state.crc:08x}-{state.length}", words, state.size


class _State:
    def __init__(self) -> None:
        self.crc = self.length = self.size = self.parts = 0
        self.left = SAMPLE_BYTES

    def add(self, value: Any, depth: int) -> str:
        self.parts += 1
        kind = type(value)
        if self.parts > _MAX_PARTS or depth > _DEEPEST:
            raise Unknown
        if value is None or kind in (bool, int, float, complex):
            self._feed(f"{kind.__name__}:{value!r}".encode())
            return kind.__name__
        if kind in (str, bytes):
            raw = value.encode("utf-8", "surrogatepass") if kind is str else value
            self._feed(f"{kind.__name__}:{len(raw)}:".encode() + raw[: self.left])
            return kind.__name__
        if isinstance(value, (tuple, list)):
            self._feed(f"{kind.__name__}:{len(value)}:".encode())
            return f"({', '.join([self.add(item, depth + 1) for item in tuple(value)])})"
        if kind is dict:
            self._feed(f"dict:{len(value)}:".encode())
            words = []
            for key, item in list(value.items()):
                self.add(key, depth + 1)
                words.append(f"{key}: {self.add(item, depth + 1)}")
            return f"{{{', '.join(words)}}}"
        return self._array(value)

    def _array(self, value: Any) -> str:
        numpy = sys.modules.get("numpy")
        if numpy is None:
            raise Unknown
        array = value
        if not isinstance(value, (numpy.ndarray, numpy.generic)):
            array = host_array(value)
        array = numpy.asarray(array)
        if array.dtype.hasobject:
            raise Unknown
        self._feed(f"{type(value).__name__}:{array.dtype.str}:{array.shape}:".encode())
        self.size += int(array.nbytes)
        flat = array.reshape(-1) if array.flags.c_contiguous else array.flat
        count = max(self.left // max(array.dtype.itemsize, 1), 1)
        stride = max(-(-array.size // count), 1)
        self._feed(numpy.ascontiguousarray(flat[::stride]).tobytes())
        return f"{array.dtype.name}[{','.join(map(str, array.shape))}]"

    def _feed(self, raw: bytes) -> None:
        self.crc = zlib.crc32(raw, self.crc)
        self.length += len(raw)
        self.left = max(self.left - len(raw), 0)


def host_array(value: Any) -> Any:
    """Return the memory of an eager tensor on the CPU; anything else has no fingerprint. Copies nothing."""
    ops = sys.modules.get("tensorflow.python.framework.ops")
    eager = getattr(ops, "EagerTensor", None)
    if eager is None or not isinstance(value, eager) or not str(value.device).endswith("CPU:0"):
        raise Unknown
    if value.dtype.name in ("resource", "variant", "string"):
        raise Unknown
    return value._numpy_internal()
