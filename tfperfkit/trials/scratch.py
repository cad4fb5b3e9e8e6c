"""The temporary folder of all trials, and who removes it and the trial that runs when we are struck."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from types import TracebackType

from tfperfkit.errors import UsageError

PREFIX = "tfperf-trials-"
#: Reads the process group that runs now, 0 for none, until we are gone; then ends it and removes the folder.
_JANITOR = r"""
trap '' INT HUP TERM QUIT
group=0
while read -r line; do group=$line; done
[ "$group" = 0 ] || kill -s KILL -- "-$group" 2>/dev/null
for try in 1 2 3 4 5 6 7 8; do
    chmod -R u+rwX -- "$1" 2>/dev/null
    rm -rf -- "$1" 2>/dev/null
    [ -e "$1" ] || exit 0
    sleep 0.2
done
"""


class Scratch:
    """A context. ``path`` is a folder of our own outside of ``avoid``, for whatever trials write."""

    def __init__(self, avoid: Path) -> None:
        self._avoid = avoid
        self.path = Path()
        self._janitor: subprocess.Popen[bytes] | None = None
        self._count = 0

    def __enter__(self) -> Scratch:
        self.path = _folder(self._avoid)
        try:
            self._janitor = subprocess.Popen(
                ["sh", "-c", _JANITOR, "sh", str(self.path)],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except OSError:  # no shell: then only a kill -9 of ours leaves something
            self._janitor = None
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        remove(self.path)
        if self._janitor is not None:
            with suppress(OSError):
                assert self._janitor.stdin is not None
                self._janitor.stdin.close()
            with suppress(subprocess.TimeoutExpired):
                self._janitor.wait(5)

    def new(self) -> Path:
        """Make a folder for one trial."""
        self._count += 1
        place = self.path / str(self._count)
        place.mkdir()
        return place

    def running(self, group: int) -> None:
        """This process group is a trial's; 0: none is."""
        if self._janitor is not None and self._janitor.stdin is not None:
            with suppress(OSError):
                self._janitor.stdin.write(f"{group}\n".encode())
                self._janitor.stdin.flush()


def _folder(avoid: Path) -> Path:
    """Not below the working folder: an overlay of that would hide it from us."""
    for base in (tempfile.gettempdir(), "/var/tmp", "/dev/shm"):
        if not os.path.isdir(base) or Path(base).resolve().is_relative_to(avoid.resolve()):
            continue
        with suppress(OSError):
            return Path(tempfile.mkdtemp(prefix=PREFIX, dir=base)).resolve()
    try:
        return Path(tempfile.mkdtemp(prefix=PREFIX)).resolve()
    except OSError as error:
        raise UsageError(f"can't make a temporary folder: {error.strerror}; set TMPDIR") from error


def remove(folder: Path) -> None:
    """Remove a folder with all that is in it, also what an overlay keeps closed."""

    def open_up(_: object, path: str, __: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            os.chmod(path, 0o700)
            shutil.rmtree(path) if os.path.isdir(path) and not os.path.islink(path) else os.unlink(path)

    shutil.rmtree(folder, onerror=open_up)
    if folder.exists():
        shutil.rmtree(folder, ignore_errors=True)


def end_group(group: int) -> None:
    """Kill a process group."""
    with suppress(OSError):
        os.killpg(group, signal.SIGKILL)
