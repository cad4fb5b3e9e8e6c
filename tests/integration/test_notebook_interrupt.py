"""A cell that is interrupted in a real kernel ends as without us, what was recorded is shown, the next cell works."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from jupyter_client.manager import start_new_kernel

TRAIN = """%%tfperf
import tensorflow as tf
v = tf.Variable(1.0)

@tf.function
def step(scale):
    v.assign_sub(0.01 * scale)
    return v

for number in range(1_000_000):
    step(tf.constant(0.1))
    if number == 50:
        print("fifty", flush=True)
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith("TFPERF_")}
    kept |= {"TFPERF_RUNS": str(tmp_path / "runs"), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1"}
    manager, client = start_new_kernel(kernel_name="python3", env=kept, cwd=str(tmp_path))
    yield manager, client
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def run(client: Any, source: str, heard: Callable[[str], None] = lambda text: None) -> tuple[str, list[Any]]:
    """The status of a cell's reply, and what it gave out; ``heard`` gets what it prints."""
    outputs: list[Any] = []

    def note(message: Any) -> None:
        outputs.append(message)
        if message["msg_type"] == "stream":
            heard(message["content"]["text"])

    reply = client.execute_interactive(source, timeout=240, output_hook=note, store_history=True)
    return str(reply["content"]["status"]), outputs


def test_a_cell_that_is_interrupted_shows_what_it_had(kernel: tuple[Any, Any]) -> None:
    manager, client = kernel
    assert run(client, "%load_ext tfperfkit")[0] == "ok"

    def interrupt(text: str) -> None:
        if "fifty" in text:
            manager.interrupt_kernel()

    status, outputs = run(client, TRAIN, interrupt)
    assert status == "error"
    (error,) = [item["content"] for item in outputs if item["msg_type"] == "error"]
    assert error["ename"] == "KeyboardInterrupt"
    shown = [item["content"]["data"] for item in outputs if item["msg_type"] == "display_data"]
    assert any("tfperf-report" in data.get("text/html", "") for data in shown), outputs
    status, outputs = run(client, "print(int(v.numpy() < 1), step(tf.constant(0.0)).shape)")
    assert status == "ok"
    assert "".join(item["content"]["text"] for item in outputs if item["msg_type"] == "stream") == "1 ()\n"
