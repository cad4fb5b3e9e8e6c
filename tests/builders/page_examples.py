"""Runs the code of the pages of findings: "Example" and "Use instead", each in a process forked from one that has
imported TensorFlow.

    python tests/builders/page_examples.py [CODE ...]

Prints a line of JSON for each example that fails: the code of the page, the section, the error.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path

PAGES = Path(__file__).resolve().parents[2] / "docs" / "findings"
SECTIONS = ("Example", "Use instead")
_BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
#: Seconds after which an example hangs: hundreds of times what any takes.
_LIMIT = 600


def first_block(page: str, section: str) -> str | None:
    """Return the first Python block of a page's section: the code that is to run."""
    text = page.partition(f"\n## {section}\n")[2]
    found = _BLOCK.search(re.split(r"^## (?:What|Example|Use|When|How|See)", text, flags=re.MULTILINE)[0])
    return found[1] if found else None


def examples(codes: list[str]) -> Iterator[tuple[str, str, str]]:
    """Yield (code, section, source) of each example, of all pages if no code is given."""
    for path in sorted(PAGES.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        if page.startswith("---\n") and (not codes or path.stem in codes):
            for section in SECTIONS:
                source = first_block(page, section)
                if source is not None:
                    yield path.stem, section, source


def run_in_fork(source: str, name: str) -> str:
    """Run a script in a forked process, in a folder of its own. Return "" if it ends well, else its error."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        status = 0
        try:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                Path("train.py").write_text(source)  # AutoGraph reads the source
                with open("out.txt", "w") as out, contextlib.redirect_stdout(out):
                    exec(compile(source, str(Path(folder) / "train.py"), "exec"), {"__name__": "__main__"})
        except BaseException:
            status = 1
            os.write(write, traceback.format_exc(limit=-3).encode()[-4000:])
        os._exit(status)
    os.close(write)
    deadline = time.monotonic() + _LIMIT
    while os.waitpid(child, os.WNOHANG) == (0, 0):
        if time.monotonic() > deadline:
            os.kill(child, 9)
            os.waitpid(child, 0)
            return f"{name} takes longer than {_LIMIT} s"
        time.sleep(0.01)
    with os.fdopen(read, "rb") as text:
        return text.read().decode(errors="replace")


def main() -> None:
    """Run the examples of the codes given as arguments, or all."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    import tensorflow as tf  # imported before forking; no device is initialised before an example does it

    assert tf.__version__
    for code, section, source in examples(sys.argv[1:]):
        started = time.monotonic()
        error = run_in_fork(source, f"{code} {section}")
        if error:
            print(json.dumps({"code": code, "section": section, "error": error}), flush=True)
        elif os.environ.get("EXAMPLE_TIMES"):
            print(f"{code} {section}: {time.monotonic() - started:.1f} s", file=sys.stderr)


if __name__ == "__main__":
    main()
