"""How long the main thread ran, and how long it was ready to but had no processor: what other programs did to the
measurement."""

from __future__ import annotations

import os

from tfperfkit.storage.descriptors import KeptFile, names_in, read_file


class Contention:
    """Reads the kernel's scheduling statistics of the main thread (Linux; elsewhere it knows nothing)."""

    def __init__(self) -> None:
        pid = os.getpid()
        self._file = KeptFile(f"/proc/{pid}/task/{pid}/schedstat", os.O_RDONLY)
        self._works = True

    def active_ns(self) -> int | None:
        """Nanoseconds on a processor or on the way to one: a thread that did neither waited for something else."""
        ran, waited = self._read(0), self._read(1)
        return None if ran is None or waited is None else ran + waited

    def waited_ns(self) -> int | None:
        """Nanoseconds on the run queue since the thread began; None when the system does not tell."""
        return self._read(1)

    def _read(self, column: int) -> int | None:
        if not self._works:
            return None
        try:
            return int(self._file.look(200).split()[column])
        except (OSError, ValueError, IndexError):
            self._works = False
            return None


def all_threads_ns() -> tuple[int, int] | None:
    """Return the sums over all threads of this process: ns on a CPU core, and ns ready but without a core.

    A hundred threads take 1 to 2 ms. None when the system does not tell.
    """
    ran = waited = 0
    folder = f"/proc/{os.getpid()}/task"
    try:
        for task in names_in(folder):
            try:
                words = read_file(f"{folder}/{task}/schedstat").split()
            except OSError:
                continue  # it has just ended
            ran += int(words[0])
            waited += int(words[1])
    except (OSError, ValueError, IndexError):
        return None
    return ran, waited
