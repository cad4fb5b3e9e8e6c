"""What a probe could leave behind in a process."""

from __future__ import annotations

import sys
import threading
from typing import Any


def hooks() -> dict[str, Any]:
    """What a probe could leave behind, as comparable values."""
    found: dict[str, Any] = {
        "sys.settrace": id(sys.gettrace()),
        "sys.setprofile": id(sys.getprofile()),
        "sys.excepthook": id(sys.excepthook),
        "sys.meta_path": [id(finder) for finder in sys.meta_path],
        "threads": sorted(thread.name for thread in threading.enumerate()),
    }
    for module, attribute in (
        ("tensorflow.python.eager.polymorphic_function.tracing_compilation", "_create_concrete_function"),
        ("tensorflow.python.eager.polymorphic_function.polymorphic_function", "Function.__call__"),
        ("tensorflow.python.data.ops.iterator_ops", "OwnedIterator.__next__"),
        ("tensorflow.python.util.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.utils.traceback_utils", "_EXCLUDED_PATHS"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_begin"),
        ("keras.src.callbacks.callback_list", "CallbackList.on_train_batch_end"),
        ("keras.src.optimizers.base_optimizer", "BaseOptimizer.apply"),
    ):
        value: Any = sys.modules.get(module)
        if value is None:
            continue
        for part in attribute.split("."):
            value = getattr(value, part, None)
        found[f"{module}.{attribute}"] = value if isinstance(value, tuple) else id(value)
    transform = sys.modules.get("tensorflow.python.eager.polymorphic_function.transform")
    if transform is not None:
        found["CONCRETE_FUNCTION_CALLBACKS"] = len(getattr(transform, "CONCRETE_FUNCTION_CALLBACKS", ()))
    return found
