"""What counts as a step, in words."""

from __future__ import annotations

from tfperfkit.records.steps import Definition


def in_words(definition: Definition) -> str:
    """``a batch of Model.fit``, ``an iteration of the loop at train.py:30``."""
    place = f"{definition.place.file}:{definition.place.line}" if definition.place is not None else ""
    return {
        "named_call": f"a call of {definition.name}",
        "fit_batch": "a batch of Model.fit",
        "iteration": f"an iteration of the loop at {place}",
        "update": f"an update at {place}",
        "graph_iteration": f"an iteration of the loop inside {definition.name}, by the optimizer's counter",
    }[definition.unit]
