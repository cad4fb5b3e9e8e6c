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
        for call in syntax.calls if function is not None and syntax is not None else ():
            if function is not None and function.line < call.lineno <= function.last:
                name = syntax.name(call.func) if syntax is not None else ""
                if name.startswith(_DRAWS):
                    lines.append(f"{span.file.rpartition('/')[2]}:{call.lineno}")
    if not lines:
        return ""
    where = ", ".join(dict.fromkeys(lines))
    return (
        f" Draw its random numbers ({where}) outside and hand them in: in a compiled function Python draws once, while "
        "it is traced."
    )
