"""The cost of a recorded cell of a notebook: ``python -m benchmarks.cells [--rounds N] [--steps N]``.

One kernel, in which the same training runs as a plain cell, in ``with tfperfkit.watch()`` and under ``%%tfperf``, in
turn, each round in an order of its own. Prints rows of Markdown: medians of the rounds with their 95 % intervals.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import tempfile
from collections import defaultdict
from typing import Any

from jupyter_client.manager import start_new_kernel

from benchmarks.ratios import words

_SETUP = """
import json, os, time
import tensorflow as tf, tfperfkit
inner, last = tf.keras.layers.Dense(512, activation="relu"), tf.keras.layers.Dense(1)
model = tf.keras.Sequential([tf.keras.Input((256,)), inner, last])
optimizer = tf.keras.optimizers.Adam()
data = tf.random.normal([256, 256])
@tf.function
def step(batch):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(batch, training=True) ** 2)
    weights = model.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights))
    return loss
def train(count):
    global late
    for number in range(count):
        if number == count * 3 // 5:
            clock, processor = time.perf_counter(), time.process_time()
        step(data)
    last = count - count * 3 // 5
    late = (time.perf_counter() - clock) / last * 1000, (time.process_time() - processor) / last * 1000
step(data)
%load_ext tfperfkit
"""
_BEFORE = "before, begin = os.times(), time.perf_counter()"
_AFTER = """
passed, after = time.perf_counter() - begin, os.times()
print(json.dumps({"clock": passed, "processor": sum(after[:4]) - sum(before[:4]), "late": late}))
"""
CELLS = {
    "a plain cell": "train({steps})",
    "`with tfperfkit.watch()`": "with tfperfkit.watch() as run:\n    train({steps})",
    "`%%tfperf`": "%%tfperf\ntrain({steps})",
}


def measure(rounds: int, steps: int) -> dict[str, list[dict[str, Any]]]:
    """Measure each kind of cell: by round, its wall-clock and processor time, with the report, and the time of a step
    in the last two fifths, when the windows are over.
    """
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TFPERF_RUNS": f"{folder}/runs", "TF_CPP_MIN_LOG_LEVEL": "3"}
        manager, client = start_new_kernel(kernel_name="python3", env=environment, cwd=folder)
        try:
            _run(client, _SETUP)
            order = [*CELLS]
            for number in range(rounds + 1):
                random.Random(number).shuffle(order)
                for name in order:
                    _run(client, _BEFORE)
                    _run(client, CELLS[name].format(steps=steps))
                    said = json.loads(_run(client, _AFTER))
                    if number:  # the first round imports what the report needs
                        found[name].append(said)
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)
    return found


def _run(client: Any, source: str) -> str:
    """Return a cell's standard output. Raises RuntimeError if it fails."""
    printed: list[str] = []

    def note(message: Any) -> None:
        if message["msg_type"] == "stream" and message["content"]["name"] == "stdout":
            printed.append(message["content"]["text"])

    reply = client.execute_interactive(source, timeout=900, output_hook=note)["content"]
    if reply["status"] != "ok":
        raise RuntimeError("\n".join(reply["traceback"]))
    return "".join(printed)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.cells", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=600)
    options = parser.parse_args()
    found = measure(options.rounds, options.steps)
    plain = found["a plain cell"]
    print(f"load {os.getloadavg()[0]:.1f}; {options.rounds} rounds; {options.steps} steps a cell\n")
    columns = (
        "whole cell, s",
        "of processors, s",
        "a step after the windows, ms",
        "of processors, ms",
        "over the plain cell's",
    )
    print(f"| cell | {' | '.join(columns)} |")
    print("|---|---|---|---|---|---|")
    for name in CELLS:
        rounds = found[name]
        over = [one["late"][1] / base["late"][1] for one, base in zip(rounds, plain, strict=True)]
        cells = [
            *(words([one[key] for one in rounds]) for key in ("clock", "processor")),
            *(words([one["late"][number] for one in rounds]) for number in (0, 1)),
            words(over) if rounds is not plain else "–",
        ]
        print(f"| {name} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
