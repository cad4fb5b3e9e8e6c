"""The table of what known APIs read and change, compared with the installed libraries."""

from __future__ import annotations

import importlib
from functools import reduce
from typing import Any

import pytest
from late_tensorflow import needs_tensorflow

from tfperfkit.syntax.effects import find_effect, known_names

KINDS = {"pure", "attribute", "changes", "consumes", "takes", "calls", "draws", "draws:self", "seeds", "reads"}
KINDS |= {"output", "writes"}
#: Names of one version of a library only.
SOME_VERSIONS = ("numpy.", "keras.ops.", "math.", "itertools.batched")


def test_the_rows_say_what_is_known() -> None:
    for name in known_names():
        effect = find_effect(name)
        assert effect is not None
        other = {kind for kind in effect.kinds if kind not in KINDS}
        assert all(kind.startswith(("changes:", "out:", "collects:")) for kind in other), name


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("numpy.exp", "out:1"),
        ("numpy.random.normal", "draws"),
        ("tensorflow.random.truncated_normal", "draws"),
        ("tensorflow.nn.dropout", "draws"),
        ("layer.load_weights", "changes"),
        ("layer.set_weights", "changes"),
        ("optimizer.apply_gradients", "changes:1"),
        ("list.append", "collects:list"),
        ("random.shuffle", "changes:0"),
        ("builtins.next", "takes"),
        ("layer.get_vocabulary", "pure"),
        ("frame.to_numpy", "pure"),
    ],
)
def test_what_changes_something_is_listed_so(name: str, kind: str) -> None:
    effect = find_effect(name)
    assert effect is not None and kind in effect.kinds


@pytest.mark.parametrize(
    "name", ["numpy.random.foo", "numpy.vectorize", "tensorflow.py_function", "mine.f", "list.foo"]
)
def test_what_is_not_listed_is_unknown(name: str) -> None:
    assert find_effect(name) is None


@needs_tensorflow
def test_no_stateful_function_of_tensorflow_counts_as_pure() -> None:
    for name in known_names():
        effect = find_effect(name)
        last = name.rpartition(".")[2]
        if effect is not None and "pure" in effect.kinds and name.startswith(("tensorflow.", "keras.ops.")):
            stateful = last.startswith(("random_", "shuffle", "read_", "write_")) and last != "random_index_shuffle"
            assert not stateful, name


@needs_tensorflow
def test_the_names_are_those_of_the_libraries() -> None:
    for name in sorted(known_names()):
        package = name.partition(".")[0]
        if package not in ("tensorflow", "keras", "math", "random", "operator", "time", "os", "json", "re"):
            continue
        found = _find(name)
        assert found is not LookupError or name.startswith(SOME_VERSIONS), name


def _find(name: str) -> Any:
    package, *rest = name.split(".")
    try:
        return reduce(getattr, rest, importlib.import_module(package))
    except AttributeError:
        return LookupError
