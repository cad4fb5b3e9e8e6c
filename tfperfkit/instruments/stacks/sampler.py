"""A sampler of the training thread's Python stack: which of the user's lines are being executed.

It runs on the session's pulse thread, reads the threads' frames and keeps one short row per sample; stacks are
interned. The rate falls once the shares are known, and with the length of the run.
"""

from __future__ import annotations

import functools
import opcode
import threading
from _thread import get_ident
from collections import Counter
from collections.abc import Callable, Iterable
from itertools import islice
from types import CodeType
from typing import Any, NamedTuple

from tfperfkit.clock import NS_PER_S
from tfperfkit.instruments.stacks.activity import PASSES, TENSORFLOW, FileFacts, activity, context, facts
from tfperfkit.instruments.stacks.look import frames as frames_now
from tfperfkit.instruments.stacks.look import look
from tfperfkit.instruments.stacks.worker_thread import Workers
from tfperfkit.records.samples import FAST_S

#: Until which age of the run, and how many seconds pass between two samples then, after FAST_S: a sample takes a
#: processor for 0.2 ms and a script in plain Python waits for it, and each doubling of a run's length needs no more of
#: them than the one before. Then RARE_S: a run of days stays small.
_FAST_UNTIL_NS = 30 * NS_PER_S
USUAL_S, RARE_S = 0.050, 0.5
_USUAL = ((120 * NS_PER_S, USUAL_S), (300 * NS_PER_S, 0.1), (600 * NS_PER_S, 0.2))
MAX_STACKS = 20_000


def interval_s(age_ns: int, shares: bool) -> float:
    """Seconds to the next sample at this age of the run. ``shares``: the report draws shares of time from it."""
    if shares and age_ns < _FAST_UNTIL_NS:
        return FAST_S
    return next((pause for until, pause in _USUAL if age_ns < until), RARE_S)


class Jitter:
    """Factors around 1 for the pauses between samples: work of nearly the sampler's own period is not always met at the
    same line. The multiples of the golden ratio fill [0.5, 1.5) evenly; the script's random numbers are left alone."""

    def __init__(self) -> None:
        self._at = 0.0

    def factor(self) -> float:
        """Return the next one; 1 in the mean."""
        self._at = (self._at + 0.6180339887498949) % 1.0
        return 0.5 + self._at


#: Stacks as they were found, remembered to know them again without looking at their frames (2.5 kB each).
_REMEMBERED = 1000

#: A function of the user: file, first line, name.
Function = tuple[str, int, str]

#: Maximum number of recorded functions of libraries that a frame called.
_CALLED = 2
_Row = tuple[Any, ...]

#: Instructions that may free an object: the end of a loop, an assignment to a name that held another, ``del``.
#: The last batch frees a dataset's iterator there, in C, which may wait for its threads for seconds.
_FREES = frozenset(
    opcode.opmap[name]
    for name in (
        "FOR_ITER",
        "END_FOR",
        "POP_ITER",
        "POP_TOP",
        "STORE_FAST",
        "STORE_NAME",
        "STORE_GLOBAL",
        "STORE_DEREF",
        "STORE_ATTR",
        "DELETE_FAST",
        "DELETE_NAME",
        "DELETE_GLOBAL",
        "DELETE_ATTR",
    )
    if name in opcode.opmap
)
#: And calls of Python functions: what one held is freed after its frame has gone, and its caller stands where it stood
#: while the function ran. That is known when one was seen below it in so many different stacks; a single one may be a
#: signal's handler, on top of C code.
_SEEN_BELOW = 3
#: A thread that ran for less than this part of the time between two samples waits.
_IDLE = 0.1


class _Known(NamedTuple):
    """The result for a stack of code objects and instructions. ``stack``: its number, 0 when there were too many."""

    stack: int
    library: str
    codes: list[CodeType]  # kept alive, so that no other code object gets the same ``id``
    computes: bool = False  # a compiled function ran
    waiting: int = 0  # the stack's number while the thread waits there, where it may free an object; else 0


