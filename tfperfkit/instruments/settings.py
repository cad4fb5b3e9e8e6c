"""Read the script's settings that decide about speed: switches of TensorFlow and Keras, and environment variables.

Read from modules that are loaded already; nothing is imported and TensorFlow is not initialised.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

#: Variables of the environment that decide about speed. No others are read.
ENVIRONMENT = (
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
    "TF_ENABLE_ONEDNN_OPTS",
    "OMP_NUM_THREADS",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "TF_GPU_THREAD_MODE",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "CUDA_VISIBLE_DEVICES",
    "TF_DETERMINISTIC_OPS",
    "CUDA_LAUNCH_BLOCKING",
    "TF_CPU_ALLOCATOR_USE_BFC",
    "KERAS_BACKEND",
    "OPENBLAS_NUM_THREADS",
)


def settings() -> dict[str, Any]:
    """Each by its name; what can't be read is missing.

    ``functions_run_eagerly``, ``jit`` (``tf.config.optimizer.set_jit``), ``intra_op_threads`` and ``inter_op_threads``
    (0: TensorFlow chooses), ``deterministic``, ``check_numerics``,
    ``data_debug_mode``, ``dtype_policy``, ``floatx``, ``environment``,
    ``strategy`` (the last distribution strategy that was made, by the name that TensorFlow's own gauge has for it).
    """
    found: dict[str, Any] = {"environment": {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}}
    for name, read in _READERS.items():
        try:
            value = read()
        except Exception:
            continue
        if value is not None:
            found[name] = value
    return found


def _attribute(module: str, name: str) -> Callable[[], Any]:
    return lambda: getattr(sys.modules.get(module), name, None)


def _context(name: str) -> Callable[[], Any]:
    def read() -> Any:
        context = getattr(sys.modules.get("tensorflow.python.eager.context"), "_context", None)
        return getattr(context, name, None)

    return read


def _dtype_policy() -> str | None:
    for package in ("keras", "tf_keras"):
        state = sys.modules.get(f"{package}.src.backend.common.global_state")
        if state is not None:
            policy = state.get_global_attribute("dtype_policy", None)
            return None if policy is None else str(policy.name)
    return None


def _check_numerics() -> bool | None:
    module = sys.modules.get("tensorflow.python.debug.lib.check_numerics_callback")
    state = getattr(module, "_state", None)
    return None if state is None else getattr(state, "check_numerics_callback", None) is not None


def _strategy() -> str | None:
    library = sys.modules.get("tensorflow.python.distribute.distribute_lib")
    if library is None:
        return None
    return str(library.distribution_strategy_gauge.get_cell("V2").value()) or None


_READERS: dict[str, Callable[[], Any]] = {
    "functions_run_eagerly": _attribute(
        "tensorflow.python.eager.polymorphic_function.eager_function_run", "RUN_FUNCTIONS_EAGERLY"
    ),
    "jit": _context("_optimizer_jit"),
    "intra_op_threads": _context("_intra_op_parallelism_threads"),
    "inter_op_threads": _context("_inter_op_parallelism_threads"),
    "deterministic": lambda: bool(sys.modules["tensorflow.python.framework.config"].is_op_determinism_enabled()),
    "dtype_policy": _dtype_policy,
    "floatx": lambda: getattr(sys.modules.get("keras.src.backend.config"), "_FLOATX", None),
    "check_numerics": _check_numerics,
    "data_debug_mode": _attribute("tensorflow.python.data.ops.debug_mode", "DEBUG_MODE"),
    "strategy": _strategy,
}
