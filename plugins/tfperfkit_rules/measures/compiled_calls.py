"""How much of the Python of TensorFlow and Keras is calls of compiled functions."""

from __future__ import annotations

from tfperfkit.rule import Evidence
from tfperfkit_rules.measures.called import COMPILED, is_calling


def in_calls(evidence: Evidence) -> float:
    """Return the share (0 to 1) of the part ``dispatch`` that the user's lines spend in calling compiled functions:
    looking for a trace that fits, binding arguments, handing over. The rest is other Python of the libraries, such as
    ``summary()``. 1 where no sample tells."""
    seen = {stack: count for stack, count in evidence.samples.stacks.items() if stack.activity == "dispatch"}
    calling = sum(
        count for stack, count in seen.items() if stack.frames and is_calling(evidence, stack.frames[-1], COMPILED)
    )
    return calling / sum(seen.values()) if seen else 1.0
