"""Why TensorFlow has no GPU, and what to do about it: from facts alone, so that a report can ask it later too."""

from __future__ import annotations

import msgspec

from tfperfkit.records.devices import DeviceFacts

#: The oldest Linux driver that a CUDA generation runs with (CUDA's release notes, "minor version compatibility").
OLDEST_DRIVER = {"11": (450, 80), "12": (525, 60), "13": (580, 0)}


class Reason(msgspec.Struct, frozen=True):
    """``kind`` for machines, ``sentence`` what is the matter, ``remedy`` what to type or install."""

    kind: str
    sentence: str
    remedy: str


def explain(facts: DeviceFacts) -> Reason:
    """Return the first thing in the way from the card to TensorFlow."""
    machine = facts.hardware
    hidden = _hidden(facts)
    if facts.gpus("physical"):
        remedy = "Remove the tf.config.set_visible_devices call from the script."
        return Reason("script", "The script hides the GPU with tf.config.set_visible_devices", remedy)
    if hidden:
        remedy = f"Unset {hidden} (or name the cards: {hidden}=0)."
        return Reason("environment", f"{hidden}={facts.environment[hidden]!r} hides every GPU", remedy)
    version = facts.package.rpartition(" ")[2]
    pinned = f"=={version}" if version else ""
    if machine.amd and not machine.nvidia:
        if facts.rocm_build:
            return Reason("amd", "TensorFlow for ROCm found no usable AMD GPU", "Check rocminfo and the ROCm version.")
        remedy = "Install tensorflow-rocm (and ROCm) instead of tensorflow."
        return Reason("amd", f"{facts.package or 'This TensorFlow'} can't use an AMD GPU", remedy)
    if not machine.nvidia:
        return Reason(
            "none",
            "There is no GPU in this machine, or this container does not see it",
            ("Run it on a machine with a GPU; in a container start it with docker run --gpus all."),
        )
    install = f"pip install 'tensorflow[and-cuda]{pinned}'"
    if not facts.cuda_build:
        built = facts.package or "the installed TensorFlow"
        remove = f"pip uninstall {facts.package.partition(' ')[0]}, then " if "-cpu" in facts.package else ""
        return Reason("build", f"{built} is built without GPU support", f"{remove}{install}")
    return _nvidia(facts, install)


def _nvidia(facts: DeviceFacts, install: str) -> Reason:
    machine = facts.hardware
    libraries = {library.name: library for library in facts.libraries}
    driver = libraries.get("libcuda.so.1")
    if not machine.driver and (driver is None or driver.found is None):
        remedy = "Install NVIDIA's driver (nvidia-smi must list the card); in a container: docker run --gpus all."
        return Reason("driver", "The NVIDIA driver is missing: no libcuda.so.1, no /proc/driver/nvidia/version", remedy)
    oldest = OLDEST_DRIVER.get(facts.cuda.partition(".")[0])
    numbers = tuple(int(part) for part in machine.driver.split(".")[:2] if part.isdigit())
    if oldest and numbers and numbers < oldest:
        lower = ".".join(map(str, oldest))
        sentence = f"The NVIDIA driver {machine.driver} is too old for CUDA {facts.cuda}, which needs {lower} or newer"
        return Reason("driver", sentence, f"Install an NVIDIA driver {lower} or newer.")
    if not machine.nodes:
        remedy = "Start the container with docker run --gpus all; else load the driver with nvidia-modprobe -u."
        return Reason("nodes", "There is no /dev/nvidia0: this process can't open the card", remedy)
    missing = [library for library in facts.libraries if library.found is None and not library.loaded]
    if driver in missing:
        remedy = "In a container: docker run --gpus all; else install the driver's user-space libraries."
        return Reason("driver", "libcuda.so.1, the driver's own library, was not found", remedy)
    if missing:
        names = ", ".join(library.name for library in missing)
        wheels = ", ".join(dict.fromkeys(library.package for library in missing))
        sentence = f"TensorFlow (built for CUDA {facts.cuda}, cuDNN {facts.cudnn}) did not find {names}"
        return Reason("libraries", sentence, f"{install} (brings {wheels}).")
    return Reason(
        "unknown",
        "The driver and all libraries are there, and TensorFlow still registered no GPU",
        (
            "Read what TensorFlow logs at its start: TF_CPP_MIN_LOG_LEVEL=0, TF_CPP_MAX_VLOG_LEVEL=1. "
            f"If the libraries are of other versions: {install}"
        ),
    )


def _hidden(facts: DeviceFacts) -> str:
    """Return the variable that hides the cards; empty if none does."""
    own = "HIP_VISIBLE_DEVICES" if facts.rocm_build else "CUDA_VISIBLE_DEVICES"
    value = facts.environment.get(own)
    return own if value is not None and value.strip() in ("", "-1", "none", "NoDevFiles", "void") else ""