class Seen(NamedTuple):
    """Facts that a sample shows at once: the ``library`` that ran below the user's code ("" when it was the code
    itself), and whether a compiled function computed.
    """

    library: str
    computes: bool


class Sampler:
    """Takes samples and writes them: ``["stack", id, [frame …], library, activity, context]`` once for each new stack
    (outermost frame first), then ``["s", time_ns, stack id, thread]`` for each sample, and between them from the
    session ``["rate", time_ns, pause in ns]`` when the pause between samples changes. If the process trains with
    others, the sample has the processor time of the process (ns) too: while the process waits for them, it uses none.
    In watch mode two numbers follow: when that was read just before, and what it was then. ``["beside", time_ns, stack
    id, thread]`` is a sample of another thread, in which the user's code was running; ``["busy", …]`` the same of one
    that keeps a processor busy, ``["awaited", …]`` of one for which the sampled thread waits, ``["standing", …]`` of
    each that waits too while nobody works, ``["called", …]`` of one of TensorFlow's own that a pipeline or a graph has
    Python called on.

    A frame is ``[file, first line, name, line, span, called …]``. ``span`` is ``[line, last line, column, end column]``
    of the expression that the frame is in, null before Python 3.11; ``called`` are the functions of libraries that the
    frame called, outermost first, two at most, as "module:function"; those that only pass a call on where there is no
    other, as when what was called has just returned. ``activity`` and ``context`` are those of ``records.parts``.
    """

    def __init__(
        self,
        write: Callable[[Any], None],
        is_user: Callable[[str], bool],
        ran_ns: Callable[[], int | None] = lambda: None,
        max_stacks: int | None = None,
        used_ns: Callable[[], tuple[int, ...]] | None = None,
    ) -> None:
        self._write = write
        self._used_ns = used_ns  # what the process has had of processors
        self._max_stacks = MAX_STACKS if max_stacks is None else max_stacks
        self._ran_ns = ran_ns  # how long the main thread has had a processor
        self._main = threading.main_thread().ident
        self._before = (0, 0, 0)  # of the last sample that may be a wait: when, its stack, how long the thread had run
        self._rested = (0, 0)  # when it was asked whether the main thread rests, how long that had run
        self._is_user = is_user
        self._workers = Workers(is_user)
        self._known: dict[bytes, _Known] = {}
        self._stacks: dict[tuple[Any, ...], int] = {}
        self._calls: Counter[tuple[CodeType, int]] = Counter()  # stacks in which a function ran below this call
        self._functions: dict[int, list[Function]] = {}  # by stack
        self._counts: Counter[int] = Counter()  # samples by stack
        self._earlier: Counter[int] = Counter()
        self._files: dict[str, FileFacts] = {}
        self._spans: dict[tuple[CodeType, int], tuple[int, Span | None]] = {}
        self.codes: dict[Function, CodeType] = {}

    @property
    def samples(self) -> int:
        """Samples since ``forget_hits``."""
        return self._counts.total()

    def stacks(self) -> list[list[Any]]:
        """Return the rows of all stacks so far, as they were written."""
        return [["stack", number, key[3:][::-1], *key[:3]] for key, number in list(self._stacks.items())]

    def hits(self) -> Counter[Function]:
        """Samples since ``forget_hits`` in which a function was on the stack."""
        return self._by_function(self._counts)

    def earlier(self) -> Counter[Function]:
        """Return the same before ``forget_hits``."""
        return self._by_function(self._earlier)

    def forget_hits(self) -> None:
        """Restart the count of hot functions: those that ran before the steady steps come last."""
        counts, self._counts = self._counts, Counter()
        self._earlier.update(dict(counts))  # a copy, made at once: the sampling thread may be in the midst of counting

    def _by_function(self, counts: Counter[int]) -> Counter[Function]:
        found: Counter[Function] = Counter()
        for stack, count in list(counts.items()):
            for function in self._functions[stack]:
                found[function] += count
        return found

    def take(self, when_ns: int, thread: int, anyone: bool = False) -> Seen:
        """Sample one thread. ``anyone``: where it only waits for another one that is at work, that one instead."""
        # This runs a hundred times a second with cold caches: each object that is looked at costs. So a stack that was
        # seen before is known by its code objects and instructions, and only a new one is read.
        if anyone:
            rests = functools.partial(self._rests, when_ns, thread)
            thread = self._workers.instead_of(thread, frames_now(), get_ident(), rests)
        known = self._look(thread)
        if known.stack:
            idle = known.waiting and thread == self._main and self._waits(when_ns, known.waiting)
            stack = known.waiting if idle else known.stack
            row = ["s", when_ns, stack, thread]
            self._write(row if self._used_ns is None else [*row, *self._used_ns()])
            self._counts[stack] += 1
        return Seen(known.library, known.computes)

    def beside(self, when_ns: int, threads: Iterable[int], kind: str = "beside") -> None:
        """Sample threads other than the one that ``take`` samples; such a row is part of no share of time."""
        for thread in threads:
            known = self._look(thread)
            if self._functions.get(known.stack):
                self._write([kind, when_ns, known.stack, thread])

    def awaited(self, when_ns: int, thread: int, anyone: bool = False) -> None:
        """Sample the thread that works while ``thread`` waits for another one, where there is such, or, where nobody
        works, those that wait too; as ``beside``. ``anyone``: ``take`` samples the one that works. And those that
        TensorFlow calls Python on."""
        frames, own = frames_now(), get_ident()
        del frames[own]  # this frame holds them: a cycle would keep what the script's frames hold until it is collected
        other = self._workers.instead_of(thread, frames, own)
        answering = self._workers.answering(thread, frames, own)
        if answering != thread:
            self.beside(when_ns, (answering,), "awaited")
        elif other == thread:
            self.beside(when_ns, self._workers.standing(thread, frames, own), "standing")
        elif not anyone:
            self.beside(when_ns, (other,), "awaited")
        self.beside(when_ns, self._workers.find_called(thread, frames, own), "called")

    def _look(self, thread: int) -> _Known:
        found = look(thread, self._known)
        if isinstance(found, _Known):
            return found
        key, codes, instructions = found
        if len(self._known) >= _REMEMBERED:
            self._known.clear()
        known = self._known[key] = self._read(codes, instructions)
        return known

    def _waits(self, when_ns: int, waiting: int) -> bool:
        """Return whether the main thread has waited since the last sample, at the same place."""
        ran = self._ran_ns()
        before, self._before = self._before, (when_ns, waiting, ran or 0)
        if ran is None or before[1] != waiting:
            return False
        return ran - before[2] < _IDLE * (when_ns - before[0])

    def _rests(self, when_ns: int, thread: int) -> bool:
        """Return whether the main thread has had no processor since this was asked last."""
        ran = self._ran_ns() if thread == self._main else None
        before, self._rested = self._rested, (when_ns, ran or 0)
        return ran is not None and before[0] > 0 and ran - before[1] < _IDLE * (when_ns - before[0])

    def _read(self, codes: list[CodeType], instructions: list[int]) -> _Known:
        """Look at a new stack, innermost frame first."""
        library = ""
        bits = innermost = 0
        inside = False  # TensorFlow or Keras ran below the user's code
        rows: list[_Row] = []
        called: list[str] = []  # of libraries, below the user's frame that comes next, innermost first
        passing = ""  # the outermost of those that only pass calls on
        for depth, (code, instruction) in enumerate(zip(codes, instructions, strict=True)):
            name = code.co_filename
            about = self._files.get(name)
            if about is None:
                about = self._files[name] = facts(name, self._is_user(name))
            if about.own:
                function = (name, code.co_firstlineno, code.co_name)
                below = called[: -_CALLED - 1 : -1] or [passing] * bool(passing)
                rows.append((*function, *self._place(code, instruction), *below))
                self.codes[function] = code
                called.clear()
                passing = ""
            else:
                mark = about.marks.get(code.co_name, about.marks.get("*", 0)) if about.marks is not None else 0
                if about.passing or mark & PASSES:
                    passing = f"{about.module}:{code.co_name}"
                elif about.module:
                    called.append(f"{about.module}:{code.co_name}")
                if not rows:
                    library = library or about.package
                    inside = inside or about.package in TENSORFLOW
                bits |= mark
                if depth == 0:
                    innermost = mark
        doing, around = activity(bits, innermost, inside), context(bits)
        stack = self._intern(rows, library, doing, around)
        self._calls.update(zip(codes[1:], instructions[1:], strict=True))
        if not rows or doing not in ("python", "dispatch") or not self._may_free(codes[0], instructions[0]):
            return _Known(stack, library, codes, doing == "graph")
        return _Known(stack, library, codes, waiting=self._intern(rows, library, "waiting", around))

    def _may_free(self, code: CodeType, instruction: int) -> bool:
        """Return whether a thread that does nothing at this instruction is freeing something."""
        return code.co_code[instruction] in _FREES or self._calls[code, instruction] >= _SEEN_BELOW

    def _place(self, code: CodeType, instruction: int) -> tuple[int, Span | None]:
        """Return the line and the span of an instruction."""
        known = self._spans.get((code, instruction))
        if known is None:
            if len(self._spans) >= MAX_STACKS:
                self._spans.clear()
            known = self._spans[code, instruction] = line_of(code, instruction), span_of(code, instruction)
        return known

    def _intern(self, rows: list[_Row], library: str, doing: str, around: str) -> int:
        """Return the number of a stack; 0 when there are too many."""
        key = (library, doing, around, *rows)
        stack = self._stacks.get(key)
        if stack is None:
            if len(self._stacks) >= self._max_stacks:
                return 0
            stack = self._stacks[key] = len(self._stacks) + 1
            self._functions[stack] = list({(row[0], row[1], row[2]) for row in rows})
            self._write(["stack", stack, rows[::-1], library, doing, around])
        return stack


