"""Calls of ``session.run`` in scripts of TensorFlow 1, and what makes operations beside them."""

from __future__ import annotations

import ast

from tfperfkit.rule import Evidence
from tfperfkit.syntax.names import Syntax
from tfperfkit_rules.measures.called import Api
from tfperfkit_rules.measures.source_text import loops

#: What TensorFlow's functions that make no operation begin with; nor do classes and the call of the session itself.
_OTHER = ("tensorflow.summary.", "tensorflow.errors.", "tensorflow.global_variables_initializer", "tensorflow.train.")
#: The modules of those that do, operators included.
_MAKING = ("tensorflow.python.ops.", "tensorflow.python.framework.")
SESSION = Api(
    ("tensorflow.python.client.session",),
    frozenset({"run"}),
    frozenset({"run"}),
    ("tensorflow.Session", "tensorflow.InteractiveSession"),
)


def made_in_loops(evidence: Evidence, file: str) -> list[int]:
    """Lines inside of loops that make operations: by the frames of TensorFlow that samples saw there, and by what they
    call."""
    syntax = evidence.syntax(file)
    lines = {call.lineno for call in syntax.calls if _makes(syntax, call)} if syntax is not None else set[int]()
    for stack in evidence.samples.stacks:
        for frame in stack.frames:
            if frame.file == file and any(name.startswith(_MAKING) for name in (frame.calls or ())[:1]):
                lines.add(frame.line)
    return sorted(line for line in lines if loops(evidence, file, line))


def _makes(syntax: Syntax, call: ast.Call) -> bool:
    name = syntax.name(call.func)
    is_function = name.startswith("tensorflow.") and name.rpartition(".")[2][:1].islower() and "(" not in name
    return is_function and not name.startswith(_OTHER)
