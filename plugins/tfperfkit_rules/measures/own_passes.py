"""Passes over a dataset in which nothing is trained, in a loop of the script's own: its validation.

A pass is recognised by the line that fetches elements: a loop in which no update was seen, next to or within one that
trains.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tfperfkit.records.samples import Place, Stack
from tfperfkit.records.steps import Loop as Seen
from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import COMPILED, LAYER, PREDICT, is_calling
from tfperfkit_rules.measures.source_text import find_frame_loops, find_function, find_loop
from tfperfkit_rules.measures.step_place import TAPE, reached

_UPDATES = ("call", "loop_call", "apply", "batch", "train_on_batch", "named")
#: Methods of a callback that Keras calls around an epoch.
_EPOCH_ENDS = frozenset({"on_epoch_end", "on_epoch_begin"})
_KNOWN: WeakKeyDictionary[Evidence, tuple[frozenset[Place], frozenset[Place]]] = WeakKeyDictionary()


def in_pass(evidence: Evidence, stack: Stack, *, within_steps: bool) -> Place | None:
    """Return the loop of the pass that a sample is in; ``within_steps``: one in the innermost training loop, else one
    next to it.
    """
    within, beside = _passes(evidence)
    wanted = within if within_steps else beside
    for frame in stack.frames if wanted else ():
        for loop in find_frame_loops(evidence, frame):
            if (frame.file, loop.line) in wanted:
                return frame.file, loop.line
    return None


def computes(evidence: Evidence, stack: Stack) -> bool:
    """Whether a sample is of a model or of a compiled function."""
    return any(is_calling(evidence, frame, api) for frame in stack.frames for api in (COMPILED, LAYER))


def at_epoch_end(evidence: Evidence, stack: Stack) -> Place | None:
    """Return the line at which a callback of Keras' calls ``predict`` once at the end of an epoch. Of ``evaluate``,
    and of calls in a loop, others tell."""
    names = [frame.name.rpartition(".")[2] for frame in stack.frames]
    begin = next((index for index, name in enumerate(names) if name in _EPOCH_ENDS), None)
    if begin is None or not is_calling(evidence, stack.frames[-1], PREDICT):
        return None
    below = stack.frames[begin:]
    if any(find_frame_loops(evidence, frame) for frame in below):
        return None
    return below[-1].file, below[-1].line


def _differentiates(evidence: Evidence, loop: Place) -> bool:
    """Whether gradients are taken in it, or in a function that it calls by name: they are added up for an update."""
    whole = find_loop(evidence, *loop)
    syntax = evidence.syntax(loop[0])
    if whole is None or syntax is None:
        return False
    called = {call.function.last_name for call in syntax.calls if call.line in whole.lines}
    for tape in evidence.calls(TAPE):
        function = find_function(evidence, tape.file, tape.line)
        if (tape.file == loop[0] and tape.line in whole.lines) or (function and function.name in called):
            return True
    return False


def _computing(evidence: Evidence, loop: Place) -> bool:
    whole = find_loop(evidence, *loop)
    stacks = {stack for _, stack in evidence.log.inside(list(evidence.log.whole))}
    return whole is not None and any(
        computes(evidence, stack) and any(frame.file == loop[0] and frame.line in whole.lines for frame in stack.frames)
        for stack in stacks
    )


def _passes(evidence: Evidence) -> tuple[frozenset[Place], frozenset[Place]]:
    """Return the loops that fetch and in which nothing was trained: (within the innermost loop of an update, where a
    model or a compiled function is called; the others that share a loop with an update)."""
    if evidence not in _KNOWN:
        updates = [site.loops for site in reached(evidence, *_UPDATES) if site.loops]
        training = {loop for around in updates for loop in around}
        innermost = {around[-1] for around in updates}
        within: set[Place] = set()
        beside: set[Place] = set()
        for site in evidence.sites():
            if site.kind != "next" or not site.loops or site.loops[-1] in training:
                continue
            outside: set[Seen] = set(site.loops[:-1])
            place = site.loops[-1].file, site.loops[-1].line
            if not outside & training or _differentiates(evidence, place):
                continue
            if not outside & innermost:
                beside.add(place)
            elif _computing(evidence, place):
                within.add(place)
        _KNOWN[evidence] = frozenset(within), frozenset(beside)
    return _KNOWN[evidence]
