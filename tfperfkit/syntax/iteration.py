"""Two questions about a loop: is an expression the same in every iteration, and are its iterations independent.

Each is answered "yes" (True) or "unknown" (False), never a wrong yes, by one analysis of what an iteration reads and
changes (``flow``). A call that is not known may change anything that it can reach. The bounds of the analysis:

* Reading an attribute of an object of an unknown class changes nothing, and follows from the object's state.
* Operators of such objects change nothing, unless a class of the file defines operators.
* An object that only other files make is of the class whose method runs, and another file changes none of its
  attributes meanwhile. Nothing is known if the file derives another class from that class.
* Two parameters are the same object only if a call in the file passes them so, or if unknown code calls the function.
* What another thread does meanwhile changes nothing that the loop reads, but for what it takes from queues.
* A tensor never changes, also not through an array that shares its memory.
* An exception that a statement raises by itself ends the loop: the answers are about iterations that end.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from functools import lru_cache

from tfperfkit.syntax.flow.iteration import Iteration, LoopNode
from tfperfkit.syntax.flow.state import Undecided

#: Calls whose API a run has shown, with their names in the table of effects (``layer.__call__``).
KnownCalls = Mapping[ast.Call, str]
_NOTHING_KNOWN: KnownCalls = {}


def same_in_every_iteration(
    tree: ast.Module, expression: ast.expr, loop: ast.AST, known: KnownCalls = _NOTHING_KNOWN
) -> bool:
    """Return whether an expression has the same value each time that the loop's iterations evaluate it, at the same
    place of the loops within, and evaluating it changes nothing.

    Args:
        loop: a ``for`` or ``while``, a comprehension (its first ``for``), or a function that something calls again and
            again.
        known: calls whose API a run has shown.
    """
    analysis = analyse(tree, loop, known)
    return analysis is not None and analysis.varies(expression) is False


def iterations_independent(
    tree: ast.Module, loop: ast.AST, known: KnownCalls = _NOTHING_KNOWN, *, draws: bool = True
) -> bool:
    """Return whether the iterations of a loop may run in any order and give the same, up to the order of what they
    collect and the rounding of sums.

    Args:
        draws: whether iterations that draw at random from one generator depend on each other.
    """
    return explain_dependence(tree, loop, known, draws=draws) == ""


def explain_dependence(
    tree: ast.Module, loop: ast.AST, known: KnownCalls = _NOTHING_KNOWN, *, draws: bool = True
) -> str:
    """Say why the iterations of a loop may depend on each other; "" if they don't."""
    if isinstance(loop, ast.While):
        return "a condition decides whether there is another iteration"
    analysis = analyse(tree, loop, known)
    return analysis.dependence(draws=draws) if analysis is not None else "the code is not understood"


def analyse(tree: ast.Module, loop: ast.AST, known: KnownCalls = _NOTHING_KNOWN) -> Iteration | None:
    """Return the analysis of one iteration; None if the code is too large or hides what it does."""
    return _analyse(tree, loop, tuple(known.items())) if isinstance(loop, LoopNode) else None


@lru_cache(maxsize=16)
def _analyse(tree: ast.Module, loop: LoopNode, known: tuple[tuple[ast.Call, str], ...]) -> Iteration | None:
    try:
        return Iteration(tree, loop, dict(known))
    except (Undecided, RecursionError):
        return None
