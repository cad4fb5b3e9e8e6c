"""``tfperf run`` on scripts that begin in a fork of an interpreter that has imported TensorFlow: that import takes
longer than most scripts of the tests.

tfperf is the real one, with all that it starts; so is the script, and its ``import tensorflow`` is seen as it ever is.
Only the content of ``sys.modules`` below it is there already. tfperf itself begins in a fork too, of an interpreter
that has imported what tfperf imports. Not for tests of the start-up, of signals and of what else strikes a process. A
test that compares with plain Python, to the byte, gives the ``script``. Of ``tfperf launch`` each worker's tfperf and
its script begin so.
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
#: Variables that Python and TensorFlow look at as they start.
_PREFIXES = ("PYTHON", "TF_", "KERAS_", "CUDA_", "XLA_", "OMP_", "GRPC_", "ABSL_", "MALLOC_")
#: Those that are looked at later only.
_LATER = ("PYTHONPATH", "TF_CONFIG")
MAIN = "exec(__import__('sys').modules.pop('warm_begin').begin())"
#: ``tfperf``, whose scripts are run by the program named first.
_TFPERF = "import sys; sys.executable = sys.argv.pop(1); from tfperfkit.__main__ import main; main()"


def warm_tfperf(
    environment: Mapping[str, str], script: Path | None = None, *, own: bool = False
) -> tuple[list[str], dict[str, str]]:
    """The words that stand for ``tfperf``, and ``environment`` with what they need. ``script``: the only one that is
    run so, by its name in its folder; the interpreter is started with it, and nothing of ours is below its frames.
    ``own``: tfperf has a process of its own, the one that is started, as what strikes it must be."""
    kept = {name: text for name, text in environment.items() if name.startswith(_PREFIXES) and name not in _LATER}
    kept = {name: text for name, text in kept.items() if not name.startswith("TFPERF_")}
    folder, about = _server(tuple(sorted(kept.items())), script)
    words = [sys.executable, "-c", _TFPERF, str(folder / "python")] if own else [str(folder / "tfperf")]
    return words, {**environment, "WARM_RUN": about}


def forked_tfperf(environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Likewise, where tfperf alone begins in a fork: its scripts have processes of their own."""
    kept = tuple(sorted((name, text) for name, text in environment.items() if name.startswith("PYTHON")))
    folder, about = _tfperf_server(kept)
    return [str(folder / "tfperf")], {**environment, "WARM_RUN": about}


@functools.cache
def _server(kept: tuple[tuple[str, str], ...], script: Path | None) -> tuple[Path, str]:
    """One for each environment in which TensorFlow is imported, and for each ``script``: the folder of the programs
    that ask it, and what those must know."""
    folder = _folder("python", "tfperf")
    first = [sys.executable, "-c", MAIN] if script is None else [sys.executable, script.name]
    place = folder if script is None else script.parent
    address = _served(first, place, folder / "scripts", kept, PYTHONPATH=str(_HERE))
    _, tfperf = _tfperf_server(tuple(item for item in kept if item[0].startswith("PYTHON")))
    about = {
        **json.loads(tfperf),
        "stand_in": str(folder / "python"),
        "address": address,
        "environment": dict(kept),
        "prefixes": _PREFIXES,
        "script": script and script.name,
    }
    return folder, json.dumps(about)


@functools.cache
def _tfperf_server(kept: tuple[tuple[str, str], ...]) -> tuple[Path, str]:
    """The folder of the program that asks for a fork that is tfperf, and what it must know."""
    folder = _folder("tfperf")
    about = {
        "python": sys.executable,
        "stand_in": "",
        "tfperf": _served([sys.executable, str(_HERE / "tfperf_server.py")], folder, folder / "socket", kept),
        "environment": dict(kept),
        "main": _TFPERF,
        "prefixes": ("PYTHON",),
        "later": _LATER,
    }
    return folder, json.dumps(about)


def _folder(*names: str) -> Path:
    """One with the stand-in in it, under these names."""
    folder = Path(tempfile.mkdtemp(prefix="warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    below = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for name in names:
        stand_in = folder / name
        stand_in.write_text(f"#!{below} -IS\n{(_HERE / 'stand_in.py').read_text(encoding='utf-8')}", encoding="utf-8")
        stand_in.chmod(0o755)
    return folder


def _served(words: list[str], folder: Path, address: Path, kept: tuple[tuple[str, str], ...], **added: str) -> str:
    """Start a server that listens there; it finds the descriptor in ``WARM_SOCKET``."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(address))
    listener.listen(16)
    environment = {name: text for name, text in os.environ.items() if not name.startswith((*_PREFIXES, "TFPERF_"))}
    with listener:
        process = subprocess.Popen(
            words,
            env={**environment, **dict(kept), **added, "WARM_SOCKET": str(listener.fileno())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            cwd=folder,
        )
    atexit.register(_end, process)
    return str(address)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
