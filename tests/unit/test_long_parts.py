"""``make test-long`` goes on where it was stopped: a part keeps the tests that passed with the same code."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests import long


def test_a_part_repeats_only_tests_that_have_not_passed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fixed = tmp_path / "fixed"
    (tmp_path / "test_made.py").write_text(
        "from pathlib import Path\n"
        f"RUN, FIXED = Path({str(tmp_path / 'run')!r}), Path({str(fixed)!r})\n"
        "def test_that_passes(): RUN.open('a').write('.')\n"
        "def test_that_fails(): assert FIXED.exists()\n"
    )
    folder = tmp_path / "long"
    folder.mkdir()
    monkeypatch.setattr(long, "FOLDER", folder)
    words = ("-n", "0", "-c", str(long.ROOT / "pyproject.toml"), str(tmp_path / "test_made.py"))
    monkeypatch.setitem(long.PARTS, "made", words)
    part = long.Part("made", "code")
    part.run()
    assert (part.status, part.passed) == ("failed", 1)
    fixed.touch()
    part = long.Part("made", "code")
    part.run()
    assert (part.status, part.passed) == ("passed", 2) and (tmp_path / "run").read_text() == "."
    assert long.describe([long.Part("made", "code")]).splitlines()[1].split()[:3] == ["made", "passed", "2"]
    other = long.Part("made", "other code")
    assert (other.status, other.passed) == ("not run", 0)
