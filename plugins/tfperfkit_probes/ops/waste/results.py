"""What a function computes for one of its results alone. No compiler takes it out: who calls may read that result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Set
from itertools import chain

from tfperfkit.graph.model import Node
from tfperfkit.graph.view import View
from tfperfkit.graph.walk import PASSING
from tfperfkit_probes.ops.model import Wasted

KIND = "result"
#: What runs whoever reads it: beginnings of the names of types.
_RUNS_ANYHOW = ("Assign", "Resource", "Print", "Assert", "Write", "PyFunc", "EagerPyFunc", "Queue", "Iterator") + (
    "Collective",
    "Stateful",
    "Save",
    "Optional",
)
_READS = frozenset({"ResourceGather", "ResourceGatherNd"})
_FEWEST, _MOST = 2, 16


def results(view: View) -> Iterator[Wasted]:
    """For each of several results: the operations that neither another result nor anything that is kept needs."""
    names = list(view.graph.record.results)
    if not _FEWEST <= len(names) <= _MOST:
        return
    kept = _needs(view, (node.name for node in view.nodes.values() if _runs_anyhow(node)), frozenset())
    needs = [_needs(view, [name], kept) for name in names]
    users = Counter(chain.from_iterable(needs))
    for number, mine in enumerate(needs):
        alone = [view.nodes[each] for each in mine if users[each] == 1]
        found = [node for node in alone if node.type not in PASSING and not node.backward]
        if not found:
            continue
        found.sort(key=lambda node: view.order[node.name])
        places = [node.place for node in reversed(found) if node.place is not None]
        yield Wasted(
            kind=f"{KIND}_{number}",
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=[node.name for node in found],
            left=0.0,
            names=[view.graph.name],
            figures={"number": number, "results": len(names)},
        )


def _runs_anyhow(node: Node) -> bool:
    return node.type.startswith(_RUNS_ANYHOW) and node.type not in _READS


def _needs(view: View, names: Iterable[str], known: Set[str]) -> set[str]:
    """These and all that they need, without what is ``known``."""
    pending = [name for name in names if name in view.nodes and name not in known]
    seen = set(pending)
    while pending:
        node = view.nodes[pending.pop()]
        for owner in (*(each for each, _ in node.inputs), *node.control_inputs):
            if owner in view.nodes and owner not in seen and owner not in known:
                seen.add(owner)
                pending.append(owner)
    return seen
