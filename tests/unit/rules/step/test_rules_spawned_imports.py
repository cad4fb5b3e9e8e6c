"""STP016 on made-up evidence: processes that import the script and TensorFlow again."""

from __future__ import annotations

from typing import Any

import pytest
from evidence_builder import FILE, MS, make_evidence
from tfperfkit_rules.measures.child_starts import find_spawning_starts
from tfperfkit_rules.step import on_purpose
from tfperfkit_rules.step.spawned_imports import imported_again

from tfperfkit.model import LineTime, RunAccount, SourceSpan
from tfperfkit.records.children import ChildGroup, Children
from tfperfkit.records.samples import Frame, SampleLog, Stack
from tfperfkit.steps import StepTable

POOLS = """\
import multiprocessing as mp
import tensorflow as tf
model = tf.keras.Sequential()
def play(seed):
    return sum(range(seed))
if __name__ == "__main__":
    for generation in range(3):
        with mp.get_context("spawn").Pool(2) as pool:
            games = pool.map(play, range(8))
        model.fit(games)
"""
EXECUTOR = """\
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
from nets import make
network, context = make(), multiprocessing.get_context("spawn")
def work(task):
    return task + 1
def gather(tasks):
    with ProcessPoolExecutor(2, mp_context=context) as executor:
        return list(executor.map(work, tasks))
while True:
    gather(range(8))
"""
NETS = "import numpy as np\nimport keras\ndef make():\n    return keras.Model()\n"


def spawned(
    source: str, start: int, wait: int, *, rounds: int = 3, children: Children | None = None, **machine: Any
) -> Any:
    """Return a run of 60 s, 40 of them waiting for children; importing took 4 s. ``start``, ``wait``: lines."""
    top = Frame(FILE, 1, "<module>", 3, None, ("keras.src.models.sequential:__init__",))
    stacks = {
        1: Stack((top,), "keras", "dispatch"),
        2: Stack((Frame(FILE, 1, "<module>", start, None, ("multiprocessing.pool:__init__",)),), "python", "python"),
        3: Stack((Frame(FILE, 1, "<module>", wait, None, ("multiprocessing.pool:map",)),), "python", "python"),
        4: Stack((Frame(FILE, 1, "<module>", 10, None, ("keras.src:fit",)),), "keras", "graph"),
        5: Stack((Frame(FILE, 1, "<module>", start, None, ("multiprocessing.pool:__exit__",)),), "python", "python"),
    }
    order = [1] * 50 + [number for _ in range(rounds) for number in (2, 3, 3, 3, 5, 4)]
    log = SampleLog(stacks, [(when * 10 * MS, number) for when, number in enumerate(order)])
    account = RunAccount(
        total_s=60.0,
        parts_s={"imports": 4.0, "children": 40.0},
        lines={"children": (LineTime(SourceSpan(FILE, wait), 40.0),)},
        imports_s={"tensorflow": 4.0},
    )
    return make_evidence(
        steps=StepTable(),
        source={FILE: source, "nets.py": NETS},
        log=log,
        run_account=account,
        machine=machine,
        offers={"children": [children]} if children is not None else None,
    )


def test_a_new_pool_of_spawned_workers_in_each_iteration() -> None:
    (found,) = imported_again(spawned(POOLS, 8, 9))
    assert (found.code, found.basis) == ("STP016", "run")
    assert [place.line for place in found.where] == [8, 2, 3, 9]
    # Three times at least what the script itself took, of a run of 60 s.
    assert found.gain.low and 1.2 < found.gain.low < 1.4
    assert found.gain.high == pytest.approx(3.0), "all that the script waits for its processes"
    assert "before the loop" in found.advice and "__main__" in found.advice
    assert found.evidence[2].value == 3.0


def test_an_executor_in_a_function_and_tensorflow_in_another_file() -> None:
    (found,) = imported_again(spawned(EXECUTOR, 8, 9))
    assert [(place.file, place.line) for place in found.where][:3] == [(FILE, 8), (FILE, 3), ("nets.py", 2)]


def recorded(imports_s: float) -> Children:
    """Six children that worked for 100 s in all."""
    lines = (
        LineTime(SourceSpan(FILE, 2, "<module>"), imports_s),
        LineTime(SourceSpan(FILE, 5, "play"), 100 - imports_s),
    )
    group = ChildGroup(label="pool", method="spawn", count=6, wall_s=120, cpu_s=30, busy_s=100, lines=lines)
    return Children(count=6, groups=(group,))


def test_recorded_children_say_how_much_of_the_wait_is_imports() -> None:
    (found,) = imported_again(spawned(POOLS, 8, 9, children=recorded(97.0)))
    assert found.gain.low and 2.2 < found.gain.low < 2.5
    assert not list(imported_again(spawned(POOLS, 8, 9, children=recorded(5.0))))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('get_context("spawn")', 'get_context("fork")'),
        ('mp.get_context("spawn").Pool', "mp.Pool"),  # on Linux it forks, or uses a server that imports once
        ('"spawn"', "method"),
        ("import tensorflow as tf", "import numpy as tf"),
        ("import tensorflow as tf\nmodel = tf", 'if __name__ == "__main__": import tensorflow as tf\nmodel = tf'),
    ],
)
def test_nothing_is_said_where_children_import_no_tensorflow(old: str, new: str) -> None:
    assert not list(imported_again(spawned(POOLS.replace(old, new, 1), 8, 9)))


def test_a_pool_that_is_kept_and_whose_work_needs_tensorflow_is_right() -> None:
    kept = POOLS.replace("    for generation in range(3):\n", "    if True:\n")
    assert not list(imported_again(spawned(kept.replace("sum(range(seed))", "model(seed)"), 8, 9, rounds=1)))
    assert not list(imported_again(spawned(kept, 8, 9, rounds=1)))  # 4 s of 60 are too little


def test_where_the_start_method_is_the_platforms() -> None:
    plain = POOLS.replace('mp.get_context("spawn").Pool', "mp.Pool")
    assert list(imported_again(spawned(plain, 8, 9, platform="macOS-14-arm64")))
    chosen = plain.replace("model =", "mp.set_start_method('spawn'); model =")
    assert len(find_spawning_starts(spawned(chosen, 8, 9))) == 1
    threads = POOLS.replace('mp.get_context("spawn").Pool', "mp.dummy.Pool")
    assert not find_spawning_starts(spawned(threads, 8, 9, platform="macOS-14-arm64"))


def test_more_workers_are_not_advised_where_children_import() -> None:
    kind = on_purpose.BY_WORD["threads"]
    assert "more workers" in on_purpose._advise(spawned(POOLS.replace("spawn", "fork"), 8, 9), kind)
    assert "more workers" in on_purpose._advise(spawned(POOLS, 8, 9, children=recorded(5.0)), kind)
    assert "more workers" not in on_purpose._advise(spawned(POOLS, 8, 9), kind)
    assert "more workers" not in on_purpose._advise(spawned(POOLS, 8, 9, children=recorded(97.0)), kind)
