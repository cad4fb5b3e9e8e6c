"""Ask TensorFlow about devices and its own settings. Only asked once the script has woken the runtime."""

from __future__ import annotations

import os
import re
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

from tfperfkit.errors import Unavailable
from tfperfkit.instruments.devices import hardware
from tfperfkit.records import gpu_reason
from tfperfkit.records.devices import Device, DeviceFacts

#: Environment variables that decide where and how TensorFlow computes.
VARIABLES = (
    "CUDA_VISIBLE_DEVICES",
    "HIP_VISIBLE_DEVICES",
    "TF_ENABLE_ONEDNN_OPTS",
    "TF_XLA_FLAGS",
    "XLA_FLAGS",
    "TF_FORCE_GPU_ALLOW_GROWTH",
    "TF_GPU_ALLOCATOR",
    "TF_GPU_THREAD_MODE",
    "TF_GPU_THREAD_COUNT",
    "TF_NUM_INTRAOP_THREADS",
    "TF_NUM_INTEROP_THREADS",
    "OMP_NUM_THREADS",
    "KMP_BLOCKTIME",
    "TF_DETERMINISTIC_OPS",
    "TF_CUDNN_DETERMINISTIC",
    "NVIDIA_TF32_OVERRIDE",
)
_PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-intel", "tensorflow-rocm", "tf-nightly", "tf-nightly-cpu")
_LOCAL = re.compile(r"^/job:localhost/replica:0/task:0/device:")


def initialised() -> bool:
    """Return whether the script has woken TensorFlow's runtime: only then may we ask it anything."""
    module = sys.modules.get("tensorflow.python.eager.context")
    try:
        return module is not None and getattr(module.context(), "_context_handle", None) is not None
    except Exception:
        return False


def gpu_missing() -> str | None:
    """Return why this program can't train on a GPU, in one sentence; None if it can.

    Raises ``Unavailable`` while TensorFlow has not looked for devices: ask again at the first trace or step.
    """
    found = facts()
    if found.gpus("logical"):
        return None
    return gpu_reason.explain(found).sentence


def facts(root: Path = Path("/")) -> DeviceFacts:
    """Devices and settings as they are now. Raises ``Unavailable`` before the script has woken TensorFlow."""
    if not initialised():
        raise Unavailable("TensorFlow has not looked for devices: nothing was computed")
    from tensorflow.python.eager import context as module

    context = module.context()
    build = _build()
    cuda, cudnn = str(build.get("cuda_version", "")), str(build.get("cudnn_version", ""))
    machine = hardware.read_hardware(root)
    wanted = hardware.cuda_libraries(cuda, cudnn) if build.get("is_cuda_build") else []
    return DeviceFacts(
        devices=(*_physical(context), *_logical(context)),
        soft_placement=_ask(context, "soft_device_placement"),
        intra_op_threads=_ask(context, "intra_op_parallelism_threads"),
        inter_op_threads=_ask(context, "inter_op_parallelism_threads"),
        onednn=_onednn(),
        xla_auto=str(_ask(context, "optimizer_jit") or ""),
        tf32=_tf32(),
        environment={name: os.environ[name] for name in VARIABLES if name in os.environ},
        package=_package(),
        cuda_build=bool(build.get("is_cuda_build")),
        rocm_build=bool(build.get("is_rocm_build")),
        cuda=cuda,
        cudnn=cudnn,
        libraries=hardware.find_libraries(wanted, root),
        hardware=machine,
        cpus=len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 0,
    )


def short(name: str) -> str:
    """ "CPU:1" for a device of this process, the whole name without slashes in front for another task's."""
    local = _LOCAL.sub("", name)
    if local != name:
        return local
    return name.removeprefix("/device:").removeprefix("/").removeprefix("physical_device:")


def logical_names() -> frozenset[str]:
    """Return the short names of the logical devices ("CPU:0"). Only after the script has woken TensorFlow."""
    from tensorflow.python.eager import context

    return frozenset(short(device.name) for device in context.context().list_logical_devices())


def _physical(context: Any) -> list[Device]:
    visible = {device.name for device in context.get_visible_devices()}
    found = []
    for device in context.list_physical_devices():
        growth, details = None, {}
        if device.device_type == "GPU":
            try:
                growth = context.get_memory_growth(device)
                details = context.get_device_details(device)
            except Exception:
                pass
        found.append(
            Device(
                name=short(device.name),
                type=device.device_type,
                kind="physical",
                visible=device.name in visible,
                memory_growth=growth,
                description=str(details.get("device_name", "")),
                compute_capability=details.get("compute_capability"),
            )
        )
    return found


def _logical(context: Any) -> list[Device]:
    return [
        Device(name=short(device.name), type=device.device_type, kind="logical")
        for device in context.list_logical_devices()
    ]


def _ask(context: Any, name: str) -> Any:
    try:
        return getattr(context, name)
    except Exception:
        return None


def _build() -> dict[str, Any]:
    try:
        from tensorflow.python.platform import sysconfig

        return dict(sysconfig.get_build_info())
    except Exception:
        return {}


def _onednn() -> bool | None:
    """As TensorFlow decides it: on for x86 since 2.9, unless the variable says otherwise."""
    try:
        from tensorflow.python.util import _pywrap_util_port

        return bool(_pywrap_util_port.IsMklEnabled())
    except Exception:
        return None


def _tf32() -> bool | None:
    try:
        from tensorflow.python.framework import config

        return bool(config.tensor_float_32_execution_enabled())
    except Exception:
        return None


def _package() -> str:
    for name in _PACKAGES:
        try:
            return f"{name} {metadata.version(name)}"
        except metadata.PackageNotFoundError:
            continue
    return ""
