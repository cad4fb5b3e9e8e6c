"""Pack recorded runs for the tests, so that analysis is tested on real recordings without running scripts.

    python -m benchmarks.recorded RUNS NAME...      packs RUNS/NAME into tests/recorded/NAME.tar.xz

Record the runs with ``python -m benchmarks.oracle record RUNS``. Reports and other files that the analysis can make
again are left out. The first folder of absolute paths becomes ``/home``, so that no path of a machine is kept.
"""

from __future__ import annotations

import argparse
import io
import tarfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "recorded"
#: Files that the analysis keeps next to a run to be quicker the next time.
_MADE_AGAIN = ("summary.json", "tables.json")
#: First folders of this machine's paths; as long as ``/home``, for lengths are written in traces.
_FIRST_FOLDERS = (b"/work/", b"/root/")


def main() -> None:
    """Pack the named runs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", type=Path)
    parser.add_argument("names", nargs="+")
    given = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    for name in given.names:
        packed = FOLDER / f"{name.partition('.')[2] or name}.tar.xz"
        with tarfile.open(packed, "w:xz") as archive:
            for path, content in read_run(given.runs / name):
                member = tarfile.TarInfo(path)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        print(f"{packed.relative_to(ROOT)}: {packed.stat().st_size:,} bytes", flush=True)


def read_run(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield (path within the run, content) of the files of a run that the analysis reads."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in _MADE_AGAIN:
            content = path.read_bytes()
            for first in _FIRST_FOLDERS:
                content = content.replace(first, b"/home/")
            yield path.relative_to(folder).as_posix(), content


if __name__ == "__main__":
    main()
