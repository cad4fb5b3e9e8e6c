"""Runs a script and leaves what the process took for it: ``whole_script.py FILE SCRIPT [ARGUMENTS]``.

The seconds are those from the import of TensorFlow to the script's end; tfperf's report comes later.
"""

from __future__ import annotations

import json
import os
import runpy
import sys
import time

import tensorflow  # noqa: F401

target, script = sys.argv[1:3]
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(os.path.abspath(script))
begun = time.perf_counter(), time.process_time()
try:
    runpy.run_path(script, run_name="__main__")
finally:
    with open(target, "w") as file:
        json.dump({"wall": time.perf_counter() - begun[0], "processor": time.process_time() - begun[1]}, file)
