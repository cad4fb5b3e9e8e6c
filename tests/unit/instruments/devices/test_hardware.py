"""Why there is no GPU: told from made machines, with their /dev, /sys and /proc in a folder."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tfperfkit.instruments.devices.hardware import cuda_libraries, find_libraries, read_hardware
from tfperfkit.instruments.devices.runtime import short
from tfperfkit.records.devices import Device, DeviceFacts, Hardware
from tfperfkit.records.gpu_reason import explain

CPU = (Device(name="CPU:0", type="CPU", kind="physical"), Device(name="CPU:0", type="CPU", kind="logical"))


def write(root: Path, path: str, text: str = "") -> None:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def card(root: Path, address: str = "0000:01:00.0", vendor: str = "0x10de", kind: str = "0x030000") -> None:
    write(root, f"sys/bus/pci/devices/{address}/vendor", vendor + "\n")
    write(root, f"sys/bus/pci/devices/{address}/class", kind + "\n")


def driver(root: Path, version: str = "550.54.14") -> None:
    write(root, "proc/driver/nvidia/version", f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Thu Feb 22")


def library(root: Path, name: str) -> None:
    write(root, f"usr/lib/x86_64-linux-gnu/{name}")


def facts(root: Path, packages: Path | None = None, **changes: object) -> DeviceFacts:
    """As the instrument would make them on the machine below ``root``."""
    wanted = cuda_libraries("12.5.1", "9")
    made = DeviceFacts(
        devices=CPU,
        package="tensorflow 2.21.0",
        cuda_build=True,
        cuda="12.5.1",
        cudnn="9",
        hardware=read_hardware(root),
        libraries=find_libraries(wanted, root, {}, [str(packages)] if packages else []),
    )
    return msgspec.structs.replace(made, **changes)


def test_a_machine_without_a_card(tmp_path: Path) -> None:
    card(tmp_path, vendor="0x1234")  # another maker's
    card(tmp_path, "0000:02:00.0", kind="0x0c0330")  # NVIDIA's, but a USB controller
    assert read_hardware(tmp_path) == Hardware()
    assert explain(facts(tmp_path)).kind == "none"


def test_cards_are_found_on_the_bus_and_through_the_driver(tmp_path: Path) -> None:
    card(tmp_path)
    card(tmp_path, "0000:02:00.0", kind="0x030200")
    card(tmp_path, "0000:03:00.0", vendor="0x1002")
    write(tmp_path, "proc/driver/nvidia/gpus/0000:01:00.0/information", "Model: \t\t Tesla T4\nIRQ: 52\n")
    write(tmp_path, "dev/nvidia0")
    write(tmp_path, "dev/nvidiactl")
    driver(tmp_path)
    found = read_hardware(tmp_path)
    assert found.nvidia == ("Tesla T4", "NVIDIA card at 0000:02:00.0")
    assert found.amd == ("AMD card at 0000:03:00.0",)
    assert (found.nodes, found.driver) == (("nvidia0",), "550.54.14")


def test_in_a_container_the_device_file_alone_tells(tmp_path: Path) -> None:
    write(tmp_path, "dev/nvidia0")
    assert read_hardware(tmp_path).nvidia == ("NVIDIA card nvidia0",)


def test_tensorflow_without_gpu_support(tmp_path: Path) -> None:
    card(tmp_path)
    reason = explain(facts(tmp_path, package="tensorflow-cpu 2.21.0", cuda_build=False))
    assert reason.kind == "build"
    assert "tensorflow-cpu 2.21.0 is built without GPU support" in reason.sentence
    assert reason.remedy == "pip uninstall tensorflow-cpu, then pip install 'tensorflow[and-cuda]==2.21.0'"


def test_no_driver(tmp_path: Path) -> None:
    card(tmp_path)
    reason = explain(facts(tmp_path))
    assert reason.kind == "driver" and "libcuda.so.1" in reason.sentence


def test_a_driver_that_is_too_old(tmp_path: Path) -> None:
    card(tmp_path)
    driver(tmp_path, "470.82.01")
    reason = explain(facts(tmp_path))
    assert reason.kind == "driver"
    assert "470.82.01 is too old for CUDA 12.5.1, which needs 525.60 or newer" in reason.sentence


def test_a_card_whose_device_file_is_missing(tmp_path: Path) -> None:
    card(tmp_path)
    driver(tmp_path)
    library(tmp_path, "libcuda.so.1")
    reason = explain(facts(tmp_path))
    assert reason.kind == "nodes" and "--gpus all" in reason.remedy


def complete(root: Path) -> None:
    """Return a card with a driver: only CUDA's libraries are missing."""
    card(root)
    driver(root)
    write(root, "dev/nvidia0")
    library(root, "libcuda.so.1")


