"""Find the code to compile in work with eager operations: a model, a user function, or the loop itself."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from tfperfkit.gain import MEDIUM
from tfperfkit.offers import HostReads
from tfperfkit.records.samples import Frame, Stack
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.called import LAYER, find_call, is_calling, name_callee
from tfperfkit_rules.measures.eager_stacks import EagerPart
from tfperfkit_rules.measures.making import frames_inside
from tfperfkit_rules.measures.python_state import find_python_state
from tfperfkit_rules.measures.source_text import Function, Loop, find_frame_loops, find_function, find_loop
from tfperfkit_rules.measures.trace_window import entered, reached
from tfperfkit_rules.measures.value_reads import find_first_read

Place = tuple[str, Function]


class Model(NamedTuple):
    """A model as the user writes it, and the line that calls it. ``others``: models that
    take a part worth naming."""

    name: str
    file: str
    line: int
    others: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return (self.name, *self.others)


def model_of(evidence: Evidence, part: EagerPart) -> Model | None:
    """Return the model or layer whose call makes most of these operations: the outermost call in the work, for a model
    may be of the user's own layers, which call others."""
    called: Counter[Frame] = Counter()
    for stack, count in part.stacks.items():
        frame = next((frame for frame in _in_the_loop(evidence, stack) if is_calling(evidence, frame, LAYER)), None)
        if frame is not None:
            called[frame] += count
    if called.total() < shared.LOOP_SHARE.value * part.seen:
        return None
    by_name: Counter[str] = Counter()
    for frame, count in called.items():
        by_name[name_callee(find_call(evidence, frame, LAYER), "the model")] += count
    frame = called.most_common(1)[0][0]
    name = name_callee(find_call(evidence, frame, LAYER), "the model")
    others = (other for other, count in by_name.most_common() if count >= MEDIUM * part.seen and other != name)
    return Model(name, frame.file, frame.line, tuple(others))


def function_of(evidence: Evidence, part: EagerPart) -> Place | None:
    """Return the outermost function that the loop calls, that holds most of these operations and reads no value; the
    outermost of all if each reads one. None if each function changes state in Python, as an environment does."""
    held: Counter[Place] = Counter()
    for stack, count in part.stacks.items():
        around = dict.fromkeys(
            (frame.file, function)
            for frame in below_a_loop(evidence, stack)
            if (function := find_function(evidence, frame.file, frame.line)) is not None
        )
        for item in around:
            held[item] += count
    # The outermost hold most; those that hold as much are in the order of the stacks.
    every = [item for item, count in held.most_common() if count >= shared.LOOP_SHARE.value * part.seen]
    wide = [item for item in every if find_python_state(evidence, *item) is None]
    # The function around the loop is no candidate: compiled, it would be traced iteration by iteration.
    wide = [item for item in wide if not _around(evidence, item)] or wide
    within = next((item for item in wide if not reads(evidence, item)), wide[0] if wide else None)
    return within or _calling(evidence)


def _calling(evidence: Evidence) -> Place | None:
    """Return the function that makes the one long library call of this work, such as a sampler of a chain; None if the
    function reads values or changes state in Python."""
    work = evidence.work
    if work is None or work.kind != "call" or work.iterations is not None:
        return None
    function = find_function(evidence, work.where.file, work.where.line)
    place = (work.where.file, function) if function is not None else None
    if place is None or find_python_state(evidence, *place) is not None or reads(evidence, place):
        return None
    return place


def _around(evidence: Evidence, place: Place) -> bool:
    """Whether the work is a loop within this function."""
    work, (file, function) = evidence.work, place
    own = work.where if work is not None and work.kind == "loop" else None
    return own is not None and own.file == file and function.line <= own.line <= function.last


def inside_of(part: EagerPart, place: Place | None) -> float:
    """Return the share of these operations that the function makes; without a function the whole loop is to be
    compiled."""
    there = sum(count for stack, count in part.stacks.items() if any(holds(place, frame) for frame in stack.frames))
    return there / part.seen


def holds(place: Place | None, frame: Frame) -> bool:
    """Whether a frame is in the function; without one all of the loop is to be compiled."""
    return place is None or (frame.file == place[0] and place[1].line <= frame.line <= place[1].last)


def beside(evidence: Evidence, part: EagerPart, place: Place | None) -> Counter[int]:
    """Count the samples of operations in the work's own loop, next to the function to compile, by line: the user may
    move these lines into the function. Empty if there is no such loop."""
    own = evidence.work.where if evidence.work is not None and evidence.work.kind == "loop" else None
    loop = find_loop(evidence, own.file, own.line) if own is not None else None
    found = Counter[int]()
    if own is None or loop is None or place is None:
        return found
    for stack, count in part.stacks.items():
        leaf = stack.frames[-1]
        if leaf.file == own.file and loop.line < leaf.line <= loop.last and not holds(place, leaf):
            found[leaf.line] += count
    return found


def times_of(evidence: Evidence, part: EagerPart, place: Place | None) -> float | None:
    """Return how often what is to be compiled is called: a function, or the body of the loop."""
    if place is not None:
        return entered(evidence, *place)
    own = evidence.work.where if evidence.work is not None else None
    loop = find_loop(evidence, own.file, own.line) if own is not None else None
    if own is not None and loop is not None:
        return reached(evidence, own.file, loop.line, loop.last)
    file, line = part.lines.most_common(1)[0][0]
    return reached(evidence, file, line, line)


def graph_loops(evidence: Evidence, place: Place | None) -> list[Loop]:
    """Return the ``while`` loops of a function whose heads read tensors. Compiled, they are loops of the graph: traced
    once, whatever number of iterations they make."""
    syntax = evidence.syntax(place[0]) if place is not None else None
    if place is None or syntax is None:
        return []
    _, function = place
    heads = set(reads(evidence, place))
    return [
        loop
        for loop in syntax.loops
        if loop.test is not None and function.line < loop.line <= function.last
        if not heads.isdisjoint(loop.test.lines)
    ]


def count_iterations(evidence: Evidence, place: Place | None) -> float | None:
    """Return how many iterations such loops make in an iteration of the work, or in all of it: the
    innermost, which repeats most. None without one, or if no line was counted."""
    counted = (
        reached(evidence, place[0], loop.line + 1, loop.last)
        for loop in graph_loops(evidence, place)
        if place is not None
    )
    return max((iterations for iterations in counted if iterations is not None), default=None)


def reads(evidence: Evidence, place: Place) -> list[int]:
    """Return the lines of a function at which Python reads the value of a tensor."""
    file, function = place
    data = evidence.offer(HostReads)
    rows = data.rows if data is not None else ()
    found = {row.line for row in rows if row.file == file and not row.through}
    lines = sorted(line for line in found if function.line <= line <= function.last)
    if lines:
        return lines
    read = find_first_read(evidence, file, function.line, function.last)
    return [read] if read is not None else []


def _in_the_loop(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """Return the frames from the line in the loop on."""
    below = below_a_loop(evidence, stack)
    return stack.frames[max(0, len(stack.frames) - len(below) - 1) :]


def below_a_loop(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """Return the frames below the outermost loop; without a loop, those below the work's line."""
    for index, frame in enumerate(stack.frames):
        if find_frame_loops(evidence, frame):
            return stack.frames[index + 1 :]
    return tuple(frames_inside(evidence, stack)) if evidence.work is not None else stack.frames[1:]
