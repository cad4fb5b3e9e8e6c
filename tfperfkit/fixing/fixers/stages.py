"""Stages of a ``tf.data`` pipeline: parallel maps, prefetch, cache, no smaller last batch."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.chain import MAKERS, STAGES, behind, inserted, upstream
from tfperfkit.fixing.edit import Edit, NoFix, argument, keyword
from tfperfkit.fixing.fixers.stage_order import cache_before_shuffle
from tfperfkit.fixing.module import Module, dotted, method, walk
from tfperfkit.remedy import KeepTrace


def _add_parallel_calls(case: Case) -> list[Edit]:
    """Add ``num_parallel_calls`` to the first sequential ``map``, and to the maps of other functions that the finding
    names, which TensorFlow fuses with it."""
    named = {span.function for span in case.finding.where}
    found: list[tuple[Module, cst.Call]] = []
    for module, span in case.places():
        for call in _find_sequential_maps(module, span.line):
            if call not in (known for _, known in found) and (not found or _mapped_name(call) in named):
                found.append((module, call))
    if not found:
        raise NoFix("there is no map without num_parallel_calls at its place")
    return [
        keyword(module.file, call, "num_parallel_calls", module.spelled("tensorflow.data.AUTOTUNE", call))
        for module, call in found
    ]


def _find_sequential_maps(module: Module, line: int) -> Iterator[cst.Call]:
    for call in module.methods_at(line, "map"):
        positional = [item for item in call.args if item.keyword is None and item.star != "**"]
        if call.args and len(positional) <= 1 and argument(call, "num_parallel_calls") is None:
            yield call


PARALLEL_MAP = Fixer(
    "adds num_parallel_calls to the map",
    _add_parallel_calls,
    "the order of elements stays; random numbers that the function draws fall on other elements",
)


def _add_cache(case: Case) -> list[Edit]:
    """Add ``cache`` after the first ``map``; of several on a line after the one whose function the finding names."""
    module, call = _find_map(case)
    _check_before(module, call)
    return [inserted(module, call, "cache")]


def _cache_before_shuffle(case: Case) -> list[Edit]:
    """Move the map before the shuffle that it follows, and keep what the map makes."""
    module, call = _find_map(case)
    names = [method(before) for before in upstream(module, call)]
    if "shuffle" not in names or {"repeat", "cache"} & set(names):
        raise NoFix("no shuffle stands before it, or other stages that a cache can't follow")
    return cache_before_shuffle(module, call)


def _find_map(case: Case) -> tuple[Module, cst.Call]:
    """Find the map, or the stage that makes elements like one, at the first place with one."""
    named = {span.function.rpartition(".")[2] for span in case.finding.where if span.function}
    for module, span in case.places():
        maps = module.methods_at(span.line, "map", "flat_map", "interleave")
        found = maps if len(maps) == 1 else [call for call in maps if _mapped_name(call) in named]
        if len(found) > 1 or (maps and not found):
            raise NoFix("several maps stand on its line")
        if found:
            return module, found[0]
    raise NoFix("there is no map at its place")


def _check_before(module: Module, call: cst.Call) -> None:
    """Raise NoFix if the cache would never end, after a repeat, or would keep one order, after a shuffle."""
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


def _mapped_name(call: cst.Call) -> str:
    """Return the last name of the mapped function; "" for an expression."""
    first = call.args[0].value if call.args else None
    if isinstance(first, cst.Attribute):
        return str(first.attr.value)
    return first.value if isinstance(first, cst.Name) else ""


CACHE = Fixer(
    "keeps what the map makes with cache()",
    _add_cache,
    "all elements of an epoch are held in memory, as the finding counts them; cache(path) holds them in a file",
)
CACHE_BEFORE_SHUFFLE = Fixer(
    "maps before the shuffle, and keeps what the map makes with cache()",
    _cache_before_shuffle,
    "all elements of an epoch are held in memory, as the finding counts them; cache(path) holds them in a file",
)


def _add_prefetch(case: Case) -> list[Edit]:
    """Add ``prefetch`` after the last stage of the chain at the first place with a stage."""
    for module, span in case.places():
        ends = {
            id(end): end for call in module.methods_at(span.line, *STAGES, *MAKERS) for end in [_find_end(module, call)]
        }
        outer = [end for end in ends.values() if not any(item in module.around(end) for item in ends.values())]
        if len(outer) > 1:
            raise NoFix("several pipelines stand on its line")
        if outer and method(outer[0]) != "prefetch":
            return [
                Edit(module.file, outer[0], behind("prefetch", module.spelled("tensorflow.data.AUTOTUNE", outer[0])))
            ]
    raise NoFix("there is no stage without a prefetch at its place")


def _find_end(module: Module, call: cst.Call) -> cst.Call:
    """Find the last stage of the chain that a stage is in."""
    while True:
        above = list(module.around(call))[:2]
        if len(above) < 2 or not isinstance(above[0], cst.Attribute) or not isinstance(above[1], cst.Call):
            return call
        if above[1].func is not above[0] or above[0].attr.value not in STAGES:
            return call
        call = above[1]


PREFETCH = Fixer(
    "ends the pipeline with prefetch", _add_prefetch, "batches held ready take memory; elements and their order stay"
)


_BATCH = ("batch", "padded_batch")


def _add_drop_remainder(case: Case) -> list[Edit]:
    """Add ``drop_remainder`` to the only ``batch`` that feeds the loop or the ``fit`` at one of the finding's
    places."""
    for module, span in case.places():
        fed = _find_fed_batches(module, span.line)
        found = [call for call in fed if argument(call, "drop_remainder") is None and len(call.args) < 3]
        if len(found) == 1 and len(fed) == 1:
            open_length = method(found[0]) == "padded_batch" and argument(found[0], "padded_shapes") is None
            if case.finding.remedy == KeepTrace("shape") and open_length:
                raise NoFix("its batches may differ in their lengths too, so without the last one XLA still recompiles")
            return [keyword(module.file, found[0], "drop_remainder", cst.Name("True"))]
    raise NoFix("the batch() that makes the smaller batches is not to be seen from its place")


def _find_fed_batches(module: Module, line: int) -> list[cst.Call]:
    for node in module.nodes:
        if isinstance(node, cst.For) and module.spans(node, line):
            found = _find_batches(module, node.iter)
            if found:
                return found
    for call in module.methods_at(line, "fit"):
        if call.args:
            return _find_batches(module, call.args[0].value)
    return module.methods_at(line, *_BATCH)


def _find_batches(module: Module, fed: cst.CSTNode) -> list[cst.Call]:
    """Find ``batch`` calls in an expression, or in what its names were assigned."""
    found = [node for node in walk(fed) if isinstance(node, cst.Call) and method(node) in _BATCH]
    names = {node.value for node in walk(fed) if isinstance(node, cst.Name)}
    for node in module.nodes if not found else ():
        if isinstance(node, cst.Assign) and {dotted(item.target) for item in node.targets} & names:
            found += [item for item in walk(node.value) if isinstance(item, cst.Call) and method(item) in _BATCH]
    return found


DROP_REMAINDER = Fixer(
    "drops the last, smaller batch",
    _add_drop_remainder,
    "the rest of the examples is left out in each pass: shuffle before batch, so that it is another rest each time",
    keeps="nothing",
)
