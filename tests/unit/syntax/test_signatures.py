"""The table of parameters that take whole numbers, compared with the installed TensorFlow."""

from __future__ import annotations

import inspect

import pytest
from late_tensorflow import needs_tensorflow, tf

from tfperfkit.syntax.signatures import signatures


@needs_tensorflow
@pytest.mark.parametrize("name", sorted(signatures()))
def test_the_parameters_are_those_of_tensorflow(name: str) -> None:
    function = tf
    for part in name.split(".")[1:]:
        function = getattr(function, part)
    taken = [item for item in inspect.signature(function).parameters if item != "self"]
    listed = [item.rstrip("!") for item in signatures()[name]]
    assert taken[: len(listed)] == listed
