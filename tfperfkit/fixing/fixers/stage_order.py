"""Stages of a pipeline in another order: each call stays where it is written and gets another stage's name and
arguments, so that stages of a chain and of statements that follow each other are moved alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import libcst as cst

from tfperfkit.fixing import names
from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import STAGES, inserted, upstream
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, method, walk

#: Stages of one element each: others may be moved across them.
_MAPS = frozenset({"map"})
_EARLIER = ("filter", "shuffle", "skip", "take")
_LATER = ("cache", "prefetch")
#: A cache after these keeps what it kept before: they draw nothing, and end with the epoch.
_STEADY = frozenset({"map", "batch", "padded_batch", "unbatch", "filter", "prefetch", "take", "skip"})


def _move_earlier(case: Case) -> list[Edit]:
    """Move the stage at the first place before the map at another."""
    module, moved, chain = _find_chain(case, _EARLIER, upward=True)
    if any(method(call) not in _MAPS for call in chain[1:]):
        raise NoFix("other stages than maps stand between")
    arguments = moved.args
    if method(moved) == "filter":
        for call in chain[1:]:
            arguments = [arguments[0].with_changes(value=_find_predicate(module, arguments[0].value, call))]
    return rotate(module, chain, {moved: arguments})


def _move_later(case: Case) -> list[Edit]:
    """Move the stage at the first place after the work at another."""
    module, moved, chain = _find_chain(case, _LATER, upward=False)
    between = [method(call) for call in chain[1:-1]]
    if method(moved) == "cache" and not _STEADY.issuperset(between):
        if _MAPS & set(between):
            raise NoFix("a cache would keep one order, or each repetition, and other maps stand before this one")
        return rotate(module, chain[::-1])  # the map before the cache, and both before the shuffle
    return rotate(module, chain)


def _move_cache_earlier(case: Case) -> list[Edit]:
    """Move a cache before the shuffle, the repeat or the random map at another place, or a shuffle before a batch."""
    module, _, chain = _find_chain(case, ("cache", "shuffle"), upward=True)
    return rotate(module, chain)


def _find_chain(case: Case, stages: Sequence[str], *, upward: bool) -> tuple[Module, cst.Call, list[cst.Call]]:
    """Return the stage to move, and the calls from it to the stage at another place, in the order of the way that it
    takes. Raises NoFix."""
    places = list(case.places())
    module, span = places[0]
    moved = module.methods_at(span.line, *stages)
    if len(moved) != 1:
        raise NoFix(f"there is not one {' or '.join(stages)} at its place")
    ends = ("map", "flat_map", "interleave") if method(moved[0]) == "cache" and not upward else tuple(STAGES)
    for other, place in places[1:]:
        for call in other.methods_at(place.line, *ends) if other is module else ():
            late, early = (moved[0], call) if upward else (call, moved[0])
            found = _between(module, late, early)
            if found is not None and call is not moved[0]:
                check_names(module, found)
                return module, moved[0], found if upward else found[::-1]
    raise NoFix("the other stage is not seen before it" if upward else "the other stage is not seen after it")


def _between(module: Module, late: cst.Call, early: cst.Call) -> list[cst.Call] | None:
    """Return the calls from a stage to an earlier one, both included; None if the earlier one is not before it."""
    found = [late]
    try:
        for call in upstream(module, late):
            found.append(call)
            if call is early:
                return found
    except NoFix:
        pass
    return None


def check_names(module: Module, chain: Sequence[cst.Call]) -> None:
    """Raise NoFix if a name that holds a dataset between two of the stages is read by anything else, or if a name in
    the stages' arguments gets its value between them."""
    nodes = {node: number for number, node in enumerate(module.nodes)}
    places = sorted(nodes[call.func.attr] for call in chain if isinstance(call.func, cst.Attribute))
    given = {name for node, at in nodes.items() if places[0] < at < places[-1] for name in names.gives(node)}
    late = given & set().union(set(), *(names.read(item.value) for call in chain for item in call.args))
    if late:
        raise NoFix(f"{min(late)} gets its value between the two stages")
    for late, early in zip(chain, chain[1:], strict=False):
        receiver = late.func.value if isinstance(late.func, cst.Attribute) else None
        if not isinstance(receiver, cst.Name):
            continue
        name = receiver.value
        begin, end = nodes[early], nodes[receiver]
        targets = {
            node.target
            for node in module.nodes
            if isinstance(node, cst.AssignTarget) and isinstance(node.target, cst.Name)
        }
        reads = [node for node in nodes if isinstance(node, cst.Name) and node.value == name and node not in targets]
        own = set(walk(early))
        if any(begin < nodes[node] < end and node not in own for node in reads):
            raise NoFix(f"{name} is used between the two stages")
        bound_again = any(
            node.value == name and _statement(module, node) is _statement(module, late) for node in targets
        )
        if not bound_again and any(nodes[node] > end for node in reads):
            raise NoFix(f"{name} is used after the two stages, too")


