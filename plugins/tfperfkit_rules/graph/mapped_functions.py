"""Work that need not be done in the function of the pipeline's stage for which the steps wait: the rules about the
graphs of compiled functions, asked of that function.

Its findings explain the wait (INP001). Of its loops only those of ``tf.map_fn`` count as too many tiny iterations: it
is known of them that no iteration needs another.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence, Rule
from tfperfkit_rules.graph.loop_advice import is_map, kind_of
from tfperfkit_rules.graph.rule import GraphRule
from tfperfkit_rules.graph.small_loops import small_loops
from tfperfkit_rules.measures.mapped_function import find_mapped_function


def in_mapped_function(evidence: Evidence) -> Iterator[Finding]:
    """Yield the findings about the function, with their shares of the step."""
    found = find_mapped_function(evidence)
    if found is None:
        return
    for rule in _list_rules():
        for each in rule(found.evidence):
            if each.code == "GRF005" and not is_map(kind_of(evidence, each.where[0])):
                continue
            yield msgspec.structs.replace(each, absorbs=(*each.absorbs, "INP001", "INP004"), parts=("input",))


def _list_rules() -> list[Rule]:
    classes = [kind for kind in GraphRule.__subclasses__() if "code" in vars(kind)]
    return [*(kind() for kind in classes), small_loops]
