"""The stages of the story: what each one switches on, as a table.

From ``naive`` to ``mixed`` each stage keeps what the one before it gained.
``shared`` starts from ``graph`` again and halves its work instead.
"""

from __future__ import annotations

from typing import NamedTuple


class Stage(NamedTuple):
    """One stage; the defaults are those of the program as first written."""

    summary: str
    batch_size: int = 64  #: digits per batch unless ``--batch-size`` says otherwise
    cached: bool = False  #: load the data set once, not for each batch
    graph: bool = False  #: compile the step with ``tf.function``
    jit_compile: bool = False  #: let XLA compile it
    mixed: bool = False  #: compute in 16 bits
    shared: bool = False  #: update both networks from one forward pass


STAGES: dict[str, Stage] = {
    "naive": Stage("data set loaded for each batch, eager, NumPy in the forward pass"),
    "cached": Stage("data set loaded once", cached=True),
    "graph": Stage("tf.function, all in TensorFlow", cached=True, graph=True),
    "batch": Stage("1024 digits a batch", 1024, cached=True, graph=True),
    "xla": Stage("compiled by XLA", 1024, cached=True, graph=True, jit_compile=True),
    "mixed": Stage("float16 on GPUs, bfloat16 on CPUs", 1024, cached=True, graph=True, jit_compile=True, mixed=True),
    "shared": Stage("as graph, one forward pass for both updates", cached=True, graph=True, shared=True),
}
