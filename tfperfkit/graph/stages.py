"""Which operations of a graph are forward, which backward, which the update of weights."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tfperfkit.records.graph_contents import Added

#: Stages of a step, one letter per operation of a graph.
FORWARD, BACKWARD, UPDATE = "f", "b", "u"


def stages_of(
    inputs: Sequence[Sequence[int]],
    gradient: Sequence[bool],
    optimizer: Sequence[bool],
    added: Sequence[Added],
    numbers: Mapping[str, int],
) -> tuple[str, dict[int, tuple[int, str]]]:
    """Return the stage of each operation, and what each gradient differentiates: the number of its graph, and its name.

    ``inputs``: of each operation the numbers of those whose results it takes. ``gradient``, ``optimizer``: whether its
    stack tells that it was built by a call for gradients, by an optimizer. ``numbers``: of the graphs in ``added``.

    Update: an optimizer built it, or it uses gradients and no gradient uses it (a penalty on gradients is
    differentiated again: it belongs to the forward pass).
    """
    count = len(gradient)
    gradient = list(gradient)
    forward: dict[int, tuple[int, str]] = {}
    # A gradient function that runs within another one (a custom gradient) ends first, and tells more.
    for item in reversed(added):
        of = numbers.get(item.graph)
        for index in range(item.begin, min(item.end, count)):
            gradient[index] = True
            if of is not None:
                forward[index] = (of, item.operation)
    if not any(gradient) or not inputs:
        stages = (BACKWARD if gradient[i] else UPDATE if optimizer[i] else FORWARD for i in range(count))
        return "".join(stages), forward
    uses, used = list(gradient), [False] * count
    for index, sources in enumerate(inputs):
        uses[index] = uses[index] or any(uses[source] for source in sources)
        if gradient[index] and index not in forward:
            # The sum of several gradients goes to the first of its sources.
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
