"""Find the place in the user's code that calls: the stack without TensorFlow's, Keras' and Python's frames."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import FrameType

from tfperfkit.instruments.hooks.frame_locals import local
from tfperfkit.instruments.hooks.notes import remark
from tfperfkit.instruments.stacks.look import frames as frames_now
from tfperfkit.model import SourceSpan
from tfperfkit.user_code import is_machinery as is_machinery
from tfperfkit.user_code import package_root as package_root

#: Longest list of frames that is kept.
MAX_FRAMES = 24
_GENERATED = "__autograph_generated_file"


def original_place(file: str, line: int, function: str, thread: int | None = None) -> SourceSpan | None:
    """Return the user's source line behind a line of AutoGraph's generated code; other places are given back as they
    are.

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
        remark(f"for lines that AutoGraph converted the lines that called them are reported ({words})")
    return None


def user_frames(frame: FrameType | None, limit: int = MAX_FRAMES) -> tuple[SourceSpan, ...]:
    """Return the frames of the user's code (and of other packages) from ``frame`` outwards, innermost first.

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
    """Return whether this thread runs one replica of a mirrored strategy."""
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
    """Return the thread that waits for this replica thread, and its innermost frame."""
    if not in_replica_thread():
        return None
    mine, own_ident = threading.current_thread(), threading.get_ident()
    for ident, top in frames_now().items():
        frame: FrameType | None = top if ident != own_ident else None
        while frame is not None:
            if frame.f_code.co_name == "_call_for_each_replica" and mine in local(frame, "threads", ()):
                return ident, top
            frame = frame.f_back
    return None


_MAX_DEPTH = 60
_TENSOR_FILES = ("/framework/ops.py", "/ops/resource_variable_ops.py")


def user_line(frame: FrameType | None, is_user: Callable[[str], bool]) -> tuple[tuple[str, int, str], str]:
    """((file, line, function), through). ``through`` is "keras" or "tensorflow" when their code lies in between,
    methods of tensors and variables aside. ("", 0, "") where no line of the user is near."""
    through = ""
    for _ in range(_MAX_DEPTH):
        if frame is None:
            break
        code = frame.f_code
        name = code.co_filename
        if is_machinery(name):
            if "keras" in name:
                through = "keras"
            elif not through and "tensorflow" in name and not name.replace("\\", "/").endswith(_TENSOR_FILES):
                through = "tensorflow"
        elif is_user(name):
            return (name, frame.f_lineno, code.co_name), through
        frame = frame.f_back
    return ("", 0, ""), through
