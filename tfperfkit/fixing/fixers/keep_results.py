"""``.cache()`` behind the map that does the same work in each epoch."""

from __future__ import annotations

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import inserted, upstream
from tfperfkit.fixing.edit import Edit, NoFix, argument
from tfperfkit.fixing.module import Module, method


def fix(case: Case) -> list[Edit]:
    """Of the first place with a ``map``: the one whose function the finding names, where several stand there."""
    named = {span.function.rpartition(".")[2] for span in case.finding.where if span.function}
    for module, span in case.places():
        maps = module.methods_at(span.line, "map")
        found = maps if len(maps) == 1 else [call for call in maps if _function(call) in named]
        if len(found) > 1 or (maps and not found):
            raise NoFix("several maps stand on its line")
        if found:
            _check(module, found[0])
            return [inserted(module, found[0], "cache")]
    raise NoFix("no map stands at its place")


def _check(module: Module, call: cst.Call) -> None:
    """A cache behind an endless repeat never ends, and behind a shuffle it keeps one order. Raises NoFix."""
    above = next(module.around(call), None)
    if isinstance(above, cst.Attribute) and above.attr.value == "cache":
        raise NoFix("a cache stands behind it already")
    for before in upstream(module, call):
        name = method(before)
        if name in ("shuffle", "repeat", "cache", "list_files"):
            shuffles = name == "list_files" and not _is_false(argument(before, "shuffle"))
            if name != "list_files" or shuffles:
                words = "list_files, which shuffles," if shuffles else f"a {name}"
                raise NoFix(f"{words} stands before it, and the cache has to stand before that")


def _is_false(given: cst.Arg | None) -> bool:
    return given is not None and isinstance(given.value, cst.Name) and given.value.value == "False"


def _function(call: cst.Call) -> str:
    """The name of what is mapped; "" of an expression."""
    first = call.args[0].value if call.args else None
    if isinstance(first, cst.Attribute):
        return str(first.attr.value)
    return first.value if isinstance(first, cst.Name) else ""


FIXER = Fixer(
    "keeps what the map makes with cache()",
    fix,
    "all elements of an epoch are held in memory, as the finding counts them; cache(path) holds them in a file",
)
