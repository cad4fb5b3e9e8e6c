"""Graphics cards in the machine and the libraries for them, from files alone: TensorFlow is not asked.

``root`` is where the machine's file system begins, so that a made one can be read in its place.
"""

from __future__ import annotations

import glob
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tfperfkit.records.devices import Hardware, Library

_NVIDIA, _AMD = "10de", "1002"
_DISPLAY_CLASS = "03"
_LIBRARY_FOLDERS = (
    "usr/lib/x86_64-linux-gnu",
    "usr/lib/aarch64-linux-gnu",
    "lib/x86_64-linux-gnu",
    "usr/lib64",
    "lib64",
    "usr/lib",
    "usr/local/lib",
    "usr/local/cuda/lib64",
    "usr/lib/wsl/lib",
)


def read_hardware(root: Path = Path("/")) -> Hardware:
    """Return the cards on the PCI bus and what their driver shows. Files that can't be read count as missing."""
    models = _models(root)
    nvidia, amd = [], []
    for device in sorted((root / "sys/bus/pci/devices").glob("*")):
        vendor = _text(device / "vendor").removeprefix("0x").lower()
        if not _text(device / "class").removeprefix("0x").startswith(_DISPLAY_CLASS):
            continue
        if vendor == _NVIDIA:
            nvidia.append(models.pop(device.name, f"NVIDIA card at {device.name}"))
        elif vendor == _AMD:
            amd.append(f"AMD card at {device.name}")
    nodes = sorted(path.name for path in (root / "dev").glob("nvidia*") if re.fullmatch(r"nvidia\d+", path.name))
    nvidia += models.values()  # in a container the bus may be hidden
    if not nvidia and nodes:
        nvidia = [f"NVIDIA card {node}" for node in nodes]
    version = re.search(r"\b(\d{3,}\.\d+(?:\.\d+)*)\b", _text(root / "proc/driver/nvidia/version"))
    return Hardware(
        nvidia=tuple(nvidia), amd=tuple(amd), nodes=tuple(nodes), driver=version.group(1) if version else ""
    )


def _models(root: Path) -> dict[str, str]:
    found = {}
    for file in sorted((root / "proc/driver/nvidia/gpus").glob("*/information")):
        model = re.search(r"^Model:\s*(.+)$", _text(file), re.MULTILINE)
        found[file.parent.name] = model.group(1).strip() if model else f"NVIDIA card at {file.parent.name}"
    return found


def _text(file: Path) -> str:
    try:
        return file.read_text(errors="replace").strip()
    except OSError:
        return ""


def cuda_libraries(cuda: str, cudnn: str) -> list[tuple[str, str]]:
    """(file, wheel) of the libraries that a TensorFlow built for this CUDA and cuDNN loads when it looks for GPUs."""
    major = cuda.partition(".")[0]
    if not major.isdigit():
        return []
    tag = f"cu{major}"
    versions = {
        "11": ("11.0", "11", "10", "11", "11"),
        "12": ("12", "12", "11", "11", "12"),
        "13": ("13", "13", "12", "12", "12"),
    }.get(major)
    if versions is None:
        return []
    cudart, cublas, cufft, cusolver, cusparse = versions
    return [
        ("libcuda.so.1", "the NVIDIA driver"),
        (f"libcudart.so.{cudart}", f"nvidia-cuda-runtime-{tag}"),
        (f"libcublas.so.{cublas}", f"nvidia-cublas-{tag}"),
        (f"libcublasLt.so.{cublas}", f"nvidia-cublas-{tag}"),
        (f"libcufft.so.{cufft}", f"nvidia-cufft-{tag}"),
        (f"libcusolver.so.{cusolver}", f"nvidia-cusolver-{tag}"),
        (f"libcusparse.so.{cusparse}", f"nvidia-cusparse-{tag}"),
        (f"libcudnn.so.{cudnn.partition('.')[0]}", f"nvidia-cudnn-{tag}"),
    ]


def find_libraries(
    wanted: Sequence[tuple[str, str]],
    root: Path = Path("/"),
    environ: Mapping[str, str] = os.environ,
    packages: Sequence[str] | None = None,
) -> tuple[Library, ...]:
    """Return the path of each wanted library. Nothing is loaded: loading one could change what the script does.

    ``packages`` are the folders of installed packages, in which NVIDIA's wheels put theirs.
    """
    folders = [folder for folder in environ.get("LD_LIBRARY_PATH", "").split(":") if folder]
    for place in sys.path if packages is None else packages:
        folders += sorted(glob.glob(os.path.join(glob.escape(place), "nvidia", "*", "lib")))
    folders += [str(root / folder) for folder in (*_configured(root), *_LIBRARY_FOLDERS)]
    mapped = _text(root / "proc/self/maps")
    found = []
    for name, package in wanted:
        where = next((folder for folder in folders if os.path.exists(os.path.join(folder, name))), None)
        found.append(Library(name=name, package=package, found=where, loaded=f"/{name}" in mapped))
    return tuple(found)


def _configured(root: Path) -> list[str]:
    """Return the folders that the dynamic loader's configuration names."""
    lines: list[str] = []
    for file in (root / "etc/ld.so.conf", *sorted((root / "etc/ld.so.conf.d").glob("*.conf"))):
        lines += _text(file).splitlines()
    return [line.strip().lstrip("/") for line in lines if line.strip().startswith("/")]
