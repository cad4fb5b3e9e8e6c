"""Which function a finding of passes that are made twice names."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import msgspec
from side_builder import make_finding

from tfperfkit.model import SourceSpan
from tfperfkit.registry import load_experiment
from tfperfkit.syntax.script import repeated_functions

SCRIPT = """\
def losses(x):
    fake = gen(x)
    return judge(fake), judge(x)

def judge(x):
    return model(x)

def passes(x):
    return gen(x)

def train_step(x):
    first = losses(x)
    second = losses(x)
    for name in "ab":
        third = passes(x)
    return once(x)

def once(x):
    return x

train_step(1)
"""


def test_the_innermost_that_is_called_again_comes_first(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(SCRIPT)

    def tried(file: Path, lines: tuple[int, ...], function: str) -> list[str]:
        where = tuple(SourceSpan(str(file), line, function) for line in lines)
        experiment: Any = load_experiment("one-pass")
        finding = msgspec.structs.replace(make_finding("GRF001"), where=where)
        return [change.text for change in experiment.changes(None, finding)]

    assert tried(script, (12, 13), "train_step") == ["one-pass:losses"]
    assert tried(script, (3,), "losses") == ["one-pass:judge"]
    assert tried(script, (15,), "train_step") == ["one-pass:passes"]  # at one place, in a loop
    assert tried(script, (16,), "train_step") == ["one-pass"]
    assert tried(tmp_path / "gone.py", (3,), "losses") == ["one-pass"]
    assert repeated_functions(ast.parse(SCRIPT), {3}, ["losses"]) == ["judge", "losses"]
