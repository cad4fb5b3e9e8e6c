"""Beside a watched run, in the parent: reads its rows now and then, keeps the changes it finds, asks for windows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import msgspec

from tfperfkit.clock import NS_PER_S, now_ns, wall_s
from tfperfkit.records.history import BLOCKS, CHANGES, Change, Stretch, WatchPlan
from tfperfkit.storage import ring, safe_reader
from tfperfkit.storage.stream_writer import StreamWriter
from tfperfkit.watching.asking import ask
from tfperfkit.watching.triggers import STALL_S, Triggers

#: Maximum size of the file of changes.
_MAX_BYTES = 1024 * 1024


class Monitor:
    """``look`` each ``pause_s``; ``signalled`` when a user asks by a signal. Neither raises."""

    def __init__(self, folder: Path, plan: WatchPlan) -> None:
        self._folder, self._plan = folder, plan
        self._reader = BlockReader(folder)
        self._triggers = Triggers(plan.block_s)
        self._changes = StreamWriter(folder / CHANGES, _MAX_BYTES)
        self._heard = 0  # when a row last came
        self._silent = False

    @property
    def pause_s(self) -> float:
        """Seconds between two looks: rows come as often."""
        return self._plan.block_s

    def look(self) -> None:
        now = now_ns()
        with suppress(OSError):
            heard = False
            for row in self._reader.new():
                heard = True
                for change in self._triggers.add(row):
                    self._tell(change)
            self._listen(now, heard)

    def signalled(self) -> None:
        self._tell(Change(why="signal", ns=now_ns(), wall_s=wall_s(), text="asked for by a signal (SIGUSR2)"))

    def close(self) -> None:
        self._changes.close()

    def _tell(self, change: Change) -> None:
        self._changes.append(change)
        self._changes.flush()
        with suppress(OSError):
            ask(self._folder, change.why, change.text)

    def _listen(self, now: int, heard: bool) -> None:
        """Note a process whose rows don't come any more: no Python runs in it, so it can't be asked for a window."""
        if heard:
            self._heard, self._silent = now, False
        elif (
            self._heard
            and not self._silent
            and now - self._heard > STALL_S * NS_PER_S + 2 * self._plan.block_s * NS_PER_S
        ):
            self._silent = True
            text = (
                f"nothing was heard of the script's process for {(now - self._heard) / NS_PER_S:.0f} s: it is stopped, "
                "or a call holds the interpreter's lock"
            )
            self._changes.append(Change(why="stall", ns=now, wall_s=wall_s(), text=text))
            self._changes.flush()


_HEAD = b'["session/blocks",'
_MAX_READ = 4 * 1024 * 1024  # at a time


class BlockReader:
    """Follows the rows that the script's process writes, from file to file of their ring. It reads whole lines only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number, self._offset = 0, 0

    def new(self) -> Iterator[Stretch]:
        """Yield the rows since the last call."""
        for number, name in ring.files(self._folder, BLOCKS):
            if number < self._number:
                continue
            if number > self._number:
                self._number, self._offset = number, 0
            yield from self._read(name)

    def _read(self, name: str) -> Iterator[Stretch]:
        try:
            with safe_reader.open_file(self._folder, name) as file:
                file.seek(self._offset)
                data = file.read(_MAX_READ)
        except OSError:  # it has been dropped in the meantime
            return
        whole = data[: data.rfind(b"\n") + 1]
        self._offset += len(whole)
        for line in whole.splitlines():
            if line.startswith(_HEAD):
                try:
                    yield msgspec.json.decode(line[len(_HEAD) : -1], type=Stretch)
                except (msgspec.DecodeError, RecursionError):
                    continue
