"""Ranks that trace or compile other than the rest."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from tfperfkit.ranks.part import Part, Traced
from tfperfkit.records.plural import plural

_MAX = 5


def differing(parts: Sequence[Part]) -> list[str]:
    """A sentence for each function that ranks trace differently often, or to different graphs."""
    functions: defaultdict[tuple[str, str, int], dict[str, Traced]] = defaultdict(dict)
    for part in parts:
        for function in part.functions:
            functions[function.function, Path(function.file).name, function.line][part.label] = function
    differences = []
    for (name, file, line), by_rank in functions.items():
        if len(by_rank) < len(parts):
            continue
        what = f"{name} ({file}:{line})"
        if len({each.traces for each in by_rank.values()}) > 1:
            differences.append(f"{what} is traced differently often: {_by(by_rank, _times)}")
        elif len({each.jit_compile for each in by_rank.values()} - {None}) > 1:
            differences.append(f"{what} is compiled by XLA on some ranks only: {_by(by_rank, _jit)}")
        elif len({each.operations for each in by_rank.values()} - {None}) > 1:
            differences.append(f"{what} has different graphs: {_by(by_rank, _operations)}")
    return differences[:_MAX]


def _times(each: Traced) -> str:
    times = "once" if each.traces == 1 else f"{each.traces} times"
    return f"{times} ({each.varying})" if each.varying and each.traces > 1 else times


def _jit(each: Traced) -> str:
    return "by XLA" if each.jit_compile else "without"


def _operations(each: Traced) -> str:
    return plural(each.operations, "operation") if each.operations is not None else "not known"


def _by(by_rank: dict[str, Traced], words: Callable[[Traced], str]) -> str:
    """``once on rank 0, rank 2; 20 times on rank 1``"""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for rank, each in by_rank.items():
        groups[words(each)].append(rank)
    shown = [f"{text} on {', '.join(who[:4])}{' ...' if len(who) > 4 else ''}" for text, who in groups.items()]
    return "; ".join(shown[:4])
