"""Trains a GAN on 28x28 digits, in stages from slow to fast.

    python examples/gan/train.py --stage naive
    python examples/gan/train.py --stage graph --steps 2000
    python examples/gan/train.py --stage graph --strategy mirrored

The stages are listed in ``stages.py`` and described in ``README.md``.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stages import STAGES, Stage

if TYPE_CHECKING:
    from digits import Source
    from models import Networks
    from outputs import StepRecord

# TensorFlow takes seconds to import: the functions below that need it import
# it themselves, so that --help and a mistyped option answer at once.


def whole_number(smallest: int, largest: int = 2**31 - 1) -> Callable[[str], int]:
    """Return an argparse type: a whole number from ``smallest`` to ``largest``."""

    def number(text: str) -> int:
        try:
            value = int(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"not a whole number: {text!r}") from None
        if not smallest <= value <= largest:
            raise argparse.ArgumentTypeError(f"must be from {smallest} to {largest}, not {value}")
        return value

    return number


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Reads the command line."""
    stages = "\n".join(f"  {name:7} {stage.summary}" for name, stage in STAGES.items())
    parser = argparse.ArgumentParser(
        description="Trains a GAN on 28x28 digits.",
        epilog=f"stages:\n{stages}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--stage", choices=STAGES, default="naive", help="default: naive")
    parser.add_argument("--steps", type=whole_number(1), default=30, help="updates of each network; default: 30")
    parser.add_argument(
        "--batch-size", type=whole_number(1), help="digits per batch; default: 64, from stage batch to mixed 1024"
    )
    parser.add_argument("--seed", type=whole_number(0), default=0, help="same seed, same losses; default: 0")
    parser.add_argument("--data", default="drawn", help="drawn (the default), mnist, or an .npz like mnist.npz")
    parser.add_argument("--digits", type=whole_number(1), default=60_000, help="size of the drawn set; default: 60000")
    parser.add_argument(
        "--cache", type=Path, help="where the drawn set is kept; default: $TFPERFKIT_GAN_CACHE or the user's cache"
    )
    parser.add_argument("--out", type=Path, default=Path("gan-out"), help="where results go; default: ./gan-out")
    parser.add_argument(
        "--log-every", type=whole_number(1), default=1, metavar="N", help="log each N-th step; default: 1"
    )
    parser.add_argument(
        "--strategy",
        choices=("mirrored", "central", "multiworker"),
        help="train on several devices, or workers, at once; for the stages graph, batch and shared",
    )
    arguments = parser.parse_args(argv)
    stage = STAGES[arguments.stage]
    if arguments.strategy and (not stage.graph or stage.jit_compile):
        parser.error("--strategy needs --stage graph, batch or shared")
    return arguments


def make_trainer(stage: Stage, networks: Networks, source: Source, batch_size: int, seed: int) -> Any:
    """The object whose ``step()`` is one step of this stage."""
    from eager import EagerTrainer
    from graph import GraphTrainer, SharedTrainer

    if not stage.graph:
        return EagerTrainer(networks, source, batch_size, seed, cached=stage.cached)
    trainer = SharedTrainer if stage.shared else GraphTrainer
    return trainer(networks, source, batch_size, seed, jit_compile=stage.jit_compile)


def make_distributed_trainer(
    strategy: Any, stage: Stage, source: Source, batch_size: int, seed: int
) -> tuple[Networks, Any]:
    """Networks whose variables are on all replicas, and the trainer for them."""
    import tensorflow as tf

    from distributed import make_distributed, with_means

    with strategy.scope(), tf.variable_creator_scope(with_means):
        networks = make_stage_networks(stage)
    trainer = make_distributed(strategy, stage.shared, networks, source, batch_size, seed)
    count = strategy.num_replicas_in_sync
    print(f"{count} replicas, {trainer.batch_size} digits each", flush=True)
    return networks, trainer


def make_stage_networks(stage: Stage) -> Networks:
    """The networks in the number format of the stage."""
    import keras
    import tensorflow as tf

    from models import make_networks

    # Tensor cores compute in float16; CPUs have instructions for bfloat16 only.
    half = "float16" if tf.config.list_physical_devices("GPU") else "bfloat16"
    keras.config.set_dtype_policy(f"mixed_{half}" if stage.mixed else "float32")
    return make_networks(loss_scaling=stage.mixed and half == "float16")


def train_loop(trainer: Any, batch_size: int, steps: int, log_every: int) -> list[StepRecord]:
    """Runs the steps, logs them, and returns their losses and times."""
    from outputs import StepRecord

    records = []
    for step in range(1, steps + 1):
        start = time.perf_counter()
        results = trainer.step()
        # Reading a loss waits for the device, so the time is that of the whole step.
        g_loss, d_loss = float(results["generator"]), float(results["discriminator"])
        seconds = time.perf_counter() - start
        records.append(StepRecord(step, g_loss, d_loss, seconds))
        if step % log_every == 0 or step == steps:
            # Each step shows the networks one batch per network: 2 x batch images.
            rate = 2 * batch_size / seconds
            print(
                f"step {step:4d}  G loss {g_loss:.3f}  D loss {d_loss:.3f}"
                f"  step_time {seconds:.3f} s  {rate:.0f} img/s",
                flush=True,
            )
    return records


def main(argv: Sequence[str] | None = None) -> int:
    """Trains, and writes samples, weights and losses; returns the exit code."""
    arguments = parse_arguments(argv)
    stage = STAGES[arguments.stage]
    batch_size = arguments.batch_size or stage.batch_size
    os.environ["KERAS_BACKEND"] = "tensorflow"

    from digits import DataError, default_cache, open_source

    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        source = open_source(arguments.data, arguments.cache or default_cache(), arguments.digits)
    except (DataError, OSError) as error:
        print(f"train.py: error: {error}", file=sys.stderr)
        return 2

    import keras

    from outputs import write_losses, write_samples

    out = arguments.out
    keras.utils.set_random_seed(arguments.seed)
    if arguments.strategy:
        from distributed import make_strategy

        strategy = make_strategy(arguments.strategy)
        networks, trainer = make_distributed_trainer(strategy, stage, source, batch_size, arguments.seed)
        worker = getattr(strategy.cluster_resolver, "task_id", None) or 0
        out = out / f"worker-{worker}" if worker else out  # each keeps what it made
        out.mkdir(parents=True, exist_ok=True)
    else:
        networks = make_stage_networks(stage)
        trainer = make_trainer(stage, networks, source, batch_size, arguments.seed)
    print(f"stage {arguments.stage}: {stage.summary}; batch {batch_size}", flush=True)
    records = train_loop(trainer, batch_size, arguments.steps, arguments.log_every)

    generator = networks.models["generator"]
    generator.save_weights(out / "generator.weights.h5")
    write_samples(generator, arguments.seed, out / "samples.png")
    write_losses(records, out / "losses.csv")
    # The first step traces, compiles and warms up; it would spoil the median.
    usual = statistics.median(record.seconds for record in records[1:] or records)
    print(f"median step {usual:.3f} s, {2 * batch_size / usual:.0f} img/s; results in {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
