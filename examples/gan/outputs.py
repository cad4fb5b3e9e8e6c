"""The files that a run leaves behind: a picture of samples, the weights, the losses."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from models import NOISE_SIZE

ROWS, COLUMNS = 8, 12  #: of the sample grid
MARGIN = 2  #: black pixels around each sample
SCALE = 2  #: screen pixels per pixel of a digit


class StepRecord(NamedTuple):
    """One line of ``losses.csv``."""

    step: int
    generator_loss: float
    discriminator_loss: float
    seconds: float


def write_samples(generator: Any, seed: int, path: Path) -> None:
    """Writes a grid of generated digits as a grey PNG."""
    noise = np.random.default_rng(seed).uniform(-1.0, 1.0, size=[ROWS * COLUMNS, NOISE_SIZE]).astype(np.float32)
    images = np.asarray(generator(noise, training=False))[..., 0]
    grey = np.clip((images + 1.0) * 127.5, 0.0, 255.0).astype(np.uint8)
    cells = np.pad(grey, ((0, 0), (MARGIN, MARGIN), (MARGIN, MARGIN)))
    side = cells.shape[1]
    grid = cells.reshape(ROWS, COLUMNS, side, side).transpose(0, 2, 1, 3).reshape(ROWS * side, COLUMNS * side)
    large = grid.repeat(SCALE, axis=0).repeat(SCALE, axis=1)
    path.write_bytes(tf.io.encode_png(large[:, :, None]).numpy())


def write_losses(records: list[StepRecord], path: Path) -> None:
    """Writes every step's losses in full precision, so that two runs can be compared."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(StepRecord._fields)
        writer.writerows(records)
