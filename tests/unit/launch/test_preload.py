"""What the report needs is imported while the script runs: in a process of its own, for it changes what is imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

LOOK = """
import signal, sys, time
from pathlib import Path
from tfperfkit.launch.preload import Preload
from tfperfkit.storage.run_directory import RunDirectory

folder = Path(sys.argv[1])
preload = Preload(RunDirectory(folder), {modules})
preload.look()
assert "numpy" not in sys.modules, "before the script has TensorFlow"
preload.finish()
(folder / "agent.json").write_text("{{}}")
preload.look()
tasks = {{task.name for task in Path("/proc/self/task").iterdir()}}
preload.look()
preload.finish()
preload.finish()
print(len(tasks), "numpy" in sys.modules, "tfperfkit_rules.step" in sys.modules)
"""


def looked(folder: Path, modules: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(modules=modules), str(folder)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(not os.path.isdir("/proc/self/task"), reason="threads are counted in /proc")
def test_it_begins_once_the_script_has_tensorflow(tmp_path: Path) -> None:
    assert looked(tmp_path, '["tfperfkit.no_such_module", "numpy"]') == ["2", "True", "True"]


def test_every_module_that_is_named_exists() -> None:
    from tfperfkit.launch.preload import MODULES

    done = subprocess.run([sys.executable, "-c", "import " + ", ".join(MODULES)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
