"""What the probe ``input`` tells other readers of a run."""

from __future__ import annotations

from tfperfkit.offers import InputPace
from tfperfkit_probes.input.model import InputData


def offers(data: InputData) -> tuple[InputPace, ...]:
    """The pace of the pipelines that feed the steps, of several the slowest one's; none where it was not measured."""
    paces = [
        each.bound_ms_per_output * each.outputs_per_step
        for each in data.pipelines
        if each.in_training and each.bound_ms_per_output and each.outputs_per_step
    ]
    return (InputPace(ms_per_step=max(paces)),) if paces else ()
