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
#: ``Operation.run`` and ``Tensor.eval`` stand there too: they go on to the session.
_RUNNING = (":run", ":eval")
SESSION = Api(
    ("tensorflow.python.client.session", *_MAKING),
    frozenset({"run", "eval"}),
    frozenset({"run", "eval"}),
    ("tensorflow.Session", "tensorflow.InteractiveSession"),
)


def made_in_loops(evidence: Evidence, file: str) -> list[int]:
    """Lines inside of loops that make operations: by the frames of TensorFlow that samples saw there, and by what they
    call."""
    syntax = evidence.syntax(file)
    lines = {call.lineno for call in syntax.calls if _makes(syntax, call)} if syntax is not None else set[int]()
    for stack in evidence.samples.stacks:
        for frame in stack.frames:
            called = (frame.calls or ("",))[0]
            if frame.file == file and called.startswith(_MAKING) and not called.endswith(_RUNNING):
                lines.add(frame.line)
    return sorted(line for line in lines if loops(evidence, file, line))


def _makes(syntax: Syntax, call: ast.Call) -> bool:
    name = syntax.name(call.func)
    is_function = name.startswith("tensorflow.") and name.rpartition(".")[2][:1].islower() and "(" not in name
    return is_function and not name.startswith(_OTHER)
