"""Whether the iterations of a Python loop are independent: then all of them can be one batch.

Values that iterations only collect (``rows.append(x)``, ``total += x``, ``out[i] = x``) may be collected from a batch
too, and numbers that they draw at random may be drawn for the whole batch. The loop of the training steps is never such
a loop.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from tfperfkit.rule import Evidence
from tfperfkit.syntax.iteration import iterations_independent
from tfperfkit_rules.measures.known_calls import find_known_calls
from tfperfkit_rules.measures.loop_parts import goes_over_parts
from tfperfkit_rules.measures.source_text import Loop

_KNOWN: WeakKeyDictionary[Evidence, dict[tuple[str, Loop], bool]] = WeakKeyDictionary()


def are_iterations_independent(evidence: Evidence, file: str, loop: Loop) -> bool:
    """Whether the iterations of a ``for`` loop or a comprehension are surely independent; False for ``while``, for
    loops over layers and variables, and if the source was not kept."""
    known = _KNOWN.setdefault(evidence, {})
    if (file, loop) not in known:
        known[file, loop] = _is_independent(evidence, file, loop)
    return known[file, loop]


def _is_independent(evidence: Evidence, file: str, loop: Loop) -> bool:
    syntax = evidence.syntax(file)
    if syntax is None or _trains(evidence, file, loop) or goes_over_parts(evidence, file, loop):
        return False
    return iterations_independent(syntax.tree, loop.node, find_known_calls(evidence, file), draws=False)


def _trains(evidence: Evidence, file: str, loop: Loop) -> bool:
    """Whether the training steps are iterations of this loop, or of one within it."""
    steps = evidence.steps.loop if evidence.work is None else None
    return steps is not None and steps.file == file and loop.line <= steps.line <= loop.last
