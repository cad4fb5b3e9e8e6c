"""A patch next to a finding's advice: places and changed lines, at any width."""

from __future__ import annotations

import pytest

from tfperfkit.fixing.patches import unified
from tfperfkit.report.patch import LINES, patch_lines
from tfperfkit.report.terminal import Screen

BEFORE = """import tensorflow as tf

def parse(x):
    return x

for epoch in range(3):
    data = data.map(parse)
    for batch in data:
        step(batch)
    gc.collect()
"""


def shown(before: str, after: str, width: int = 80) -> list[str]:
    patch = "\n".join(unified("train.py", before.encode(), after.encode()))
    return [line.plain for line in patch_lines(patch, Screen(width=width), 4)]


def test_each_place_has_what_goes_and_what_comes() -> None:
    after = BEFORE.replace(".map(parse)", ".map(parse, num_parallel_calls=tf.data.AUTOTUNE)").replace(
        "    gc.collect()\n", ""
    )
    assert shown(BEFORE, after) == [
        "    train.py:7",
        "     - data = data.map(parse)",
        "     + data = data.map(parse, num_parallel_calls=tf.data.AUTOTUNE)",
        "    train.py:10",
        "     - gc.collect()",
    ]


def test_lines_of_one_place_keep_their_indentation_to_each_other() -> None:
    after = BEFORE.replace("    return x\n", "    if x:\n        return x\n")
    assert shown(BEFORE, after)[1:] == ["     - return x", "     + if x:", "     +     return x"]


@pytest.mark.parametrize("width", [40, 60, 80, 140])
def test_nothing_is_cut_and_nothing_is_wider_than_the_screen(width: int) -> None:
    after = BEFORE.replace("map(parse)", "map(parse, " + "num_parallel_calls=tf.data.AUTOTUNE, " * 3 + ")")
    lines = shown(BEFORE, after, width)
    assert all(len(line) <= width for line in lines)
    assert "".join("".join(lines).split()).count("num_parallel_calls=tf.data.AUTOTUNE") == 3


def test_a_long_one_is_for_the_command() -> None:
    after = BEFORE + "pass\n" * (LINES + 1)
    assert shown(BEFORE, after) == ["    tfperf fix shows it: it changes many lines"]


def test_no_patch_says_nothing() -> None:
    assert patch_lines("", Screen(width=80), 4) == []
