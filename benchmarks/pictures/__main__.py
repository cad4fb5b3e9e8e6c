"""Makes the screenshots of the HTML report that README and docs show: ``python -m benchmarks.pictures``.

Runs ``benchmarks/pictures/train.py`` under tfperf, opens its report in Chromium and writes PNGs of few colours into
``docs/pictures``. Needs chromium; takes half a minute. ``--page FILE`` takes a report that is there already.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "integration"))

from chromium import Browser  # noqa: E402  (stands with the tests that drive a browser)

#: name, width and height of the window, theme, what to bring to the top ("": the begin).
SHOTS = (
    ("report", 1200, 1180, "light", ""),
    ("steps", 1200, 560, "light", "steps"),
    ("lines", 1200, 800, "light", "flame"),
    ("pipeline", 1200, 590, "dark", "pipeline-1"),
    ("phone", 390, 844, "dark", ""),
)
#: A PNG in the documents is no larger than this.
MAX_BYTES = 150_000


def main() -> None:
    """Run, draw, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "pictures")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        page = options.page or recorded(Path(scratch))
        with Browser(Path(scratch) / "profile") as browser:
            for name, width, height, theme, anchor in SHOTS:
                target = options.out / f"{name}.png"
                target.write_bytes(small(shot(browser, page, width, height, theme, anchor)))
                print(target.relative_to(ROOT) if target.is_relative_to(ROOT) else target, target.stat().st_size)


def recorded(folder: Path) -> Path:
    """Make the report of a fresh run of the script next to this program."""
    (folder / "train.py").write_bytes((Path(__file__).parent / "train.py").read_bytes())
    command = [sys.executable, "-m", "tfperfkit", "run", "--html", "report.html", "--run-dir", "run", "train.py"]
    subprocess.run(command, cwd=folder, check=True, capture_output=True, timeout=300)
    return folder / "report.html"


def shot(browser: Browser, page: Path, width: int, height: int, theme: str, anchor: str) -> bytes:
    """Save a PNG of the window."""
    browser("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])
    browser("Emulation.setScrollbarsHidden", hidden=True)
    browser.size(width, height, phone=width < 600)
    browser.open(page.as_uri())
    browser.wait("This run")
    time.sleep(0.5)
    if anchor:
        at = f"document.getElementById({anchor!r})"
        browser.evaluate(f"document.querySelector('.top').hidden = true; {at}.scrollIntoView({{behavior: 'instant'}})")
        browser.evaluate("scrollBy({top: 50, behavior: 'instant'})")
        time.sleep(0.5)
    with tempfile.TemporaryDirectory() as scratch:
        return browser.screenshot(Path(scratch) / "shot.png")


def small(picture: bytes) -> bytes:
    """The same in few colours, which text and bars are drawn in."""
    for colors in (128, 64, 32):
        packed = io.BytesIO()
        image = Image.open(io.BytesIO(picture)).convert("RGB").quantize(colors, dither=Image.Dither.NONE)
        image.save(packed, "PNG", optimize=True)
        if packed.tell() <= MAX_BYTES:
            break
    return packed.getvalue()


if __name__ == "__main__":
    main()
