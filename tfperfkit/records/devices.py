"""The devices and settings of a run, and the hardware behind them: what the record holds and a report asks later."""

from __future__ import annotations

import msgspec


class Library(msgspec.Struct, frozen=True, kw_only=True):
    """A library that TensorFlow loads for GPUs. ``found``: where it lies; ``loaded``: this process has it."""

    name: str
    package: str  # the wheel that brings it
    found: str | None
    loaded: bool


class Hardware(msgspec.Struct, frozen=True, kw_only=True):
    """Devices of the machine. ``nodes`` are device files such as ``nvidia0``; ``driver`` is its version."""

    nvidia: tuple[str, ...] = ()  # model or PCI address, one for each card
    amd: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    driver: str = ""


class Device(msgspec.Struct, frozen=True, kw_only=True):
    """One device. ``name`` is short ("CPU:1"); a logical one belongs to a physical one and is what a script names."""

    name: str
    type: str
    kind: str  # "physical" or "logical"
    visible: bool = True
    memory_growth: bool | None = None  # GPUs only
    description: str = ""
    compute_capability: tuple[int, int] | None = None  # of an NVIDIA GPU


class DeviceFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The devices and settings of a run. Threads: 0 means that TensorFlow chooses."""

    devices: tuple[Device, ...]
    soft_placement: bool | None = None
    intra_op_threads: int | None = None
    inter_op_threads: int | None = None
    onednn: bool | None = None
    xla_auto: str = ""  # tf.config.optimizer.set_jit: "" when off
    tf32: bool | None = None
    environment: dict[str, str] = {}
    package: str = ""  # the installed distribution and its version
    cuda_build: bool = False
    rocm_build: bool = False
    cuda: str = ""
    cudnn: str = ""
    libraries: tuple[Library, ...] = ()
    hardware: Hardware = Hardware()
    cpus: int = 0

    def gpus(self, kind: str) -> tuple[Device, ...]:
        """Return the GPUs that TensorFlow has registered ("physical") or that the script can use ("logical")."""
        return tuple(device for device in self.devices if device.type == "GPU" and device.kind == kind)
