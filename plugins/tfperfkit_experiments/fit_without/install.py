"""Takes arguments of ``fit`` away."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from tfperfkit.experiment import Trial
from tfperfkit_experiments.on_fit import fit_handed


def install(trial: Trial, what: str) -> AbstractContextManager[None]:
    """Examples that ``validation_split`` keeps from training stay kept."""

    def without(held: dict[str, Any]) -> bool:
        if what == "callbacks" and held.get("callbacks"):
            held["callbacks"] = None
            return True
        if what == "validation" and (held.get("validation_data") is not None or held.get("validation_split")):
            held["validation_freq"] = [0]  # after none of the epochs: they count from 1
            return True
        return False

    trial.refuse(f"fit is handed no {what}")
    return fit_handed(trial, without)
