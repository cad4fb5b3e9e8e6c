"""What a step would do once only, were it compiled as it is: random numbers that Python or NumPy draws in it."""

from __future__ import annotations

from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.source_text import enclosing
from tfperfkit_rules.measures.step_place import StepPlace

#: Modules whose functions, and whose generators' methods, draw when Python calls them.
_DRAWS = ("numpy.random.", "random.")


def draws(evidence: Evidence, place: StepPlace) -> str:
    """A sentence for the functions that are to be compiled; "" where they draw nothing themselves."""
    lines = []
    for span in place.functions:
        function, syntax = enclosing(evidence, span.file, span.line), evidence.syntax(span.file)
        if function is None or syntax is None:
            continue
        inside = (call for call in syntax.calls if function.line < call.lineno <= function.last)
        drawn = (call for call in inside if syntax.name(call.func).startswith(_DRAWS))
        lines += [f"{span.file.rpartition('/')[2]}:{call.lineno}" for call in drawn]
    if not lines:
        return ""
    where = ", ".join(dict.fromkeys(lines))
    return (
        f" Draw its random numbers ({where}) outside and hand them in: in a compiled function Python draws once, while "
        "it is traced."
    )
