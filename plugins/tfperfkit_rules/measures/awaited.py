"""The work of the script's other threads while the training thread waits for them.

The training thread may wait in a queue, a lock or a future, or for an answer over a socket which a thread of the same
script gives.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple
from weakref import WeakKeyDictionary

from tfperfkit.records.samples import MIN, Frame, Place, read_log
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.kinds import KINDS, Kind, kind_of
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.source_text import find_running_calls

_OTHER_THREAD = next(kind for kind in KINDS if kind.word == "threads")
#: Modules whose classes and functions answer over a socket, and the functions that begin to listen at one.
_SERVERS = (
    "http.server.", "socketserver.", "xmlrpc.server.", "wsgiref.simple_server.", "werkzeug.serving.", "grpc.server",
    "flask.Flask", "fastapi.FastAPI", "uvicorn.", "aiohttp.web.", "tornado.web.", "tornado.httpserver.",
    "asyncio.start_server", "socket.create_server", "multiprocessing.connection.Listener", "socket.socket().listen",
)  # fmt: skip


def waited_kind(evidence: Evidence, frame: Frame) -> Kind:
    """Return what a frame was doing, as ``kind_of``. If the script itself is the server that a frame asks, and another
    thread works meanwhile, the frame waits for that thread."""
    kind = kind_of(evidence, frame)
    if kind.word == "network" and is_server(evidence) and awaited(evidence) is not None:
        return _OTHER_THREAD
    return kind


def is_server(evidence: Evidence) -> bool:
    """Whether the user's source makes a server."""
    return any(f"{call.name}.".startswith(_SERVERS) for _, syntax in list_files(evidence) for call in syntax.calls)


class Awaited(NamedTuple):
    """The work of another thread while the training thread waits for it, by samples of that thread in the meantime.
    ``kind``: the Python work that takes most of its time; ``part``: the share of its samples (0 to 1) with this work,
    at the lines of ``frames``; ``samples``: how many the thread has."""

    kind: Kind
    part: float
    frames: Counter[Frame]
    at: Counter[Place]
    samples: int


_KNOWN: WeakKeyDictionary[Evidence, Awaited | None] = WeakKeyDictionary()


def awaited(evidence: Evidence) -> Awaited | None:
    """Find such a thread; None if it has few samples, or mostly runs TensorFlow."""
    if evidence not in _KNOWN:
        _KNOWN[evidence] = _find_awaited(evidence)
    return _KNOWN[evidence]


def _find_awaited(evidence: Evidence) -> Awaited | None:
    clean = evidence.steps.clean
    spans = [(clean[0].begin_ns, clean[-1].end_ns)] if clean else list(evidence.log.whole)
    stacks = [stack for _, stack in read_log(evidence.records("samples"), "awaited").inside(spans) if stack.frames]
    if len(stacks) < MIN:
        return None
    kinds: dict[Kind, Counter[Frame]] = {}
    for stack in stacks:
        if stack.activity == "python":
            frame = stack.frames[-1]
            kinds.setdefault(kind_of(evidence, frame), Counter())[frame] += 1
    if not kinds:
        return None
    pauses = {kind: frames for kind, frames in kinds.items() if kind.word == "sleep"}
    works = Counter[Frame]()
    for kind, frames in kinds.items():
        works += frames if kind not in pauses else Counter[Frame]()
    most = max(kinds, key=lambda kind: kinds[kind].total())
    frames = kinds[most] if most in pauses else works  # all kinds of Python work count as one
    at: Counter[Place] = Counter()
    for frame, count in frames.items():
        at[frame.file, frame.line] += count
    part = frames.total() / len(stacks)
    return Awaited(most, part, frames, at, len(stacks)) if part >= shared.MOSTLY.value else None


#: The position of the time limit among the arguments of waiting functions of Python's library.
_LIMIT = {"get": 1, "put": 1, "wait": 0, "join": 0, "result": 0, "acquire": 1}
_WAITING = ("queue:", "threading:", "concurrent.futures.", "multiprocessing.")


class Standing(NamedTuple):
    """The place where another thread waits with a time limit while the training thread waits too and no thread works.
    ``moments``: how many such moments were sampled; ``part``: the share of them in which a thread waited at ``place``,
    in ``frame``; ``above``: the line that called its function, if it is mostly one."""

    place: Place
    frame: Frame
    part: float
    moments: int
    above: Place | None


def standing(evidence: Evidence) -> Standing | None:
    """Find the line with most of these moments; None if it has less than half, or there were few."""
    clean = evidence.steps.clean
    spans = [(clean[0].begin_ns, clean[-1].end_ns)] if clean else list(evidence.log.whole)
    seen = read_log(evidence.records("samples"), "standing").inside(spans)
    moments = {when for when, _ in seen}
    if len(moments) < MIN:
        return None
    at: dict[Place, set[int]] = {}
    frames: dict[Place, Counter[tuple[Frame, ...]]] = {}
    for when, stack in seen:
        if stack.frames and _has_time_limit(evidence, stack.frames[-1]):
            place = stack.frames[-1].file, stack.frames[-1].line
            at.setdefault(place, set()).add(when)
            frames.setdefault(place, Counter())[stack.frames] += 1
    if not at:
        return None
    place = max(at, key=lambda item: len(at[item]))
    part = len(at[place]) / len(moments)
    if part < shared.MOSTLY.value:
        return None
    stack_frames = frames[place].most_common(1)[0][0]
    above = (stack_frames[-2].file, stack_frames[-2].line) if len(stack_frames) > 1 else None
    return Standing(place, stack_frames[-1], part, len(moments), above)


def _has_time_limit(evidence: Evidence, frame: Frame) -> bool:
    """Whether a frame waits in a call that has a time limit."""
    module, _, function = (frame.calls or ("",))[0].rpartition(":")
    if not f"{module}:".startswith(_WAITING) or function not in _LIMIT:
        return False
    calls = find_running_calls(evidence, frame)
    limit = calls[0].get_argument("timeout", _LIMIT[function]) if calls else None
    return limit is not None and not limit.is_constant(None)
