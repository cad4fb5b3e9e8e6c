"""Work that is done once: out of the loop, or behind a function that keeps its result; and where it is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from fixing_builder import at, finding_at, fixed, patch_of, reason

LOOP = """import numpy as np

# the steps
for step in range(9):
    table = np.load("table.npy")  # here
    train(table[step])
"""


def test_a_load_moves_before_the_loop(tmp_path: Path) -> None:
    assert fixed(tmp_path, LOOP, "INP002") == (
        "import numpy as np\n\n# the steps\n"
        'table = np.load("table.npy")  # here\n'
        "for step in range(9):\n    train(table[step])\n"
    )


def test_it_moves_out_of_all_loops_that_change_nothing_that_it_uses(tmp_path: Path) -> None:
    source = (
        "for fold in folds:\n    for epoch in range(3):\n        for batch in data:\n"
        "            table = make(fold)  # here\n            train(batch, table)\n"
    )
    assert fixed(tmp_path, source, "INP011") == (
        "for fold in folds:\n    table = make(fold)  # here\n    for epoch in range(3):\n        for batch in data:\n"
        "            train(batch, table)\n"
    )


def test_a_name_that_gets_another_value_later_is_kept_under_its_own(tmp_path: Path) -> None:
    source = "for n in range(9):\n    pos = table(9)  # here\n    pos = pos[n]\n    train(pos)\n"
    assert fixed(tmp_path, source, "INP011") == (
        "pos_once = table(9)  # here\nfor n in range(9):\n    pos = pos_once\n    pos = pos[n]\n    train(pos)\n"
    )


FUNCTION = '''"""Doc."""
from __future__ import annotations
import json

PATH = "words.json"


# for each batch
def encode(batch):
    """Rows."""
    with open(PATH) as file:  # here
        words = json.load(file)
    return [words[item] for item in batch]
'''


def test_a_load_in_a_function_is_kept_by_another(tmp_path: Path) -> None:
    after = fixed(tmp_path, FUNCTION, "INP002")
    assert after == FUNCTION.replace("import json", "import functools\nimport json").replace(
        '''# for each batch
def encode(batch):
    """Rows."""
    with open(PATH) as file:  # here
        words = json.load(file)
''',
        '''# for each batch
@functools.cache
def _words_once():
    with open(PATH) as file:  # here
        words = json.load(file)
    return words


def encode(batch):
    """Rows."""
    words = _words_once()
''',
    )
    read: list[str] = []
    names = {"__name__": "made"}
    (tmp_path / "words.json").write_text('{"a": 1, "b": 2}')
    changed = after.replace('"words.json"', repr(str(tmp_path / "words.json"))).replace("open(", "opened(")
    names["opened"] = lambda path: (read.append(path), open(path))[1]  # type: ignore[assignment]
    exec(changed, names)
    assert [names["encode"](["a", "b"]), names["encode"](["b"])] == [[1, 2], [2]]  # type: ignore[operator]
    assert len(read) == 1


def test_what_only_takes_a_part_of_it_comes_along(tmp_path: Path) -> None:
    source = (
        "import functools\nimport numpy as np\n\n\ndef rows(count):\n    archive = np.load(P)  # here\n"
        '    faces = archive["faces"]\n    return faces[:count]\n'
    )
    after = fixed(tmp_path, source, "INP002")
    assert '    archive = np.load(P)  # here\n    faces = archive["faces"]\n    return faces\n' in after
    assert "    faces = _faces_once()\n    return faces[:count]\n" in after
    assert after.count("import functools") == 1


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("for n in range(9):\n    x = load(n)  # here\n    train(x)\n", "what the loop changes"),
        ("for n in range(9):\n    if n:\n        x = load()  # here\n    train(x)\n", "directly in a loop"),
        ("for n in range(9):\n    x, y = load()  # here\n    train(x)\n", "no plain assignment"),
        ("for n in range(9):\n    load()  # here\n", "no plain assignment"),
        ("for n in range(9):\n    x = load()  # here\n    x += 1\n", "x is changed"),
        ("for n in range(9):\n    x = load()  # here\n    x[0] = n\n", "x is changed"),
        ("for n in range(9):\n    x = load()  # here\n    x.rows.append(n)\n", "x is changed"),
        ("for n in range(9):\n    x = load()  # here\n    random.shuffle(x)\n", "x is changed"),
        ("x = load()  # here\n", "directly in a loop"),
        ("def f(path):\n    x = load(path)  # here\n    return x[0]\n", "uses path"),
        ("def f():\n    y = 1\n    x = load(y)  # here\n    return x[0]\n", "uses y"),
        ("P = 1\nP = 2\ndef f():\n    x = load(P)  # here\n    return x[0]\n", "several values"),
        ("def f():\n    return load()  # here\n", "leaves the function"),
        ("def f():\n    x = load()  # here\n    x.append(1)\n    return x\n", "x is changed"),
        ("class A:\n    def f(self):\n        x = load(self.n)  # here\n        return x\n", "top level"),
        ("def f():\n    x = load()  # here\n    return 1\n", "nothing that could be kept"),
    ],
)
def test_left_alone(tmp_path: Path, source: str, why: str) -> None:
    assert why in reason(tmp_path, source, "INP002")


@pytest.mark.parametrize("name", ["faces_from_archive", "vocabulary_per_batch", "positional_table"])
def test_scripts_of_the_collection_are_patched(tmp_path: Path, name: str) -> None:
    script = Path(__file__).parents[2] / "faults" / "scripts" / f"{name}.py"
    source = script.read_text(encoding="utf-8")
    places = [(line, "") for line in at(source, "# FAULT")]
    patch, after = patch_of(tmp_path, source, finding_at("INP002", *places))
    assert patch.reason == "" and "_once" in after
    compile(after, name, "exec")
