"""Seeds, so that trials begin with the same weights; a script that sets its own overrides them."""

from __future__ import annotations

import random
import sys

_SEED = 20


def seed() -> None:
    """Seed Python, NumPy (if loaded) and TensorFlow, without waking its runtime."""
    random.seed(_SEED)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(_SEED)
    context = sys.modules.get("tensorflow.python.eager.context")
    if context is not None:
        try:
            context.set_global_seed(_SEED)
        except Exception:  # another TensorFlow: then two runs differ, which the comparison sees
            pass
