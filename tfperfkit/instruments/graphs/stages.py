"""Which operations of a graph are forward, which backward, which the update of weights."""

from __future__ import annotations

from tfperfkit.instruments.graphs.building import Added
from tfperfkit.instruments.graphs.stacks import Stacks
from tfperfkit.records.graphs import BACKWARD, FORWARD, UPDATE


def stages_of(
    inputs: list[list[int]], stacks: list[int], known: Stacks, added: list[Added], numbers: dict[int, int]
) -> tuple[str, dict[int, tuple[int, str]]]:
    """The stage of each operation, and what each gradient differentiates.

    Update: an optimizer built it, or it uses gradients and no gradient uses it (a penalty on gradients is
    differentiated again: it belongs to the forward pass).
    """
    count = len(stacks)
    gradient = [stack >= 0 and known.gradient[stack] for stack in stacks]
    forward: dict[int, tuple[int, str]] = {}
    # A gradient function that runs within another one (a custom gradient) ends first, and tells more.
    for item in reversed(added):
        of = numbers.get(item.of)
        for index in range(item.begin, min(item.end, count)):
            gradient[index] = True
            if of is not None:
                forward[index] = (of, item.operation)
    optimizer = [stack >= 0 and known.areas[stack] == "optimizers" for stack in stacks]
    if not any(gradient) or not inputs:
        stages = (BACKWARD if gradient[i] else UPDATE if optimizer[i] else FORWARD for i in range(count))
        return "".join(stages), forward
    uses, used = list(gradient), [False] * count
    for index, sources in enumerate(inputs):
        uses[index] = uses[index] or any(uses[source] for source in sources)
        if gradient[index] and index not in forward:
            # The sum of several gradients: it goes to the first of them.
            same = next((forward[source] for source in sources if source in forward), None)
            if same is not None:
                forward[index] = same
    for index in reversed(range(count)):
        if gradient[index] or used[index]:
            for source in inputs[index]:
                used[source] = True
    stages = (
        BACKWARD if gradient[i] else FORWARD if used[i] else UPDATE if uses[i] or optimizer[i] else FORWARD
        for i in range(count)
    )
    return "".join(stages), forward
