"""Which argument of a call goes to which parameter of a function.

Covers positional and keyword arguments, defaults, ``*args`` and ``**kwargs`` on both sides, and methods, whose first
parameter is the object. A parameter that ``*`` or ``**`` of the call may fill is undecided.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Given:
    """Value of one parameter.

    ``values``: the expressions that it may be bound to; one, unless the parameter takes the rest or ``sure`` is False.
    ``default``: the expression of its default is used, or may be. ``rest``: it collects arguments in a tuple or a dict.
    """

    values: tuple[ast.expr, ...] = ()
    default: ast.expr | None = None
    rest: bool = False
    sure: bool = True


@dataclass
class _Left:
    """The arguments of a call that are not bound yet."""

    positional: list[ast.expr]
    stars: list[ast.expr] = field(default_factory=list)
    words: dict[str, ast.expr] = field(default_factory=dict)
    double_stars: list[ast.expr] = field(default_factory=list)


def bind_arguments(
    parameters: ast.arguments, call: ast.Call, *, skip: int = 0, before: Sequence[ast.keyword | ast.expr] = ()
) -> dict[str, Given] | None:
    """Return what each parameter gets from a call; None if Python would refuse the call.

    Args:
        parameters: of the function.
        call: the call of the function.
        skip: how many parameters are bound already: 1 for a method that is called on an object.
        before: arguments that a ``functools.partial`` adds, before those of the call.
    """
    left = _arguments(call, before)
    names = [*parameters.posonlyargs, *parameters.args]
    defaults = dict(zip([item.arg for item in names[::-1]], parameters.defaults[::-1], strict=False))
    defaults |= {
        item.arg: value
        for item, value in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)
        if value is not None
    }
    found: dict[str, Given] = {}
    for index, item in enumerate(names[skip:]):
        only_by_position = index + skip < len(parameters.posonlyargs)
        found[item.arg] = _bind(item.arg, left, defaults.get(item.arg), position=True, word=not only_by_position)
    if left.positional and parameters.vararg is None:
        return None
    if parameters.vararg is not None:
        sure = not left.stars
        found[parameters.vararg.arg] = Given((*left.positional, *left.stars), rest=True, sure=sure)
    for item in parameters.kwonlyargs:
        found[item.arg] = _bind(item.arg, left, defaults.get(item.arg), position=False, word=True)
    if left.words and parameters.kwarg is None:
        return None
    if parameters.kwarg is not None:
        sure = not left.double_stars
        found[parameters.kwarg.arg] = Given((*left.words.values(), *left.double_stars), rest=True, sure=sure)
    missing = [name for name, given in found.items() if not (given.values or given.default or given.rest)]
    return None if missing else found


def _arguments(call: ast.Call, before: Sequence[ast.keyword | ast.expr]) -> _Left:
    positional = [*(item for item in before if isinstance(item, ast.expr)), *call.args]
    first = next((index for index, item in enumerate(positional) if isinstance(item, ast.Starred)), len(positional))
    left = _Left(positional[:first], [*positional[first:]])
    for word in (*(item for item in before if isinstance(item, ast.keyword)), *call.keywords):
        if word.arg is None:
            left.double_stars.append(word.value)
        else:
            left.words[word.arg] = word.value
    return left


def _bind(name: str, left: _Left, default: ast.expr | None, *, position: bool, word: bool) -> Given:
    if position and left.positional:
        return Given((left.positional.pop(0),))
    if word and name in left.words:
        return Given((left.words.pop(name),))
    stars = (*(left.stars if position else ()), *(left.double_stars if word else ()))
    return Given(stars, default, sure=not stars)