def test_libraries_that_are_missing_are_named_with_their_wheels(tmp_path: Path) -> None:
    complete(tmp_path)
    for name, _ in cuda_libraries("12.5.1", "9"):
        if "cudnn" not in name and "cufft" not in name:
            write(tmp_path, f"site/nvidia/some/lib/{name}")
    found = facts(tmp_path, tmp_path / "site")
    reason = explain(found)
    assert reason.kind == "libraries"
    assert reason.sentence.endswith("did not find libcufft.so.11, libcudnn.so.9")
    assert reason.remedy.startswith("pip install 'tensorflow[and-cuda]==2.21.0'")
    assert "nvidia-cufft-cu12, nvidia-cudnn-cu12" in reason.remedy
    assert {item.name for item in found.libraries if item.found is None} == {"libcufft.so.11", "libcudnn.so.9"}


def test_everything_is_there(tmp_path: Path) -> None:
    complete(tmp_path)
    write(tmp_path, "etc/ld.so.conf.d/cuda.conf", f"# CUDA\n{'/opt/cuda/lib'}\n")
    for name, _ in cuda_libraries("12.5.1", "9"):
        write(tmp_path, f"opt/cuda/lib/{name}")
    assert explain(facts(tmp_path)).kind == "unknown"


@pytest.mark.parametrize("value", ["", "-1"])
def test_a_variable_hides_the_cards(tmp_path: Path, value: str) -> None:
    complete(tmp_path)
    reason = explain(facts(tmp_path, environment={"CUDA_VISIBLE_DEVICES": value}))
    assert reason.kind == "environment" and reason.sentence.startswith(f"CUDA_VISIBLE_DEVICES={value!r}")
    assert explain(facts(tmp_path, environment={"CUDA_VISIBLE_DEVICES": "0"})).kind != "environment"


def test_the_script_hides_the_cards(tmp_path: Path) -> None:
    gpu = Device(name="GPU:0", type="GPU", kind="physical", visible=False)
    assert explain(facts(tmp_path, devices=(*CPU, gpu))).kind == "script"


def test_an_amd_card_needs_another_build(tmp_path: Path) -> None:
    card(tmp_path, vendor="0x1002")
    assert "tensorflow-rocm" in explain(facts(tmp_path)).remedy


def test_a_loaded_library_counts_as_found(tmp_path: Path) -> None:
    write(tmp_path, "proc/self/maps", "7f00-7f01 r-xp 00000000 08:01 42  /somewhere/libcudart.so.12\n")
    loaded = {item.name for item in find_libraries(cuda_libraries("12.5.1", "9"), tmp_path, {}, []) if item.loaded}
    assert loaded == {"libcudart.so.12"}


def test_an_unknown_cuda_names_no_libraries() -> None:
    assert cuda_libraries("", "") == [] and cuda_libraries("9.2", "7") == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("/job:localhost/replica:0/task:0/device:CPU:1", "CPU:1"),
        ("/device:GPU:0", "GPU:0"),
        ("/physical_device:GPU:0", "GPU:0"),
        ("/job:worker/replica:0/task:1/device:GPU:0", "job:worker/replica:0/task:1/device:GPU:0"),
    ],
)
def test_short_names(name: str, shown: str) -> None:
    assert short(name) == shown
