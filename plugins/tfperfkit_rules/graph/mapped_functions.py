"""Work that need not be done in the function of the pipeline's stage for which the steps wait: the rules about the
graphs of compiled functions, asked of that function.

Its findings explain the wait (INP001). Of its loops only those of ``tf.map_fn`` count as too many tiny iterations: it
is known of them that no iteration needs another.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from tfperfkit.model import Finding
from tfperfkit.rule import Evidence, LastRule
from tfperfkit_rules.graph.loop_advice import is_map, kind_of
from tfperfkit_rules.measures.mapped_function import find_mapped_function


def in_mapped_function(evidence: Evidence) -> Iterator[Finding]:
    """Yield the findings about the function, with their shares of the step."""
    from tfperfkit_rules.graph import RULES  # this rule is one of them

    found = find_mapped_function(evidence)
    for rule in RULES if found is not None else ():
        if found is None or rule is in_mapped_function or isinstance(rule, LastRule):
            continue
        for each in rule(found.evidence):
            if each.basis != "step" or not each.share_of_step:
                continue  # it is about the run, which has its own findings
            if each.code == "GRF005" and not is_map(kind_of(evidence, each.where[0])):
                continue
            yield msgspec.structs.replace(each, absorbs=(*each.absorbs, "INP001", "INP004"), parts=("input",))
