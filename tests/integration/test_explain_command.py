"""``tfperf explain`` as a user types it, from the checkout and from a wheel without one."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

ROOT = Path(__file__).resolve().parents[2]


def test_a_code_a_word_and_a_mistake(tfperf: Tfperf) -> None:
    assert tfperf("explain", "BAT001").stdout.startswith("# BAT001 · ")
    assert tfperf("explain", "clean steps").stdout.startswith("# clean step\n")
    assert tfperf("explain", "clean", "steps").stdout.startswith("# clean step\n")
    assert "BAT001" in tfperf("list", "rules").stdout
    assert "nearest: clean step" in tfperf.refuses("explain", "claen step")
    alone = tfperf("explain")
    assert (alone.returncode, alone.stdout) == (2, "")
    assert "tfperf explain BAT001" in alone.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def test_every_page_is_in_the_wheel(wheel: Path) -> None:
    pages = wheel / "tfperfkit" / "explain" / "pages"
    for folder in ("findings", "probes"):
        ours = {page.name for page in (ROOT / "docs" / folder).glob("*.md")}
        assert ours == {page.name for page in (pages / folder).iterdir()}
    for name in ("glossary.md", "reading-a-report.md"):
        assert (pages / name).read_bytes() == (ROOT / "docs" / name).read_bytes()


def test_a_wheel_explains_without_the_checkout(wheel: Path) -> None:
    # Only the wheel's own folder: an edited page there is what is shown.
    page = wheel / "tfperfkit" / "explain" / "pages" / "findings" / "BAT001.md"
    page.write_text("# BAT001: from the wheel\n")
    environment = {**os.environ, "PYTHONPATH": str(wheel)}
    done = subprocess.run(
        [sys.executable, "-m", "tfperfkit", "explain", "BAT001"],
        cwd=wheel,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=True,
    )
    assert done.stdout == "# BAT001: from the wheel\n"
