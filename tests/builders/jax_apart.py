"""JAX for the tests that need it, in a folder of its own: TensorFlow imports JAX wherever it is installed."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(sys.prefix) / "jax"
ROOT = Path(__file__).parents[2]


def install_jax() -> Path:
    """Return the folder of JAX. Install it there if no test has done so before.

    Raises CalledProcessError if pip fails.
    """
    with Path(sys.prefix, ".jax.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # another worker of pytest-xdist may be at it
        if not FOLDER.exists():
            made = FOLDER.with_suffix(".new")
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
            words = ["-c", "constraints.txt", "--no-deps", "--upgrade", "--target", str(made), "jax", "jaxlib", "scipy"]
            subprocess.run([*pip, *words], cwd=ROOT, check=True)
            os.replace(made, FOLDER)
    return FOLDER
