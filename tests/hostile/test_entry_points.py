"""Entry points of other packages with odd names and values are reported, and nothing more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROBES = """
[tfperfkit.probes]
lines = evil:Probe
retrace = evil
all = evil:Probe
none = evil:Probe
../up = evil:Probe
.. = evil:Probe
a/b = evil:Probe
a,b = evil:Probe
[red]x[/red] = evil:Probe
\x1b[31mred = evil:Probe
\u202eltr = evil:Probe
%s = evil:Probe
missing = nosuchmodule:Probe
broken = evil_broken:Probe
exits = evil_exits:Probe
number = evil:NUMBER
none-made = evil:nothing
odd-value = this is no value
empty =
property = evil:Property

[tfperfkit.rules]
lines = evil:NUMBER
\x1b[31m = nosuchmodule:RULES
odd = this is no value
broken = evil_broken:RULES
exits = evil_exits:RULES
text = evil:TEXT
raising = evil:RULES
""" % ("n" * 100_000)

EVIL = """
class Probe:
    pass
class Property(Probe):
    @property
    def api(self): raise RuntimeError('\\x1b[31m [red] \\n')
def nothing(): return None
NUMBER = 3
TEXT = 'abc'
def rule(evidence): raise RuntimeError('\\x1b[31m [red] \\n' + 'n' * 100_000)
rule.__name__ = '[red]\\x1b[31m'
RULES = [rule, None, 3, lambda evidence: 3, lambda evidence: [3], lambda evidence: [{'code': 1}]]
"""


@pytest.fixture
def installed(tmp_path: Path) -> dict[str, str]:
    """Make a package as an installer left it, with entry points that nobody should have; and one with broken
    metadata."""
    library = tmp_path / "library"
    for name in ("evil", "broken"):
        about = library / f"{name}-1.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (library / "evil-1.dist-info" / "entry_points.txt").write_text(PROBES)
    (library / "broken-1.dist-info" / "entry_points.txt").write_bytes(b"[tfperfkit.probes]\n\xff\xfe = \xff\n")
    (library / "evil.py").write_text(EVIL)
    (library / "evil_broken.py").write_text("this is no Python")
    (library / "evil_exits.py").write_text("import sys; sys.exit(3)")
    return {**os.environ, "PYTHONPATH": str(library), "TFPERF_RUNS": str(tmp_path / "runs")}


@pytest.mark.parametrize("broken", [False, True])
def test_entry_points_with_odd_names_and_values(
    broken: bool, installed: dict[str, str], copied: Path, tmp_path: Path
) -> None:
    from survival import harmless

    if not broken:
        shutil.rmtree(tmp_path / "library" / "broken-1.dist-info")

    def command(*arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "tfperfkit", *arguments],
            cwd=tmp_path,
            env=installed,
            capture_output=True,
            text=True,
            timeout=200,
        )
        harmless(done.stdout)
        harmless(done.stderr)
        assert "Traceback" not in done.stderr, done.stderr
        return done

    listed = command("list", "probes")
    assert listed.returncode == 0, listed.stderr
    assert len(listed.stdout) < 30_000
    assert "can't be selected" in listed.stdout and "[red]x[/red]" in listed.stdout
    first = {line.split()[0]: line for line in listed.stdout.splitlines() if line.strip()}
    assert "tfperfkit" in first["lines"] and "tfperfkit" in first["retrace"], "ours are not replaced"
    for name in ("../up", "..", "a/b", "[red]x[/red]"):
        refused = command("run", "--probes", name, "t.py")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    (tmp_path / "t.py").write_text("print('ran')")
    ran = command("run", "--probes", "all", "--run-dir", "r", "t.py")
    assert (ran.returncode, ran.stdout) == (0, "ran\n"), ran.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"r", "run", "runs", "t.py", "library"}
    reported = command("report", str(copied), "--full")
    assert reported.returncode == 0, reported.stderr
    assert "rule" in reported.stdout and len(reported.stdout) < 100_000
