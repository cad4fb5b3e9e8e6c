"""Functions of TensorFlow that belong to its loader of SavedModels and are called with each call of what was loaded."""

from __future__ import annotations

_MODULES = {
    "load": ("_call_attribute", "_call_flat", "get_handle", "get_unused_handle", "_unused_handle"),
    "function_deserialization": (
        "_run_functions_eagerly",
        "restored_function_body",
        "_concrete_function_callable_with",
        "_try_convert_to_tensor_spec",
        "_is_tensor",
        "_call_concrete_function",
    ),
    "signature_serialization": ("__getitem__", "__iter__", "__len__"),
}
FOLDER = "tensorflow/python/saved_model/"
#: By module of that folder: functions that load nothing.
RESTORED: dict[str, frozenset[str]] = {module: frozenset(functions) for module, functions in _MODULES.items()}
#: The same as frames of the samples name them.
RESTORED_CALLS = frozenset(
    f"{FOLDER.replace('/', '.')}{module}:{function}" for module, functions in _MODULES.items() for function in functions
)
#: It only calls the object that was loaded.
PASSES_ON = "_call_attribute"
