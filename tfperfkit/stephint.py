"""Which function may be the training step, where none was seen: a hint for ``--steps-from``."""

from __future__ import annotations

import os
from collections import Counter

from tfperfkit.evidence import Evidence
from tfperfkit.samples import Frame

_GRADIENT = ".gradient("
#: Seen in fewer samples it is a passing thing.
_LEAST = 5


def step_hint(evidence: Evidence) -> str:
    """A sentence that names the outermost of the person's functions that computes gradients; "" when none did."""
    seen: Counter[Frame] = Counter()
    for _, stack in evidence.log.inside(evidence.log.whole):
        found = next((frame for frame in stack.frames if _GRADIENT in evidence.line(frame.file, frame.line)), None)
        if found is not None and "<" not in found.name:
            seen[found._replace(line=0)] += 1
    if not seen or seen.most_common(1)[0][1] < _LEAST:
        return ""
    frame = seen.most_common(1)[0][0]
    return f"It may be {frame.name} ({os.path.basename(frame.file)}:{frame.first}), which computes gradients."
