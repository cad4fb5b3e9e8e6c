"""``.prefetch(tf.data.AUTOTUNE)`` at the end of a pipeline."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from tfperfkit.fixing.case import Case, Fixer
from tfperfkit.fixing.edit import Edit, NoFix
from tfperfkit.fixing.module import Module, method

#: Methods of a data set that give a data set, and what makes one.
# fmt: off
_STAGES = frozenset((
    "apply", "batch", "bucket_by_sequence_length", "cache", "concatenate", "enumerate", "filter", "flat_map",
    "group_by_window", "interleave", "map", "options", "padded_batch", "prefetch", "ragged_batch", "rebatch",
    "repeat", "shard", "shuffle", "skip", "snapshot", "take", "take_while", "unbatch", "unique", "window",
    "with_options", "zip",
))
# fmt: on
# fmt: off
_MAKERS = frozenset((
    "from_tensor_slices", "from_tensors", "from_generator", "list_files", "range", "TFRecordDataset",
    "TextLineDataset", "FixedLengthRecordDataset", "sample_from_datasets", "choose_from_datasets", "random",
))
# fmt: on


def fix(case: Case) -> list[Edit]:
    """Of the first place with a stage: behind the last stage of its chain."""
    for module, span in case.places():
        ends = {
            id(end): end for call in module.methods_at(span.line, *_STAGES, *_MAKERS) for end in [_end(module, call)]
        }
        outer = [end for end in ends.values() if not any(item in module.around(end) for item in ends.values())]
        if len(outer) > 1:
            raise NoFix("several pipelines stand on its line")
        if outer and not _prefetches(outer[0]):
            return [Edit(module.file, outer[0], _behind(module.spelled("tensorflow.data.AUTOTUNE", outer[0])))]
    raise NoFix("no stage without a prefetch stands at its place")


def _end(module: Module, call: cst.Call) -> cst.Call:
    """The last stage of the chain that a stage is in."""
    while True:
        above = list(module.around(call))[:2]
        if len(above) < 2 or not isinstance(above[0], cst.Attribute) or not isinstance(above[1], cst.Call):
            return call
        if above[1].func is not above[0] or above[0].attr.value not in _STAGES:
            return call
        call = above[1]


def _prefetches(call: cst.Call) -> bool:
    return method(call) == "prefetch"


def _behind(autotune: cst.BaseExpression) -> Callable[[cst.Call], cst.Call]:
    def change(node: cst.Call) -> cst.Call:
        dot = node.func.dot if isinstance(node.func, cst.Attribute) else cst.Dot()
        if not isinstance(dot.whitespace_before, cst.ParenthesizedWhitespace):
            dot = cst.Dot()
        else:  # a stage a line: without the comment of the line before
            line = dot.whitespace_before
            dot = cst.Dot(whitespace_before=line.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=()))
        # Brackets around the chain stand around the longer one; a comment stays on its line.
        *brackets, last = node.rpar or [None]
        space = last.whitespace_before if last is not None else None
        if isinstance(space, cst.ParenthesizedWhitespace) and isinstance(
            dot.whitespace_before, cst.ParenthesizedWhitespace
        ):
            own = dot.whitespace_before
            dot = dot.with_changes(whitespace_before=own.with_changes(first_line=space.first_line))
            bare = space.with_changes(first_line=cst.TrailingWhitespace())
            node = node.with_changes(rpar=[*brackets, last.with_changes(whitespace_before=bare)])
        inner = node.with_changes(lpar=(), rpar=())
        return cst.Call(
            cst.Attribute(inner, cst.Name("prefetch"), dot), [cst.Arg(autotune)], lpar=node.lpar, rpar=node.rpar
        )

    return change


FIXER = Fixer("ends the pipeline with prefetch", fix, "batches held ready take memory; elements and their order stay")
