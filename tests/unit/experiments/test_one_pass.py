"""Which function a finding of passes that are made twice names."""

from __future__ import annotations

from pathlib import Path

from tfperfkit_experiments.one_pass.experiment import repeated

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
    file = str(script)
    assert repeated({(file, 12), (file, 13)}, ["train_step"]) == ["losses"]
    assert repeated({(file, 3)}, ["losses"]) == ["judge", "losses"]
    assert repeated({(file, 15)}, ["train_step"]) == ["passes"]  # at one place, in a loop
    assert repeated({(file, 16)}, ["train_step"]) == []
    assert repeated({(str(tmp_path / "gone.py"), 3)}, ["losses"]) == []
