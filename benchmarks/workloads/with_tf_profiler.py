"""Runs a script under the bare TF Profiler: ``with_tf_profiler.py SCRIPT ARGUMENTS``."""

import runpy
import sys
import tempfile
from pathlib import Path

import tensorflow as tf

with tempfile.TemporaryDirectory() as folder:
    tf.profiler.experimental.start(folder)
    try:
        sys.argv = sys.argv[1:]
        sys.path[0] = str(Path(sys.argv[0]).parent)
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        tf.profiler.experimental.stop()
