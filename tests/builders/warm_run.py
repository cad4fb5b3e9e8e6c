"""``tfperf run`` on scripts that begin in a fork of an interpreter that has imported TensorFlow: that import takes
longer than most scripts of the tests.

tfperf is the real one, in a process of its own; so is the script, and its ``import tensorflow`` is seen as it ever is.
Only what stands in ``sys.modules`` below it is there already. Not for tests of the start-up, of signals and of what
else strikes a process. A test that compares with plain Python, to the byte, gives the ``script``. Of
``tfperf launch`` each worker's script begins so.
"""

from __future__ import annotations

import atexit
import functools
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

_HERE = Path(__file__).with_name("warm_run")
#: What Python and TensorFlow look at as they start.
_PREFIXES = ("PYTHON", "TF_", "KERAS_", "CUDA_", "XLA_", "OMP_", "GRPC_", "ABSL_", "MALLOC_")
#: Of these, what is looked at later only.
_LATER = ("PYTHONPATH", "TF_CONFIG")
MAIN = "exec(__import__('sys').modules.pop('warm_begin').begin())"
#: ``tfperf``, whose scripts are run by the program named first.
_TFPERF = "import sys; sys.executable = sys.argv.pop(1); from tfperfkit.__main__ import main; main()"


def warm_tfperf(environment: Mapping[str, str], script: Path | None = None) -> tuple[list[str], dict[str, str]]:
    """The words that stand for ``tfperf``, and ``environment`` with what they need. ``script``: the only one that is
    run so, by its name in its folder; the interpreter is started with it, and nothing of ours is below its frames."""
    kept = {name: text for name, text in environment.items() if name.startswith(_PREFIXES) and name not in _LATER}
    kept = {name: text for name, text in kept.items() if not name.startswith("TFPERF_")}
    stand_in, about = _server(tuple(sorted(kept.items())), script)
    return [sys.executable, "-c", _TFPERF, stand_in], {**environment, "WARM_RUN": about}


@functools.cache
def _server(kept: tuple[tuple[str, str], ...], script: Path | None) -> tuple[str, str]:
    """One for each environment in which TensorFlow is imported, and for each ``script``: the program that asks it, and
    what that must know."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    below = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    stand_in = folder / "python"
    stand_in.write_text(f"#!{below} -IS\n{(_HERE / 'stand_in.py').read_text(encoding='utf-8')}", encoding="utf-8")
    stand_in.chmod(0o755)
    address = str(folder / "socket")
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(address)
    listener.listen(16)
    environment = {name: text for name, text in os.environ.items() if not name.startswith((*_PREFIXES, "TFPERF_"))}
    with listener:
        process = subprocess.Popen(
            [sys.executable, "-c", MAIN] if script is None else [sys.executable, script.name],
            env={**environment, **dict(kept), "PYTHONPATH": str(_HERE), "WARM_SOCKET": str(listener.fileno())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            cwd=folder if script is None else script.parent,
        )
    atexit.register(_end, process)
    about = {
        "python": sys.executable,
        "address": address,
        "environment": dict(kept),
        "tfperf": _TFPERF,
        "prefixes": _PREFIXES,
        "later": _LATER,
        "script": script and script.name,
    }
    return str(stand_in), json.dumps(about)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
