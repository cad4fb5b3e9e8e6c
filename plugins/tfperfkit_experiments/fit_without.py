"""``fit-without=validation`` or ``fit-without=callbacks``: calls ``fit`` without its validation, or without the
callbacks that the script hands it (checkpoints, logs)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tfperfkit.experiment import Change
from tfperfkit.model import Finding, Report
from tfperfkit.remedy import Every, Remove
from tfperfkit_experiments.base import WithChoice
from tfperfkit_experiments.findings import is_fit
from tfperfkit_experiments.seams import Seams


class FitWithout(WithChoice):
    """The work of the validation or of the callbacks is missing."""

    name = "fit-without"
    keeps = "ceiling"
    usage = "fit-without=validation, fit-without=callbacks"
    remedies = (Every("save"), Every("validate"), Remove("evaluation"))
    choices = ("validation", "callbacks")
    wanted = "what goes"

    def changes(self, report: Report, finding: Finding) -> Iterator[Change]:
        """Both for a finding that goes by epochs, else callbacks: they run in steps, too."""
        if is_fit(report):
            for value in self.choices if finding.remedy == Every("validate") else self.choices[1:]:
                yield self.with_value(value)

    def apply(self, seams: Seams, change: Change) -> None:
        """Remove the arguments. Examples that ``validation_split`` keeps from training are still kept from it."""

        def without(held: dict[str, Any]) -> bool:
            if change.value == "callbacks" and held.get("callbacks"):
                held["callbacks"] = None
                return True
            if change.value == "validation" and (
                held.get("validation_data") is not None or held.get("validation_split")
            ):
                held["validation_freq"] = [0]  # after no epoch: they count from 1
                return True
            return False

        seams.refuse(f"fit is handed no {change.value}")
        seams.on_model_call("fit", without)
