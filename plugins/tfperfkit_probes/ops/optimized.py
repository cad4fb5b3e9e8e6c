"""The result of Grappler on a function: which operations were folded into constants, fused, removed, added."""

from __future__ import annotations

import re
from collections import Counter

from tfperfkit.graph.model import Graph, optimized_types
from tfperfkit.graph.walk import BRANCHES, CALLS, LOOPS, walk
from tfperfkit_probes.ops.model import FusedKernel, Optimized

#: Grappler names an inlined body ``while/body/_6/while/add``; without its number it is the path that we walk.
_INLINED = re.compile(r"/(?:body|cond|then|else|branch_\d+)/_\d+/")
_FUSED = re.compile(r"_Fused|_Mkl\w*Fused|_XlaCompile|XlaLaunch|_MklNativeFused|_TrtEngine")
_ENDS = frozenset({"_Arg", "_Retval", "Placeholder"})


def histogram(data: bytes) -> dict[str, int]:
    """Operations by type after Grappler, arguments and results as ``_Arg`` and ``_Retval``. Raises ``Damaged``."""
    return dict(Counter(kind for _, kind, _ in optimized_types(data)).most_common())


def compare(graph: Graph, data: bytes) -> Optimized:
    """Match the operations before and after by their names. Raises ``Damaged``."""
    before = {
        _plain(visit.path + visit.node.name): visit.node.type
        for visit in walk(graph)
        if visit.node.type not in _ENDS and visit.node.type not in CALLS | LOOPS | BRANCHES
    }
    after: dict[str, str] = {}
    kernels: Counter[tuple[str, str]] = Counter()
    members = 0
    for name, kind, raw in optimized_types(data):
        if kind in _ENDS:
            continue
        name = _plain(name)
        after[name] = kind
        parts = [part.decode("utf-8", "replace") for e in raw.attr if e.key == b"fused_ops" for part in e.value.list.s]
        if parts or _FUSED.search(kind):
            own = kind.lstrip("_").removeprefix("MklNative").removeprefix("Fused")
            kernels[kind, " + ".join([own, *parts])] += 1
            members += len(parts)
    common = before.keys() & after.keys()
    folded = sum(after[name] == "Const" and before[name] != "Const" for name in common)
    gone = len(before) - len(common)
    fused = min(members, gone)
    return Optimized(
        operations=len(after),
        kept=len(common) - folded,
        folded=folded,
        fused=fused,
        removed=gone - fused,
        added=len(after) - len(common),
        kernels=[FusedKernel(kind, parts, count) for (kind, parts), count in kernels.most_common(20)],
    )


def _plain(name: str) -> str:
    previous = ""
    while name != previous:
        previous, name = name, _INLINED.sub("/", name, count=1)
    return name
