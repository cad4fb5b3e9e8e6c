"""Change that a finding asks of the user, as one value: a kind, and the values that distinguish it from others of its
kind.

A rule states it where it makes the finding. The place to change is the finding's first one. Fixers and experiments are
looked up by remedies, not by codes, so a rule that states one that is known gets both.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec


class Remove(msgspec.Struct, frozen=True, tag="remove"):
    """Take it out: the training does not need it.

    Its price assumes that the rest doesn't wait for what is removed, and takes as long as before.
    """

    what: Literal["statement", "evaluation", "metrics", "result"] = "statement"


class Every(msgspec.Struct, frozen=True, tag="every"):
    """Do it at every n-th iteration instead of at each.

    Its price assumes that each time that remains costs as much as it does now. Their number is left.
    """

    what: Literal["save", "collect", "read", "print", "validate", "work"]


class Hoist(msgspec.Struct, frozen=True, tag="hoist"):
    """Make it once, before the loop, and keep it. ``reader``: a file that something opens which yields examples;
    ``operations``: of a session's graph.

    Its price assumes that making it once costs as much as one iteration does now, and it stays in memory.
    """

    what: Literal["file", "reader", "value", "array", "model", "pipeline", "iterator", "operations"]


class BatchLoop(msgspec.Struct, frozen=True, tag="batch_loop"):
    """Do the iterations of a loop at once, on whole tensors. ``each``: what an iteration does one at a time.

    Its price assumes that the kernels do as much arithmetic, in one call for all iterations. That arithmetic is left.
    """

    each: Literal["call", "element"] = "call"


class Compile(msgspec.Struct, frozen=True, tag="compile"):
    """Put it into a ``tf.function``.

    Its price assumes that no operation is dispatched from Python.
    A call, the kernels and their start in a graph are left.
    """

    what: Literal["step", "function", "model", "loop", "map", "jacobian"]


class CallDirectly(msgspec.Struct, frozen=True, tag="call_directly"):
    """Call the compiled model itself instead of a method of Keras that goes through data.

    Its price assumes that the compiled call takes as long as it does within Keras' method. The call is left.
    """

    instead_of: Literal["predict", "fit"]


class KeepTrace(msgspec.Struct, frozen=True, tag="keep_trace"):
    """Let calls use a graph that is there. ``varies``: what makes TensorFlow trace once more; "shape" is what makes XLA
    compile once more, "keras" a model that is made or compiled again, "models" one model after another.

    Its price assumes that the kept graph runs as fast as those that are traced. The first trace of each function stays.
    """

    varies: Literal[
        "number", "batch", "length", "rank", "dtype", "structure", "object", "function", "instance", "context",
        "failure", "shape", "keras", "models", "other", "unknown",
    ]  # fmt: skip


class ChangeStage(msgspec.Struct, frozen=True, tag="change_stage"):
    """Change how a pipeline prepares its data. ``keep_up``: any way that makes it faster.

    Its price assumes that input and step run at once on the cores that there are. The step as it runs then is left.
    """

    to: Literal[
        "keep_up", "prefetch", "parallel", "cache", "batch_first", "order", "shuffle_less", "less_python",
    ]  # fmt: skip


class ReplaceOps(msgspec.Struct, frozen=True, tag="replace_ops"):
    """Compute the same by other operations, or by fewer.

    Its price assumes that the replacement reaches the machine's rates within a factor.
    Work next to the operations stays.
    """

    by: Literal[
        "fewer", "one_pass", "one_gradient", "all_rows", "looked_up_rows", "kept_results", "order", "top_k", "in_place",
        "array", "array_in_place", "less_padding", "whole_gradient", "gradient_rows", "gradient_blocks", "crop",
        "banded", "tensorflow",
    ] = "fewer"  # fmt: skip


class Setting(msgspec.Struct, frozen=True, tag="setting"):
    """Set an argument, a policy or a variable of the environment. ``value`` as it is written; "" for TensorFlow's own
    choice; None, where remedies are looked up, for any.

    Its price assumes that the setting changes the part alone. The part as it runs with the setting is left.
    """

    name: Literal[
        "jit_compile", "run_eagerly", "debug_mode", "check_numerics", "precision", "threads", "onednn", "device",
        "strategy", "steps_per_execution", "epochs", "validation_steps",
    ]  # fmt: skip
    value: str | int | None = None


class BatchSize(msgspec.Struct, frozen=True, tag="batch_size"):
    """Make batches ``times`` as large; None if no number is advised.

    Its price assumes that time that doesn't grow with the batch is divided among its examples.
    An example's time is left.
    """

    of: Literal["training", "predict", "adapt"]
    times: int | None = None


class Rewrite(msgspec.Struct, frozen=True, tag="rewrite"):
    """Change code as the advice says, which no experiment can. ``python``: Python that takes long; ``repeated``: what
    gives the same in each iteration; ``unrolled``: a loop over Python numbers in a compiled function.

    Its price assumes that nothing is known of the new code. The rest has to hold for any code that does the same.
    """

    what: Literal["", "python", "repeated", "unrolled"] = ""


Remedy = (
    Remove
    | Every
    | Hoist
    | BatchLoop
    | Compile
    | CallDirectly
    | KeepTrace
    | ChangeStage
    | ReplaceOps
    | Setting
    | BatchSize
    | Rewrite
)


def is_one_of(remedy: Remedy, wanted: Iterable[Remedy | type[Remedy]]) -> bool:
    """Return whether a remedy is of one of these kinds, or is one of these values; a field of None stands for any."""
    return any(
        isinstance(remedy, each)
        if isinstance(each, type)
        else type(remedy) is type(each)
        and all(getattr(each, name) in (None, getattr(remedy, name)) for name in each.__struct_fields__)
        for each in wanted
    )
