"""Workspace of trials: a view of the working folder that takes the files that they write, so that the user's files stay
as they are.

The best that the system allows: an overlay in namespaces of its own (Linux, util-linux' ``unshare``), in which also
every process of a trial ends with it; else a copy, when the folder is small; else the folder itself, if the user says
so.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from tfperfkit.errors import UsageError

#: A folder is copied up to this size.
COPY_BYTES, COPY_FILES = 200_000_000, 5_000
_PROBE_S = 20
_UNCOVERED = "other folders and the network"
#: Mounts the overlays that are named by three words each (folder, upper, work) up to "--"; then FOLDER, USER, GROUP
#: ("": as they are) and the command. The shell stays, as the first process of its namespace.
_MOUNT = r"""
while [ "$1" != -- ]; do
    mount -t overlay overlay -o "lowerdir=$1,upperdir=$2,workdir=$3,userxattr" "$1" 2>/dev/null ||
        mount -t overlay overlay -o "lowerdir=$1,upperdir=$2,workdir=$3" "$1" || exit 125
    shift 3
done
cd "$2" || exit 125
user=$3 group=$4
shift 4
if [ -n "$user" ]; then unshare --user --map-user="$user" --map-group="$group" -- "$@"; else "$@"; fi
exit $?
"""
_NAMESPACES = (
    ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"],
    ["unshare", "--user", "--map-root-user", "--mount"],
)
#: They would have to be escaped in the options of mount, differently by version.
_AWKWARD = (",", ":", "\\", '"', "\n")


class Prepared(msgspec.Struct, frozen=True):
    """Command and folder that start a trial."""

    command: list[str]
    folder: Path


class NotCovered(Exception):
    """A file that a trial would change lies outside of its view."""


class Workspace:
    """``words`` say which way was taken, and what it does not cover."""

    def __init__(
        self, folder: Path, roots: Sequence[Path], way: str, words: str, namespace: Sequence[str] = ()
    ) -> None:
        self._folder = folder
        self._roots = roots
        self.way = way
        self.words = words
        self._namespace = list(namespace)

    def prepare(self, place: Path, command: Sequence[str], contents: Mapping[str, bytes] | None = None) -> Prepared:
        """Prepare a trial whose own folder is ``place``; the view is made again for each trial.

        ``contents``: of files that are others there, by their path, without links. Raises NotCovered for one that the
        view does not hold.
        """
        if self.way == "overlay":
            mounting = _mounting(self._folder, self._roots, place)
            _write(contents or {}, self.views(place))
            return Prepared([*self._namespace, *mounting, *command], self._folder)
        if self.way == "copy":
            copied = place / "copy"
            shutil.copytree(self._folder, copied, symlinks=True, ignore_dangling_symlinks=True)
            _write(contents or {}, [(self._folder.resolve(), copied)])
            moved = [_moved(word, self._folder, copied) for word in command]
            return Prepared(moved, copied)
        _write(contents or {}, [])
        return Prepared(list(command), self._folder)

    def views(self, place: Path) -> list[tuple[Path, Path]]:
        """(folder, where the files are that a trial in ``place`` wrote there); none where they are among others."""
        if self.way != "overlay":
            return []
        return [(root, place / f"upper{number}") for number, root in enumerate(self._roots)]


def workspace(folder: Path, script: Path | None, scratch: Path, *, in_place: bool = False) -> Workspace:
    """Return the way that is taken. Raises UsageError where only ``in_place`` is left."""
    if in_place:
        return Workspace(folder, (), "in place", f"in {folder} itself: what the script writes stays")
    roots = _roots(folder, script)
    reason = _no_overlay(roots, scratch)
    if reason is None:
        for namespace in _NAMESPACES:
            if _works(namespace, folder, roots, scratch):
                shown = " and ".join(map(str, roots))
                words = f"on an overlay of {shown}: nothing is written there; {_UNCOVERED} are not covered"
                return Workspace(folder, roots, "overlay", words, namespace)
        reason = "this system allows no overlay in a namespace"
    size = _size(folder)
    if size is not None:
        words = (
            f"in a copy of {folder} ({reason}): what the script writes there is lost; absolute paths, {_UNCOVERED} "
            "are not covered"
        )
        return Workspace(folder, roots, "copy", words)
    raise UsageError(
        f"trials would write to {folder}: {reason}, and it is too large to copy; --no-sandbox runs them there anyway"
    )


def _roots(folder: Path, script: Path | None) -> list[Path]:
    """Return the working folder and the script's; the outer one where one lies in the other."""
    found = [folder.resolve()]
    if script is not None:
        home = script.resolve().parent
        if found[0].is_relative_to(home):
            found = [home]
        elif not home.is_relative_to(found[0]):
            found.append(home)
    return found


