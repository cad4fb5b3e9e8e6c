"""EAG004's words where models are called in each iteration of a loop whose iterations don't need each other: one call
does for all of them."""

from __future__ import annotations

from collections.abc import Sequence

from tfperfkit_rules.measures.loop_of_batch import BatchLoop


def names_of(models: Sequence[str]) -> str:
    """As a user lists them."""
    *before, last = models
    return f"{', '.join(before)} and {last}" if before else last


def title(models: Sequence[str], apart: BatchLoop) -> str:
    return (
        f"{names_of(models)} {'are' if models[1:] else 'is'} called in each iteration of the loop in line "
        f"{apart.loop.line}, not once for all of them"
    )


def advice(models: Sequence[str], compiled: str) -> str:
    """``compiled``: what to do where they can't be one batch."""
    return (
        "No iteration of the loop needs another: put the inputs of all iterations together (np.stack, tf.stack) and "
        f"call {names_of(models)} once before it{', each' if models[1:] else ''}; an iteration takes its row of the "
        f"result. Where that can't be: {compiled[0].lower()}{compiled[1:]}; that gains less."
    )
