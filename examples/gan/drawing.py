"""Draws sets of 28x28 digits: distorted pen strokes, blurred into ink.

A digit is drawn in three steps, for some thousand digits at a time: its
shape's points are jittered and turned, sheared, scaled and shifted; the pen's
dabs are added into the pixels they fall on; the sum is blurred to the width
of the pen and saturated, as ink does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from strokes import SHAPES, Shape, path_weights

Array = NDArray[Any]

SIDE = 28  #: pixels per side of a digit
BODY = 19.0  #: height of an undistorted digit in pixels; MNIST's are about 20
CHUNK = 2000  #: digits drawn at once; bounds the memory to a few dozen MB
KERNEL_RADIUS = 2  #: pixels on each side that a dab is blurred over


def draw_digits(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draws ``count`` digits.

    Returns the images, uint8 [count, 28, 28] with white ink (255) on black,
    and the labels, uint8 [count].
    """
    labels = rng.integers(0, 10, size=count).astype(np.uint8)
    images = np.zeros((count, SIDE, SIDE), dtype=np.uint8)
    for digit in range(10):
        shapes = [shape for shape in SHAPES if shape.digit == digit]
        places = np.flatnonzero(labels == digit)
        for shape, mine in zip(shapes, np.array_split(places, len(shapes)), strict=True):
            for start in range(0, len(mine), CHUNK):
                chunk = mine[start : start + CHUNK]
                images[chunk] = _draw_shape(shape, len(chunk), rng)
    return images, labels


def _draw_shape(shape: Shape, count: int, rng: np.random.Generator) -> Array:
    """``count`` different drawings of one shape, uint8 [count, 28, 28]."""
    path = _distorted_paths(shape, count, rng)
    ink = _blur(_dab(path), sigma=rng.uniform(0.55, 0.9, size=count).astype(np.float32))
    pressure = rng.uniform(3.5, 8.0, size=(count, 1, 1)).astype(np.float32)
    grain = rng.uniform(0.96, 1.0, size=ink.shape).astype(np.float32)
    grey = 255.0 * (1.0 - np.exp(-pressure * ink)) * grain
    # Faint rims are cut to black: the background of MNIST is exactly zero.
    return np.where(grey < 32.0, 0.0, grey).astype(np.uint8)


def _distorted_paths(shape: Shape, count: int, rng: np.random.Generator) -> Array:
    """Pen paths in pixels, float32 [count, dabs, 2] as (x, y)."""
    centred = np.asarray(shape.points, dtype=np.float32) - 0.5
    points = centred + rng.normal(0.0, 0.025, size=(count, *centred.shape)).astype(np.float32)
    angle = rng.normal(0.0, 0.10, size=count)  # radians
    slant = rng.normal(0.10, 0.15, size=count)  # most hands lean to the right
    width = BODY * rng.uniform(0.75, 1.0, size=count)
    height = BODY * rng.uniform(0.88, 1.05, size=count)
    cos, sin = np.cos(angle), np.sin(angle)
    affine = np.empty((count, 2, 2), dtype=np.float32)
    affine[:, 0, 0] = cos * width
    affine[:, 0, 1] = (-sin - slant * cos) * height
    affine[:, 1, 0] = sin * width
    affine[:, 1, 1] = (cos - slant * sin) * height
    moved = points @ affine.transpose(0, 2, 1)
    moved += (SIDE - 1) / 2 + rng.normal(0.0, 0.6, size=(count, 1, 2)).astype(np.float32)
    path: Array = path_weights(shape) @ moved
    return path


def _dab(path: Array) -> Array:
    """Adds each dab to its four nearest pixels: float32 [count, 28, 28]."""
    count = len(path)
    # Clipped so that a wild stroke ends at the edge and not in the next image.
    path = np.clip(path, 0.0, SIDE - 1.001)
    corner = path.astype(np.int64)
    right, down = np.moveaxis(path - corner, 2, 0)
    first = np.arange(count)[:, None] * SIDE * SIDE + corner[..., 1] * SIDE + corner[..., 0]
    pixels = np.stack([first, first + 1, first + SIDE, first + SIDE + 1])
    shares = np.stack([(1 - right) * (1 - down), right * (1 - down), (1 - right) * down, right * down])
    ink = np.bincount(pixels.ravel(), weights=shares.ravel(), minlength=count * SIDE * SIDE)
    return ink.astype(np.float32).reshape(count, SIDE, SIDE)


def _blur(ink: Array, sigma: Array) -> Array:
    """Blurs each image with a Gaussian of its own width, ``sigma`` [count] pixels."""
    offsets = np.arange(-KERNEL_RADIUS, KERNEL_RADIUS + 1)
    kernel = np.exp(-(offsets**2) / (2 * sigma[:, None] ** 2)).astype(np.float32)
    kernel /= kernel.sum(axis=1, keepdims=True)
    for axis in (1, 2):
        pad = [(0, 0), (0, 0), (0, 0)]
        pad[axis] = (KERNEL_RADIUS, KERNEL_RADIUS)
        padded = np.pad(ink, pad)
        ink = np.zeros_like(ink)
        for tap in range(len(offsets)):
            window = padded[:, tap : tap + SIDE] if axis == 1 else padded[:, :, tap : tap + SIDE]
            ink += kernel[:, tap, None, None] * window
    return ink
