"""Find which results of a function the user's source reads, if all its calls show that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import Syntax, get_file
from tfperfkit_rules.measures.source_calls import list_files
from tfperfkit_rules.measures.step_shares import span

_COMPILES = "tensorflow.function"


class Reads(NamedTuple):
    """The positions of the results that are read, and where the calls are."""

    results: frozenset[int]
    calls: tuple[SourceSpan, ...]


def find_read_results(evidence: Evidence, name: str, count: int) -> Reads | None:
    """Find which of the ``count`` results of the function of this name its callers read.

    None if that is unknown: a caller passes on the results as a whole, or the function itself.
    """
    keys = list(_find_result_keys(evidence, name))
    if not keys or any(each is None or len(each) != count for each in keys) or len(set(map(str, keys))) > 1:
        return None
    return _find_reads(evidence, name, lambda node: node.last_name == name, keys[0] or [])


def find_read_results_of_method(evidence: Evidence, names: Iterable[str], count: int) -> Reads | None:
    """Find the same for a method of any object, whose results are a list."""
    wanted = set(names)
    return _find_reads(
        evidence, "", lambda node: node.kind == "attribute" and node.last_name in wanted, list(range(count))
    )


def _find_reads(evidence: Evidence, name: str, is_it: Callable[[Expression], bool], keys: list[object]) -> Reads | None:
    read: set[int] = set()
    places: list[SourceSpan] = []
    for file, syntax in list_files(evidence):
        aliases = {each for each in _find_aliases(syntax, name) if each != name} if name else set()
        for node in syntax.find_expressions("name", "attribute"):
            if not node.is_read or not (is_it(node) or node.text in aliases):
                continue
            call = node.parent
            if not isinstance(call, Call) or call.function is not node:
                if name and not _is_compiled(call):
                    return None
                continue
            found = _find_read_keys(call, keys)
            if found is None:
                return None
            read |= found
            places.append(span(evidence, file, call.line))
    return Reads(frozenset(read), tuple(places)) if places else None


def _find_aliases(syntax: Syntax, name: str) -> Iterator[str]:
    """Find ``train`` of ``train = tf.function(step)``."""
    for item in syntax.assignments:
        made = item.value
        if isinstance(made, Call) and _is_compiled(made) and name in (each.last_name for each in made.arguments[:1]):
            yield from (target.text for target in item.targets if target.kind == "name")


def _is_compiled(node: Expression | None) -> bool:
    return isinstance(node, Call) and node.name == _COMPILES


def _find_result_keys(evidence: Evidence, name: str) -> Iterator[list[object] | None]:
    """Find the keys by which the results of each ``return`` are read, in TensorFlow's order: positions in a tuple, or
    the sorted keys of a dictionary. None for anything else."""
    for _, syntax in list_files(evidence):
        for function in syntax.functions:
            if function.name == name:
                yield from map(_list_keys, function.returned)


def _list_keys(value: Expression | None) -> list[object] | None:
    if value is None:
        return None
    if value.kind in ("tuple", "list") and not any(each.kind == "starred" for each in value.items):
        return list(range(len(value.items)))
    keys = [key.value for key in value.keys if key is not None and key.is_constant()]
    if value.kind != "dict" or len(keys) < len(value.keys):
        return None
    return [*sorted(key for key in keys if isinstance(key, str))]


def _find_read_keys(node: Expression, keys: list[object]) -> set[int] | None:
    """Find the positions of the results in an expression that are read; None if all may be."""
    if node.is_statement:
        return set()
    above = node.parent
    if above is not None and above.owner is node and above.index is not None:
        at = above.index.value
        if isinstance(at, int) and -len(keys) <= at < 0:
            return {len(keys) + at}
        return {keys.index(at)} if at in keys else None
    target = node.target
    if target is not None and target.kind == "tuple" and len(target.items) == len(keys) and keys[:1] == [0]:
        return _find_read_targets(target)
    return _find_read_parts(target, keys) if target is not None and target.kind == "name" else None


def _find_read_targets(target: Expression) -> set[int]:
    """Find the positions of the names that are read anywhere in the file, also where they hold something else."""
    loaded = get_file(target).read_names
    return {n for n, each in enumerate(target.items) if each.kind != "name" or each.text in loaded}


def _find_read_parts(target: Expression, keys: list[object]) -> set[int] | None:
    """Find the results that are read by position or key from a name that holds all of them; None if the name holds
    another value too."""
    read: set[int] = set()
    for node in get_file(target).find_expressions("name"):
        if node.text != target.text or node is target:
            continue
        found = _find_read_keys(node, keys) if node.is_read and node.target is None else None
        if found is None:
            return None
        read |= found
    return read
