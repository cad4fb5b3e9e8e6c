"""Texts for models that are called in each iteration of a loop with independent iterations: one call can
replace them."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_rules.measures.loop_of_batch import BatchLoop


def names_of(models: Sequence[str]) -> str:
    """As a user lists them."""
    *before, last = models
    return f"{', '.join(before)} and {last}" if before else last


def title(models: Sequence[str], apart: BatchLoop) -> str:
    return f"{names_of(models)} called in each iteration of line {apart.loop.line}"


def advice(models: Sequence[str], compiled: str) -> str:
    """``compiled``: what to do if the inputs can't be one batch."""
    return (
        "Stack the inputs of all iterations (np.stack, tf.stack), for they are independent, and call "
        f"{names_of(models)} once before the loop{', each' if models[1:] else ''}; an iteration takes its row of the "
        f"result. Or, for less gain: {compiled[0].lower()}{compiled[1:]}."
    )
