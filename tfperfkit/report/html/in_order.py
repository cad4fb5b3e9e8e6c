"""The account of the start as a line of time: what ran one after the other, and in which step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tfperfkit.records.pictures import Phase, Start
from tfperfkit.report.html.colors import color_of
from tfperfkit.report.html.widths import Rules
from tfperfkit.report.html.words import figure, name

#: Shares that words fit into: a part's, a step's.
_ROOM, _ROOM_OF_STEP = 0.11, 0.07


def in_order(account: dict[str, Any], start: Start, labels: Mapping[Any, str], rules: Rules) -> dict[str, Any]:
    """Return the account with its bar in order of time, and a ruler of steps below it; as it was without phases."""
    whole = start.phases[-1].end_s - start.phases[0].begin_s if start.phases else 0.0
    if whole <= 0:
        return account

    def share(phase: Phase) -> float:
        return (phase.end_s - phase.begin_s) / whole

    bar, spoken = [], []
    for phase in start.phases:
        label = name(labels.get(phase.name, phase.name))
        words = f"{figure(phase.end_s - phase.begin_s, 's')}"
        spoken.append(f"at {figure(phase.begin_s, 's')} {label} for {words}")
        bar.append(
            {
                "label": label,
                "share": words,
                "grow": rules.grow(share(phase)),
                "color": rules.color(color_of(phase.name)),
                "fits": share(phase) >= _ROOM,
            }
        )
    ruler = [
        {
            "label": name(phase.name) if share(phase) >= _ROOM_OF_STEP else "",
            "value": figure(phase.end_s - phase.begin_s, "s"),
            "grow": rules.grow(share(phase)),
        }
        for phase in start.steps
    ]
    spoken += [f"{name(phase.name)} until {figure(phase.end_s, 's')}" for phase in start.steps]
    return {
        **account,
        "aside": f"{account['aside']}, in order of time",
        "bar": bar,
        "ruler": ruler,
        "spoken": f"{account['spoken']}. In order of time: {', '.join(spoken)}",
    }
