"""Notebooks' forms where there is no IPython: nothing asks for it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys
sys.modules["IPython"] = None
import tfperfkit
from tfperfkit.notebook.cells import cells, kernel
assert kernel() is None and cells(None) == {}
with tfperfkit.watch(run_dir=sys.argv[1]) as run:
    assert repr(run).startswith("<tfperf run") and run._repr_html_() is None
assert run._repr_html_().startswith('<div class="tfperf-report"') and run.findings == ()
"""


def test_a_watch_reports_on_stderr_and_a_run_is_still_html(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CODE, str(tmp_path / "run")], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr
    assert "never imported TensorFlow" in done.stderr and "Traceback" not in done.stderr
