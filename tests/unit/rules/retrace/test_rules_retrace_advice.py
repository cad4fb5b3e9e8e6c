"""The place where a tf.function is made, from the source around its call."""

from __future__ import annotations

import pytest
from tfperfkit_probes.retrace.model import TracedFunction
from tfperfkit_rules.retrace.advice import _compiles, making_line

from tfperfkit.model import SourceSpan
from tfperfkit.syntax.module import parse


def test_making_line_finds_the_call_of_tf_function() -> None:
    source = (
        "def main():",
        "    for x in data:",
        "        g = tf.function(step, jit_compile=True)",
        "        g(x)",
        "import tensorflow as tf",
    )
    function = TracedFunction(function="step", file="a.py", line=9, owner="user", traces=[])
    site = SourceSpan("train.py", 4, "main")
    assert making_line(function, site, source) == SourceSpan("train.py", 3, "main")
    assert making_line(function, site, tuple(f"{line}\n" for line in source)) == SourceSpan("train.py", 3, "main")
    assert making_line(function, site, ("def (",)) == site
    assert making_line(function, site, ()) == site


@pytest.mark.parametrize(
    ("text", "makes"),
    [
        ("import tensorflow as tf\ntf.function(self.step)", True),
        ("from tensorflow import function as graph\ngraph(step)", True),
        ("import tensorflow as tf\ntf.function(jit_compile=True)(step)", True),
        ("import tensorflow as tf\ntf.function(other)", False),
        ("def function(x): ...\nfunction(step)", False),
        ("print(step)", False),
    ],
)
def test_a_function_is_made_by_what_the_name_stands_for(text: str, makes: bool) -> None:
    syntax = parse(tuple(text.splitlines()))
    assert syntax is not None
    assert any(_compiles(call, "step") for call in syntax.calls) == makes
