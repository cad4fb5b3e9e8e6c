"""Puts a function of the person's in ``tf.function``."""

from __future__ import annotations

from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit.instruments.changes.called import called
from tfperfkit.instruments.changes.replaced import module


def in_graph(trial: Trial, function: Any) -> Any:
    """Unless it is compiled already."""
    if hasattr(function, "get_concrete_function"):
        trial.refuse("the function is compiled already")
        return function
    if not callable(function):  # a property, a class method
        trial.refuse("it is no plain function")
        return function
    return called(module("tensorflow").function(function), trial.applied)
