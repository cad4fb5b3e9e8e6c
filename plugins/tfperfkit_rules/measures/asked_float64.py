"""Lines of the user's code that ask TensorFlow for float64: by ``tf.float64``, or by its name in a call.

NumPy's float64 is no choice: it is what NumPy makes if it is not asked for anything else.
"""

from __future__ import annotations

from collections.abc import Set

from tfperfkit.model import SourceSpan
from tfperfkit.rule import Evidence
from tfperfkit.syntax.module import Syntax
from tfperfkit_rules.measures.source_calls import list_files

_TYPES = frozenset(
    f"tensorflow.{scope}{name}"
    for scope in ("", "dtypes.", "compat.v1.", "compat.v1.dtypes.")
    for name in ("float64", "double")
)
_LIBRARIES = ("tensorflow.", "keras.")


def find_asked_float64(evidence: Evidence, files: Set[str]) -> list[SourceSpan]:
    """Find the lines in these files. A comparison with the type asks for nothing; ``set_floatx`` is a setting."""
    found = [SourceSpan(file, line) for file, syntax in list_files(evidence) if file in files for line in _find(syntax)]
    return sorted(set(found), key=lambda span: (span.file, span.line))


def _find(syntax: Syntax) -> list[int]:
    named = (node for node in syntax.find_expressions("attribute", "name") if node.api in _TYPES)
    lines = [node.line for node in named if node.parent is None or node.parent.kind != "comparison"]
    for call in syntax.calls:
        if call.name.startswith(_LIBRARIES) and not call.name.endswith(".set_floatx"):
            lines += [call.line for given in call.given if given.is_constant("float64", "double")]
    return lines
