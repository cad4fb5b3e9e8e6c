"""The sources of the real digits: drawn once into a cache file, MNIST, or an .npz.

Every source holds the arrays of Keras' ``mnist.npz``: ``x_train`` and
``x_test``, uint8 [n, 28, 28], with ``y_train`` and ``y_test``, uint8 [n].
The drawn set has MNIST's size (60 000 and 10 000) and is compressed as MNIST
is, so that loading it costs what loading MNIST costs.
"""

from __future__ import annotations

import os
import tempfile
import time
import zipfile
import zlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from drawing import SIDE, draw_digits

Array = NDArray[Any]

#: Digits in the drawn training set; the test set has a sixth as many, as MNIST's.
TRAIN_DIGITS = 60_000
#: Part of the cache file's name.  A new drawing gets a new name, never an old file.
DRAWING_VERSION = 1
DRAWING_SEED = 1998

#: The exceptions of NumPy for a file that is cut short, overwritten or no .npz at all.
DAMAGE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


class DataError(Exception):
    """The data set cannot be had; the message says why in one line."""


class Source(NamedTuple):
    """A data set that can be loaded again and again.  ``path`` None is Keras' MNIST."""

    path: Path | None

    def load(self) -> tuple[Array, Array]:
        """Reads ``(x_train, x_test)`` from the disk: uint8 [n, 28, 28], values 0 to 255."""
        if self.path is None:
            import keras

            (x_train, _), (x_test, _) = keras.datasets.mnist.load_data()
            return x_train, x_test
        with np.load(self.path) as arrays:
            return arrays["x_train"], arrays["x_test"]


def get_dataset(source: Source) -> tuple[Array, Array]:
    """Loads a data set and normalises it: float32 [n, 28, 28, 1], values -1 to 1."""
    x_train, x_test = source.load()
    return normalise(x_train), normalise(x_test)


def normalise(images: Array) -> Array:
    """Grey values 0 to 255 as float32 from -1 to 1, the range of the generator's tanh."""
    scaled: Array = images / 127.5 - 1.0
    return scaled.astype(np.float32).reshape(-1, SIDE, SIDE, 1)


def open_source(data: str, cache: Path, train_digits: int = TRAIN_DIGITS) -> Source:
    """Makes sure that a data set is there and whole.

    ``data`` is ``drawn``, ``mnist`` or the path of an .npz.  The drawn set is
    made if its cache file is missing or damaged.  Raises ``DataError``.
    """
    if data == "drawn":
        return Source(_cached_drawing(cache, train_digits))
    source = Source(None if data == "mnist" else Path(data))
    name = "Keras' copy of MNIST" if data == "mnist" else data
    try:
        x_train, _ = source.load()
    # Keras reports a failed download as a bare Exception.
    except Exception as error:
        raise DataError(f"{name} cannot be loaded: {_one_line(error)}") from error
    if x_train.ndim != 3 or x_train.shape[1:] != (SIDE, SIDE) or len(x_train) == 0:
        raise DataError(f"{name} cannot be used: x_train has shape {list(x_train.shape)}, not [n, {SIDE}, {SIDE}]")
    return source


def default_cache() -> Path:
    """The directory of the drawn digits: $TFPERFKIT_GAN_CACHE, or one in the user's cache."""
    own = os.environ.get("TFPERFKIT_GAN_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tfperfkit-gan"


def _cached_drawing(cache: Path, train_digits: int) -> Path:
    """The path of the drawn set, after drawing it if that is needed."""
    path = cache / f"digits-{train_digits}-v{DRAWING_VERSION}.npz"
    try:
        if path.exists():
            try:
                Source(path).load()
                return path
            except DAMAGE as error:
                print(f"{path} is damaged ({_one_line(error)}); drawing it again", flush=True)
        _draw_into(path, train_digits)
    except OSError as error:
        raise DataError(f"the drawn digits cannot be kept in {cache}: {_one_line(error)}") from error
    return path


def _draw_into(path: Path, train_digits: int) -> None:
    """Draws the set and moves it to ``path`` when it is complete."""
    start = time.perf_counter()
    rng = np.random.default_rng(DRAWING_SEED)
    x_train, y_train = draw_digits(train_digits, rng)
    x_test, y_test = draw_digits(max(1, train_digits // 6), rng)
    path.parent.mkdir(parents=True, exist_ok=True)
    # A second process may draw at the same time: each writes its own file, and
    # the rename puts a whole one in place whoever comes last.
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=path.stem, suffix=".npz")
    try:
        with os.fdopen(handle, "wb") as file:
            np.savez_compressed(file, x_train=x_train, y_train=y_train, x_test=x_test, y_test=y_test)
        Path(unfinished).replace(path)
    except BaseException:
        Path(unfinished).unlink()
        raise
    print(f"drew {train_digits} digits into {path} in {time.perf_counter() - start:.1f} s", flush=True)


def _one_line(error: BaseException) -> str:
    """Return an error's message without line breaks, or its class if it has none."""
    return " ".join(str(error).split()) or type(error).__name__