#: First line, last line, first column, end column; columns in bytes of UTF-8.
Span = tuple[int, int, int, int]


def line_of(code: CodeType, instruction: int) -> int:
    """Return the line of an instruction, given by its offset in bytes (``frame.f_lasti``).

    The jump back from an ``if`` at the end of a loop has no line (Python 3.11 and later), and it is there that a loop
    which calls nothing is seen: then it is the line that jumps to it.
    """
    last = code.co_firstlineno
    for begin, end, line in code.co_lines():
        if begin <= instruction < end:
            return line or _jumping_to(code, begin) or last
        last = line or last
    return code.co_firstlineno


def _jumping_to(code: CodeType, offset: int) -> int | None:
    """Return the last line before an offset that jumps there."""
    import dis  # where it is needed, which is seldom

    jumps = {*dis.hasjrel, *dis.hasjabs}
    found = [item.offset for item in dis.get_instructions(code) if item.opcode in jumps and item.argval == offset]
    lines = [line for begin, end, line in code.co_lines() if any(begin <= at < end for at in found)]
    return next((line for line in reversed(lines) if line), None)


def span_of(code: CodeType, instruction: int) -> Span | None:
    """Return the expression of an instruction; None if Python did not keep it (before 3.11, or -X no_debug_ranges)."""
    positions = getattr(code, "co_positions", None)
    if positions is None:
        return None
    line, last, column, end = next(islice(positions(), instruction // 2, None), (None, None, None, None))
    return None if line is None or last is None or column is None or end is None else (line, last, column, end)
