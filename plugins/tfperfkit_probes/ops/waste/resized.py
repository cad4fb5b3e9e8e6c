"""A picture that is made larger before a convolution of single places: the other way round gives the same numbers, from
a fraction of the places, and fewer channels are enlarged."""

from __future__ import annotations

from collections.abc import Iterator

from tfperfkit.graph.model import Node
from tfperfkit.graph.sizes import UNARY
from tfperfkit.graph.view import View
from tfperfkit_probes.ops.model import Wasted

KIND = "resized"
#: So many times as many places at least, as for rows that are repeated.
_MIN_TIMES = 4
_MAX_OPERATIONS = 20
#: Each place is a mean of neighbours, with weights whose sum is 1; or one of them as it is, where anything that works
#: place by place may change sides with it.
_MEANS, _COPIES = frozenset({"ResizeBilinear", "ResizeBicubic"}), frozenset({"ResizeNearestNeighbor"})


def resized(view: View) -> Iterator[Wasted]:
    """By resizes of ``[n, h, w, c]`` whose result goes into convolutions with kernels of 1 x 1."""
    for node in view.forward:
        if node.type not in _MEANS | _COPIES or node.outputs[0].dtype not in ("float32", "float64", "half", "bfloat16"):
            continue
        before, after = view.shape(*node.inputs[0]), view.shape(node.name)
        if not before or not after or len(before) != 4 or min(*before[1:], *after[1:]) < 1:
            continue
        times = after[1] * after[2] / (before[1] * before[2])
        through, only = _through(view, node)
        made = [shape[-1] for each in through if each.type == "Conv2D" and (shape := view.shape(each.name))]
        if times < _MIN_TIMES or not made:
            continue
        # With other uses it is enlarged all the same, and with more channels afterwards there would be more to enlarge.
        fewer = only and max(made) < before[-1]
        places = [each.place for each in (node, *through) if each.place is not None]
        yield Wasted(
            kind=KIND,
            where=places[0] if places else None,
            places=list(dict.fromkeys(places)),
            operations=[*([node.name] if fewer else []), *(each.name for each in through)],
            left=max(1 / times, max(made) / before[-1]) if fewer else 1 / times,
            figures={"times": times, "before": before[-1], "after": max(made)},
        )


def _through(view: View, node: Node) -> tuple[list[Node], bool]:
    """What follows place by place, and whether nothing but convolutions of single places takes the enlarged picture."""
    convolutions = [use.node for use in view.uses(node) if use.number == 0 and _is_single(view, use.node)]
    only = len(convolutions) == len(view.uses(node)) and node.name not in view.results
    found = {each.name: each for each in convolutions}
    pending = list(convolutions)
    exact = node.type in _COPIES
    while pending and len(found) < _MAX_OPERATIONS:
        for use in view.uses(pending.pop()):
            follows = use.number == 0 and (
                use.node.type == "BiasAdd" or _is_single(view, use.node) or (exact and use.node.type in UNARY)
            )
            if follows and use.node.name not in found:
                found[use.node.name] = use.node
                pending.append(use.node)
    return list(found.values()), only


def _is_single(view: View, node: Node) -> bool:
    """Whether it is a convolution that makes each place of that place alone."""
    if node.type != "Conv2D" or node.text_attr("data_format", "NHWC") != "NHWC":
        return False
    kernel, before, after = view.shape(*node.inputs[1]), view.shape(*node.inputs[0]), view.shape(node.name)
    return bool(kernel and before and after) and kernel[:2] == (1, 1) and before[1:3] == after[1:3]  # type: ignore[index]
