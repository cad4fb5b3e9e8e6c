"""Where in the person's code something was called from: the stack without TensorFlow's, Keras' and Python's frames."""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
import threading
from types import FrameType

from tfperfkit.instruments.remarks import remark
from tfperfkit.model import SourceSpan

#: Longest list of frames that is kept.
MAX_FRAMES = 24
_FRAMEWORKS = ("tensorflow", "keras", "tf_keras", "wrapt", "absl")
_GENERATED = "__autograph_generated_file"

_skipped: dict[str, bool] = {}
_roots: dict[str, tuple[str, ...]] = {}
_packages: dict[str, str] = {}


def package_root(name: str) -> str | None:
    """The folder of a top-level package, with a trailing separator; None if there is none. Imports nothing."""
    if name in _packages:
        return _packages[name]
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None)
    if file is None:
        try:
            spec = importlib.util.find_spec(name)
        except (ImportError, ValueError):
            return None
        file = spec.origin if spec else None
    if not file:
        return None
    root = _packages[name] = os.path.dirname(os.path.abspath(file)) + os.sep
    return root


def _framework_roots() -> tuple[str, ...]:
    if "frameworks" not in _roots:
        own = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
        found = [root for root in map(package_root, _FRAMEWORKS) if root]
        _roots["frameworks"] = (own, *found)
    return _roots["frameworks"]


def _standard_library() -> tuple[str, ...]:
    if "stdlib" not in _roots:
        paths = sysconfig.get_paths()
        _roots["stdlib"] = tuple({os.path.join(paths[key], "") for key in ("stdlib", "platstdlib") if key in paths})
    return _roots["stdlib"]


def is_machinery(filename: str) -> bool:
    """Whether a file belongs to TensorFlow, Keras, Python's library or us: never a call site to show."""
    known = _skipped.get(filename)
    if known is None:
        known = _skipped[filename] = _is_machinery(filename)
    return known


def _is_machinery(filename: str) -> bool:
    if filename.startswith("<frozen") or filename == "<string>":
        return True
    if filename.startswith(_framework_roots()):
        return True
    inside_library = filename.startswith(_standard_library())
    return inside_library and "site-packages" not in filename and "dist-packages" not in filename


def original_place(file: str, line: int, function: str, thread: int | None = None) -> SourceSpan | None:
    """The person's source line behind a line of AutoGraph's generated code; other places are given back as they are.

    ``thread`` is the thread whose stack it is (default: this one). None when the origin is not known.
    """
    if _GENERATED not in file:
        return SourceSpan(file=file, line=line, function=function)
    try:
        from tensorflow.python.util import tf_stack

        stack = tf_stack._source_mapper_stacks.get(threading.get_ident() if thread is None else thread)
        for mapper in reversed(stack or ()):
            origin = mapper.get_effective_source_map().get((file, line))
            if origin is not None:
                return SourceSpan(file=origin[0], line=origin[1], function=origin[2] or function)
    except Exception as error:  # the frames around this one still tell the place, less exactly
        words = f"{type(error).__name__}: {error}"
        remark(f"for lines that AutoGraph converted the lines that called them are told ({words})")
    return None


def user_frames(frame: FrameType | None, limit: int = MAX_FRAMES) -> tuple[SourceSpan, ...]:
    """The frames of the person's code (and of other packages) from ``frame`` outwards, innermost first.

    AutoGraph's generated code is mapped back. In a replica thread of a distribution strategy the frames of the
    thread that started the replicas follow.
    """
    frames = _walk(frame, None, limit)
    if threading.current_thread() is not threading.main_thread():
        parent = _replica_parent()
        if parent is not None:
            frames += _walk(parent[1], parent[0], limit - len(frames))
    return tuple(frames)


def in_replica_thread() -> bool:
    """Whether this thread runs one replica of a mirrored strategy."""
    return type(threading.current_thread()).__name__ == "_MirroredReplicaThread"


def _walk(frame: FrameType | None, thread: int | None, limit: int) -> list[SourceSpan]:
    found: list[SourceSpan] = []
    while frame is not None and len(found) < limit:
        code = frame.f_code
        if not is_machinery(code.co_filename):
            place = original_place(code.co_filename, frame.f_lineno, code.co_name, thread)
            if place is not None and (not found or found[-1] != place):
                found.append(place)
        frame = frame.f_back
    return found


def _replica_parent() -> tuple[int, FrameType] | None:
    """The thread that waits for this replica thread, and its innermost frame."""
    if not in_replica_thread():
        return None
    mine, own_ident = threading.current_thread(), threading.get_ident()
    for ident, top in sys._current_frames().items():
        frame: FrameType | None = top if ident != own_ident else None
        while frame is not None:
            if frame.f_code.co_name == "_call_for_each_replica" and mine in frame.f_locals.get("threads", ()):
                return ident, top
            frame = frame.f_back
    return None
