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
import fcntl
import functools
import hashlib
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
    folder, about = _server(_kept(environment), script)
    words = [sys.executable, "-c", _TFPERF, str(folder / "python")] if own else [str(folder / "tfperf")]
    return words, {**environment, "WARM_RUN": about}


def forked_tfperf(environment: Mapping[str, str]) -> tuple[list[str], dict[str, str]]:
    """Likewise, where tfperf alone begins in a fork: its scripts have processes of their own."""
    kept = tuple(item for item in _kept(environment) if item[0].startswith("PYTHON"))
    folder, about = _tfperf_server(kept)
    return [str(folder / "tfperf")], {**environment, "WARM_RUN": about}


def serve_scripts(environment: Mapping[str, str], script: Path | None) -> str:
    """The address of the server of forks that are scripts; see ``warm_tfperf``."""
    return str(json.loads(_server(_kept(environment), script)[1])["address"])


_Kept = tuple[tuple[str, str], ...]


def _kept(environment: Mapping[str, str]) -> _Kept:
    """Choose the variables that Python and TensorFlow look at as they start."""
    kept = {name: text for name, text in environment.items() if name.startswith(_PREFIXES) and name not in _LATER}
    return tuple(sorted((name, text) for name, text in kept.items() if not name.startswith("TFPERF_")))


@functools.cache
def _server(kept: _Kept, script: Path | None) -> tuple[Path, str]:
    """One for each environment in which TensorFlow is imported, and for each ``script``: the folder of the programs
    that ask it, and what those must know."""
    first = [sys.executable, "-c", MAIN] if script is None else [sys.executable, script.name]
    folder = _served("scripts", first, kept, script, PYTHONPATH=str(_HERE))
    _, tfperf = _tfperf_server(tuple(item for item in kept if item[0].startswith("PYTHON")))
    about = {
        **json.loads(tfperf),
        "stand_in": str(folder / "python"),
        "address": str(folder / "scripts"),
        "environment": dict(kept),
        "prefixes": _PREFIXES,
        "script": script and script.name,
    }
    return folder, json.dumps(about)


@functools.cache
def _tfperf_server(kept: _Kept) -> tuple[Path, str]:
    """The folder of the program that asks for a fork that is tfperf, and what it must know."""
    folder = _served("tfperfs", [sys.executable, str(_HERE / "tfperf_server.py")], kept)
    about = {
        "python": sys.executable,
        "stand_in": "",
        "tfperf": str(folder / "tfperfs"),
        "environment": dict(kept),
        "main": _TFPERF,
        "prefixes": ("PYTHON",),
        "later": _LATER,
    }
    return folder, json.dumps(about)


def _served(name: str, words: list[str], kept: _Kept, script: Path | None = None, **added: str) -> Path:
    """The folder of a server, with the programs that ask it; it listens there under its ``name``. All workers of
    pytest-xdist share one that is for no script of theirs."""
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID")
    if run is None or script is not None:
        folder = Path(tempfile.mkdtemp(prefix="warm-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        process = _start(folder / name, words, kept, script.parent if script else folder, added)
        atexit.register(_end, process)
        return folder
    number = hashlib.sha256(repr((words, kept)).encode()).hexdigest()[:8]
    folder = Path(tempfile.gettempdir()) / f"warm-{run[:8]}-{number}"
    folder.mkdir(exist_ok=True)
    with (folder / "started").open("a") as started:
        fcntl.flock(started, fcntl.LOCK_EX)
        if not os.path.getsize(started.fileno()):
            _start(folder / name, words, kept, folder, {**added, "WARM_UNTIL": str(os.getppid())})
            started.write("yes")
    return folder


def _start(address: Path, words: list[str], kept: _Kept, place: Path, added: dict[str, str]) -> subprocess.Popen[bytes]:
    """Start a server that listens at ``address``; it finds the descriptor in ``WARM_SOCKET``."""
    below = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for name in ("python", "tfperf"):
        stand_in = address.parent / name
        stand_in.write_text(f"#!{below} -IS\n{(_HERE / 'stand_in.py').read_text(encoding='utf-8')}", encoding="utf-8")
        stand_in.chmod(0o755)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(address))
    listener.listen(16)
    environment = {name: text for name, text in os.environ.items() if not name.startswith((*_PREFIXES, "TFPERF_"))}
    with listener:
        return subprocess.Popen(
            words,
            env={**environment, **dict(kept), **added, "WARM_SOCKET": str(listener.fileno())},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[listener.fileno()],
            cwd=place,
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
