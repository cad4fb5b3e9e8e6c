"""Calling what ``tf.saved_model.load`` gave saves nothing; loading it does."""

from __future__ import annotations

import pytest

from tfperfkit.instruments.stacks.activity import PASSES, activity, facts

FOLDER = "/env/lib/python3.11/site-packages/tensorflow/python/saved_model"
EXECUTE, CALL = (
    facts(f"/env/lib/python3.11/site-packages/tensorflow/python/eager/{file}", own=False).marks or {}
    for file in ("execute.py", "context.py")
)


def marked(module: str, function: str) -> int:
    marks = facts(f"{FOLDER}/{module}.py", own=False).marks
    assert marks is not None
    return marks.get(function, marks["*"])


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("load", "_call_attribute"),
        ("load", "_call_flat"),
        ("function_deserialization", "restored_function_body"),
        ("signature_serialization", "__getitem__"),
    ],
)
def test_a_call_of_it_computes(module: str, function: str) -> None:
    bits = marked(module, function) | CALL["call_function"] | EXECUTE["*"]
    assert activity(bits, EXECUTE["*"], library=True) == "graph"


@pytest.mark.parametrize(("module", "function"), [("load", "load"), ("load", "_load_all"), ("save", "save")])
def test_loading_and_saving_it_do_not(module: str, function: str) -> None:
    bits = marked(module, function) | marked("load", "_call_flat") | CALL["call_function"] | EXECUTE["*"]
    assert activity(bits, EXECUTE["*"], library=True) == "saving"


def test_the_loaded_object_only_passes_its_call_on() -> None:
    assert marked("load", "_call_attribute") & PASSES
    assert not marked("load", "load") & PASSES