def _no_overlay(roots: Sequence[Path], scratch: Path) -> str | None:
    if not sys.platform.startswith("linux"):
        return "this system has no overlays"
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return "unshare and mount (util-linux) are not installed"
    for root in roots:
        if any(sign in str(root) for sign in _AWKWARD):
            return f"the name of {root} can't be given to mount"
        if scratch.is_relative_to(root):
            return f"{root} holds the temporary folder"
        if _mounts_below(root):
            return f"other file systems are mounted in {root}"
    return None


def _mounts_below(root: Path) -> bool:
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            points = [line.split()[4].replace("\\040", " ") for line in file]
    except (OSError, IndexError):
        return False
    return any(point.startswith(os.path.join(str(root), "")) for point in points)


def _mounting(folder: Path, roots: Sequence[Path], place: Path) -> list[str]:
    words: list[str] = []
    for number, root in enumerate(roots):
        upper, work = place / f"upper{number}", place / f"work{number}"
        upper.mkdir()
        work.mkdir()
        words += [str(root), str(upper), str(work)]
    user, group = ("", "") if os.getuid() == 0 else (str(os.getuid()), str(os.getgid()))
    return ["sh", "-c", _MOUNT, "sh", *words, "--", str(folder), user, group]


def _write(contents: Mapping[str, bytes], views: Sequence[tuple[Path, Path]]) -> None:
    """Each file into the view of the folder that it lies in, with its mode and those of the folders above it."""
    for path, content in contents.items():
        view = next(((root, top) for root, top in views if Path(path).is_relative_to(root)), None)
        if view is None:
            raise NotCovered(f"{path} is outside of the folders of which trials have a view")
        root, top = view
        target = top / Path(path).relative_to(root)
        for parent in reversed(target.relative_to(top).parents[:-1]):
            if not (top / parent).is_dir():
                (top / parent).mkdir()
                shutil.copymode(root / parent, top / parent)
        target.write_bytes(content)
        shutil.copymode(path, target)


def _works(namespace: Sequence[str], folder: Path, roots: Sequence[Path], scratch: Path) -> bool:
    """Return whether a file that is written there is not seen here."""
    place = scratch / f"look{len(namespace)}"
    place.mkdir()
    name = f".{scratch.name}.look"
    try:
        done = subprocess.run(
            [*namespace, *_mounting(folder, roots, place), "sh", "-c", f": > {name} && read -r _ < /proc/self/status"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_PROBE_S,
        )
        return done.returncode == 0 and not (folder / name).exists()
    except (OSError, subprocess.SubprocessError):
        return False
    finally:
        (folder / name).unlink(missing_ok=True)


def _size(folder: Path) -> int | None:
    """In bytes; None if it is too large to copy."""
    total = files = 0
    for place, _, names in os.walk(folder):
        for name in names:
            files += 1
            try:
                total += os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
            if total > COPY_BYTES or files > COPY_FILES:
                return None
    return total


def _moved(word: str, folder: Path, copied: Path) -> str:
    """Return a path below the folder, in the copy."""
    if os.path.isabs(word) and Path(word).is_relative_to(folder):
        return str(copied / Path(word).relative_to(folder))
    return word