def _statement(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    return next((at for at in module.around(node) if isinstance(at, cst.SimpleStatementLine)), None)


def rotate(
    module: Module, chain: Sequence[cst.Call], arguments: Mapping[cst.Call, Sequence[cst.Arg]] | None = None
) -> list[Edit]:
    """Return the edits that put the first stage of the chain last, and each other one a place back.

    ``arguments``: of stages that get others than they have.
    """
    edits = []
    for place, stage in zip(chain, (*chain[1:], chain[0]), strict=True):
        given = (arguments or {}).get(stage, stage.args)
        edits.append(Edit(module.file, place, _Become(method(stage), given)))
    return edits


class _Become:
    """Give a call the name and the arguments of another stage."""

    def __init__(self, name: str, arguments: Sequence[cst.Arg]) -> None:
        self._name, self._arguments = name, arguments

    def __call__(self, node: Any) -> Any:
        return node.with_changes(func=node.func.with_changes(attr=cst.Name(self._name)), args=self._arguments)


def _find_predicate(module: Module, predicate: cst.BaseExpression, mapped: cst.Call) -> cst.BaseExpression:
    """Return the filter's function for the elements before the map. Raises NoFix unless it reads only arguments that
    the map's function returns as it gets them."""
    function = mapped.args[0].value if mapped.args else None
    given, back = _signature(module, function)
    read, _ = _signature(module, predicate)
    if len(read) != len(back) or not isinstance(predicate, (cst.Lambda, cst.Name)):
        raise NoFix("the filter's function takes other values than the map returns")
    body = predicate.body if isinstance(predicate, cst.Lambda) else _definition(module, predicate).body
    used = {node.value for node in walk(body) if isinstance(node, cst.Name)}
    passed = {name: value for name, value in zip(read, back, strict=True) if name in used}
    if any(value not in given for value in passed.values()):
        raise NoFix("the filter reads what the map makes")
    if len(read) == len(given) and all(given.index(value) == read.index(name) for name, value in passed.items()):
        return predicate
    if not isinstance(predicate, cst.Lambda) or any(name != value for name, value in passed.items()):
        raise NoFix("the filter's function would take its arguments in another order")
    parameters = cst.Parameters([cst.Param(cst.Name(name)) for name in given])
    return predicate.with_changes(params=parameters)


def _signature(module: Module, function: cst.CSTNode | None) -> tuple[list[str], list[str]]:
    """Return the parameters of a function, and the names of the values that it returns, "" for others."""
    if isinstance(function, cst.Lambda):
        parameters, result = function.params, function.body
    else:
        found = _definition(module, function)
        parameters = found.params
        returns = [node for node in walk(found.body) if isinstance(node, cst.Return)]
        if len(returns) != 1 or returns[0].value is None:
            raise NoFix("the function does not return once")
        result = returns[0].value
    given = [item.name.value for item in parameters.params]
    values = [item.value for item in result.elements] if isinstance(result, cst.Tuple) else [result]
    kept = {name for name in given if not _is_bound(function, module, name)}
    return given, [item.value if isinstance(item, cst.Name) and item.value in kept else "" for item in values]


def _is_bound(function: cst.CSTNode | None, module: Module, name: str) -> bool:
    """Return whether a function gives a name another value."""
    body = function.body if isinstance(function, cst.Lambda) else _definition(module, function).body
    return any(isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.NamedExpr)) and any(
        isinstance(at, cst.Name) and at.value == name for at in walk(node.target)) for node in walk(body))  # fmt: skip


def _definition(module: Module, function: cst.CSTNode | None) -> cst.FunctionDef:
    """Return the one function of the file that a name stands for; raises NoFix."""
    name = (
        function.value
        if isinstance(function, cst.Name)
        else function.attr.value
        if isinstance(function, cst.Attribute)
        else ""
    )
    found = [node for node in module.nodes if isinstance(node, cst.FunctionDef) and node.name.value == name]
    if len(found) != 1:
        raise NoFix("the function is not seen")
    return found[0]


def cache_before_shuffle(module: Module, mapped: cst.Call) -> list[Edit]:
    """Return the edits that move a map, and those before it, ahead of the shuffle that they follow, and keep what they
    make. Raises NoFix if other stages stand between."""
    found = [mapped]
    for call in upstream(module, mapped):
        found.append(call)
        if method(call) == "shuffle":
            break
        if method(call) not in _MAPS:
            raise NoFix("other stages than maps stand between the shuffle and the map")
    check_names(module, found)
    chain = found[::-1]  # the shuffle goes to the place of the last map
    return [*rotate(module, chain), inserted(module, chain[-2], "cache")]


EARLIER = Fixer(
    "moves the stage before the map",
    _move_earlier,
    "random numbers that the map draws fall on other elements",
    keeps="mathematics",
)
LATER = Fixer("moves the stage after the work", _move_later, "a cache holds all elements of an epoch in memory")
CACHE_EARLIER = Fixer(
    "moves the stage before the other one", _move_cache_earlier, "epochs differ as they should", keeps="nothing"
)
