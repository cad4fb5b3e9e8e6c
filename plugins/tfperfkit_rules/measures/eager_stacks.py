"""Which samples of a loop saw TensorFlow's operations called one by one, by what called them.

Three causes have three remedies: a function of TensorFlow's that goes through elements (``tf.map_fn``), a Python loop
that takes elements out of a tensor and reads them, and all other operations. Samples in ``predict``, a loaded model, a
session or a compiled function belong to no cause.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Literal, NamedTuple

from tfperfkit.records.samples import Frame, Place, Stack
from tfperfkit.rule import Evidence
from tfperfkit.syntax.effects import list_changing
from tfperfkit.syntax.expression import Call, Expression
from tfperfkit.syntax.module import get_file
from tfperfkit_rules.measures import shared
from tfperfkit_rules.measures.batch_callbacks import batch_callback
from tfperfkit_rules.measures.called import ADAPT, COMPILED, LAYER, TRAINER, WEIGHTS, Api, is_calling
from tfperfkit_rules.measures.making import LOADING, MAKING, own_frames
from tfperfkit_rules.measures.session_calls import SESSION
from tfperfkit_rules.measures.source_text import find_frame_loops, find_loops, find_running, find_running_calls

Kind = Literal["maps", "elements", "operations"]
_TF = ("tensorflow.",)
_MAPS = ("map_fn", "scan", "foldl", "foldr", "while_loop", "vectorized_map")
#: Functions that call one of the user's for each element or iteration.
MAPS = Api(
    (
        "tensorflow.python.ops.map_fn",
        "tensorflow.python.ops.functional_ops",
        "tensorflow.python.ops.while_loop",
        "tensorflow.python.ops.parallel_for.control_flow_ops",
    ),
    frozenset((*_MAPS, *(f"{name}_v2" for name in _MAPS))),
    frozenset(_MAPS),
    _TF,
)
#: A tensor goes through its rows.
_ITERATION = Api(("tensorflow.python.framework.tensor", "tensorflow.python.framework.ops"), frozenset({"__next__"}))
_READING = Api(
    ("tensorflow.python.framework.ops",),
    frozenset({"__float__", "__int__", "__bool__", "__index__", "numpy", "_numpy", "__array__", "__format__"}),
    frozenset({"numpy"}),
    _TF,
)
#: Files and what is in them: these take what they take, in a graph as well.
_FILES = Api(
    (
        "tensorflow.python.ops.io_ops",
        "tensorflow.python.ops.gen_io_ops",
        "tensorflow.python.ops.parsing_ops",
        "tensorflow.python.ops.gen_parsing_ops",
        "tensorflow.python.lib.io",
        "tensorflow.python.data.",
    )
)
_DECODING = Api(
    ("tensorflow.python.ops.image_ops", "tensorflow.python.ops.gen_image_ops"),
    frozenset({"decode_image", "decode_jpeg", "decode_png", "decode_and_crop_jpeg", "encode_jpeg", "encode_png"}),
)
#: ``get_weights`` gives arrays of NumPy, which no compiled function can: EAG007's. ``adapt`` is EAG015's.
_OTHERS = (TRAINER, WEIGHTS, ADAPT, LOADING, MAKING, SESSION, COMPILED, _FILES, _DECODING)


class EagerPart(NamedTuple):
    """Samples of one kind, and the lines that they stand for: those of the call that goes through the elements, else
    the innermost."""

    kind: Kind
    stacks: Counter[Stack]
    lines: Counter[Place]

    @property
    def seen(self) -> int:
        return self.stacks.total()

    def count_own(
        self,
        evidence: Evidence,
        inside: Callable[[Frame], bool] = lambda frame: True,
        lines: Iterable[Place] = (),
    ) -> int:
        """Return the samples of plain Python at these and other ``lines``, with a frame ``inside``: of calling the
        operations, and of letting go of the tensors that they made, which Python does between two of its own
        instructions."""
        every = {*self.lines, *lines}
        return sum(
            count
            for stack, count in evidence.samples.stacks.items()
            if stack.activity == "python"
            and not stack.library
            and stack.frames
            and (stack.frames[-1].file, stack.frames[-1].line) in every
            and any(map(inside, stack.frames))
        )


def split_eager_samples(evidence: Evidence) -> dict[Kind, EagerPart]:
    """Return the samples by kind; a kind without any is left out."""
    found: dict[Kind, EagerPart] = {}
    left: list[tuple[Stack, int]] = []

    def put(kind: Kind, stack: Stack, count: int, frame: Frame) -> None:
        part = found.setdefault(kind, EagerPart(kind, Counter(), Counter()))
        part.stacks[stack] += count
        part.lines[frame.file, frame.line] += count

    for stack, count in evidence.samples.stacks.items():
        if not stack.frames or stack.context in ("evaluate", "build"):
            continue
        if any(is_calling(evidence, frame, api) for frame in _list_own_frames(evidence, stack) for api in _OTHERS):
            continue
        through = next((frame for frame in stack.frames if is_calling(evidence, frame, MAPS)), None)
        if through is not None and stack.activity in ("eager_ops", "dispatch", "host_sync", "tracing", "graph"):
            put("maps", stack, count, through)
        elif stack.activity in ("eager_ops", "dispatch", "host_sync"):
            left.append((stack, count))
    rows, whole = _find_element_loops(evidence, left)
    for stack, count in left:
        leaf = stack.frames[-1]
        of_model = any(is_calling(evidence, frame, LAYER) for frame in stack.frames)
        if leaf in whole or (not of_model and _find_loop(evidence, leaf) in rows):
            put("elements", stack, count, leaf)
        elif stack.activity != "host_sync":
            put("operations", stack, count, leaf)
    return found


def _list_own_frames(evidence: Evidence, stack: Stack) -> tuple[Frame, ...]:
    """List the frames that may be somebody else's: what a callback does around a batch is none of the ``fit`` around
    it."""
    around = batch_callback(stack) if evidence.work is None else None
    return own_frames(evidence, stack) if around is None else stack.frames[stack.frames.index(around) :]


def find_taken_element(evidence: Evidence, frame: Frame) -> Expression | None:
    """Find the expression by which a frame takes one element, row or column out of a tensor, not a slice, and not an
    element of a variable that it assigns to: ``v[i, j].assign(x)``."""
    if not frame.calls or not frame.calls[0].startswith("tensorflow."):
        return None
    taken = (node for node in find_running(evidence, frame) if node.index is not None and not _is_assigned(node))
    return next((node for node in taken if not _is_slice(evidence, frame, node)), None)


def _is_slice(evidence: Evidence, frame: Frame, element: Expression) -> bool:
    """Return whether an index has a slice. ``x[:, i]`` with the ``i`` of the loop around it takes one column in each
    iteration, and counts as an element."""
    if not any(part.kind == "slice" for part in element.parts):
        return False
    around = find_frame_loops(evidence, frame)
    targets = around[-1].targets if around else ()
    return not any(item.kind == "name" and item.text in targets for item in element.indices)


def _is_assigned(element: Expression) -> bool:
    around = element.parent
    return around is not None and around.kind == "attribute" and around.last_name in list_changing("variable")


def find_pass_through_rows(evidence: Evidence, frame: Frame) -> Call | None:
    """Find the call at a frame that goes through the rows of a tensor, as ``list(rows)`` does; None if the loop around
    it does so itself."""
    if not is_calling(evidence, frame, _ITERATION):
        return None
    over = {loop.over for loop in find_loops(evidence, frame.file, frame.line)}
    return next((call for call in find_running_calls(evidence, frame) if call.text not in over), None)


def _find_element_loops(evidence: Evidence, stacks: list[tuple[Stack, int]]) -> tuple[set[tuple[str, int]], set[Frame]]:
    """Find the innermost loops that mostly take elements out of tensors and read them, or that go through a tensor;
    and the frames that go through one in a single call."""
    taken: Counter[tuple[str, int]] = Counter()
    read: set[tuple[str, int]] = set()
    whole: Counter[tuple[str, int]] = Counter()
    through: set[tuple[str, int]] = set()
    alone: set[Frame] = set()
    apart: set[tuple[str, int]] = set()  # something was taken out of a tensor there: to read one alone is a wait
    for stack, count in stacks:
        leaf = stack.frames[-1]
        loop = _find_loop(evidence, leaf)
        if find_pass_through_rows(evidence, leaf) is not None:
            alone.add(leaf)
            continue
        if loop is None:
            continue
        whole[loop] += count
        reads, goes = is_calling(evidence, leaf, _READING), is_calling(evidence, leaf, _ITERATION)
        takes = find_taken_element(evidence, leaf) is not None
        if reads or goes or takes:
            taken[loop] += count
        if takes:
            apart.add(loop)
        if reads:
            read.add(loop)
        if goes:
            through.add(loop)
    for loop in whole:
        if loop not in read and _makes_python_numbers(evidence, loop):
            read.add(loop)
    mostly = {loop for loop, count in taken.items() if count >= shared.MOSTLY.value * whole[loop]}
    return mostly & ((read & apart) | through), alone


def _makes_python_numbers(evidence: Evidence, loop: tuple[str, int]) -> bool:
    """Whether the loop's source makes Python numbers of what it takes."""
    around = [item for item in find_loops(evidence, *loop) if item.line == loop[1]]
    names = (call.name for call in get_file(around[-1]).calls if call.line in around[-1].lines) if around else ()
    return any(
        name in ("builtins.float", "builtins.int", "builtins.bool") or name.endswith((".numpy", ".item"))
        for name in names
    )


def _find_loop(evidence: Evidence, frame: Frame) -> tuple[str, int] | None:
    around = find_frame_loops(evidence, frame)
    return (frame.file, around[-1].line) if around else None
