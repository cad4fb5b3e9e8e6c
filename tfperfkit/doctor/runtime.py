"""The rows that need TensorFlow to be imported: done in another process, whose end is an answer too."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tfperfkit.config import limits_file
from tfperfkit.doctor.check import Check
from tfperfkit.recording.environment import processors
from tfperfkit.storage.machine_limits import UNKNOWN, load, make_key, store

TRIAL_SECONDS = 300
_GPU_LOG = re.compile(r"(Cannot dlopen|Could not load dynamic library|Could not find cuda|Unable to register)")


def try_tensorflow() -> tuple[dict[str, Any], str]:
    """Return the result of the trial, and the last lines that it printed if it did not come to its end."""
    with tempfile.TemporaryDirectory(prefix="tfperf-doctor-") as folder:
        command = [sys.executable, str(Path(__file__).with_name("trial.py")), folder]
        environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "0"}  # the names of missing libraries are in its log
        try:
            done = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TRIAL_SECONDS,
                cwd=folder,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return {}, f"no answer within {TRIAL_SECONDS} s"
    found: dict[str, Any] = {}
    for line in done.stdout.splitlines():
        try:
            found.update(json.loads(line))
        except (ValueError, TypeError):
            continue
    log = done.stderr.decode("utf-8", "replace")
    found["gpu_log"] = [_clean(line) for line in log.splitlines() if _GPU_LOG.search(line)]
    if done.returncode < 0:
        return found, f"the process was ended by {signal.Signals(-done.returncode).name}"
    if done.returncode:
        lines = [line.strip() for line in log.splitlines() if line.strip()]
        return found, _clean(lines[-1]) if lines else f"exit status {done.returncode}"
    return found, ""


def check_runtime(found: Mapping[str, Any], failure: str, gpu: str | None) -> list[Check]:
    """Rows for the import, Keras' import, the GPU and the capture. ``gpu``: which kind is in the machine, if any."""
    rows = []
    if "version" not in found:
        advice = "python -c 'import tensorflow' shows all of it; pip install --force-reinstall tensorflow"
        return [Check("import tensorflow", "broken", failure or "it said nothing", advice)]
    rows.append(Check("import tensorflow", "ok", str(found["version"])))
    if "keras_error" in found:
        rows.append(Check("import keras", "broken", _clean(str(found["keras_error"])), "pip install --upgrade keras"))
    elif found.get("keras_backend") not in (None, "tensorflow"):
        advice = "tfperf sees training under TensorFlow only: KERAS_BACKEND=tensorflow"
        rows.append(Check("import keras", "note", f"its backend is {found['keras_backend']}", advice))
    rows.append(check_gpu(found, gpu))
    rows.append(_capture(found.get("capture"), failure))
    return rows


def keep_costs(found: Mapping[str, Any]) -> list[Check]:
    """Keep the costs of TensorFlow's work on this machine, the least of each, for predictions; a row that says them."""
    costs = found.get("costs")
    if not isinstance(costs, dict) or not costs:
        return []
    path, name = (
        limits_file(),
        make_key(processors(), {"tensorflow": found["version"], "numpy": found.get("numpy", "")}),
    )
    limits = load(path).get(name, UNKNOWN).with_costs(costs)
    try:
        store(path, name, limits)
    except OSError as error:
        return [Check("machine costs", "note", f"{path}: {error.strerror or error}", "predictions use usual costs")]
    said = f"{limits.costs['dispatch_ms'] * 1000:.0f} us an eager operation, {limits.costs['call_ms']:.2f} ms a call"
    return [Check("machine costs", "ok", f"{said} of a compiled function; predictions use these")]


def check_gpu(found: Mapping[str, Any], gpu: str | None) -> Check:
    """Check for a GPU in the machine that TensorFlow could not register, the loudest finding there is."""
    seen = found.get("gpus") or []
    if seen:
        return Check("GPU libraries", "ok", f"TensorFlow sees {len(seen)} GPU{'s' if len(seen) > 1 else ''}")
    if gpu is None:
        return Check("GPU libraries", "ok", "no GPU in this machine, none needed")
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0") in ("", "-1"):
        return Check("GPU libraries", "note", f"{gpu} GPU, hidden by CUDA_VISIBLE_DEVICES", "unset it to train there")
    wants = "rocm_build" if gpu == "AMD" else "cuda_build"
    if not found.get(wants):
        package = "tensorflow-rocm" if gpu == "AMD" else "'tensorflow[and-cuda]'"
        text = f"{gpu} GPU in this machine, but this TensorFlow is built without it"
        return Check("GPU libraries", "broken", text, f"training runs on the CPU: pip install {package}")
    log = found.get("gpu_log") or []
    versions = f"CUDA {found.get('cuda') or '?'}, cuDNN {found.get('cudnn') or '?'}"
    text = f"{gpu} GPU in this machine, but TensorFlow could not register it" + (f": {log[-1]}" if log else "")
    return Check("GPU libraries", "broken", text, f"it was built for {versions}: pip install 'tensorflow[and-cuda]'")


def gpu_in_machine(devices: Path = Path("/dev"), process: Path = Path("/proc")) -> str | None:
    """Return the maker of a GPU that the kernel knows."""
    if (devices / "nvidia0").exists() or (process / "driver" / "nvidia" / "gpus").exists():
        return "NVIDIA"
    return "AMD" if (devices / "kfd").exists() else None


def _capture(result: Any, failure: str) -> Check:
    if isinstance(result, dict) and result.get("bytes"):
        return Check("TF Profiler", "ok", f"a capture of two steps gave {result['bytes'] / 1000:.0f} KB")
    found = failure or "a capture of two steps wrote no trace"
    return Check("TF Profiler", "broken", found, "no probe can record a trace: reinstall TensorFlow")


def _clean(text: str) -> str:
    text = re.sub(r"^[IWEF]\d{4} [\d:.]+ +\d+ |^[\d-]+ [\d:.]+: [IWEF] ", "", text)
    return "".join(char if char.isprintable() else " " for char in text)[:300]
