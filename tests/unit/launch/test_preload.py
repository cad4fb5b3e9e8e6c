"""The report's modules are imported while the script runs: in a process of its own, since that changes imports."""

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
    # NumPy's library starts threads of its own, before or after they are counted.
    alone = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LOOK.format(modules=modules), str(folder)], capture_output=True, text=True, env=alone
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


PREPARE = """
import sys
from pathlib import Path
from tfperfkit.launch import preload
from tfperfkit.storage.run_directory import Manifest, RunDirectory

folder = Path(sys.argv[1])
manifest = Manifest(tfperfkit_run=1, argv=["x.py"], cwd="/", python="", probes=["tfprof", "ops"])
run = RunDirectory.create(folder, manifest)
(folder / "agent.json").write_text("{}")
(folder / "trace/plugins/profile/a").mkdir(parents=True)
builder.plane().line("x", step(1, 0, 100), ("EagerLocalExecute: MatMul", 10, 20))
path = builder.write(folder / "trace/plugins/profile/a/a.xplane.pb")
looking = preload.Preload(run, [])
looking.look()
looking._done.acquire(), looking._done.release()
assert "tfperfkit_probes.tfprof.result" in sys.modules and "tfperfkit_probes.ops.result" in sys.modules
from tfperfkit.xplane import shared
for phase, ago_s in (("open", 9), ("closed", 1)):  # within a window, or just behind one
    (folder / "session/phases.jsonl").write_text('["tfprof","%s",%d]\\n' % (phase, preload.now_ns() - ago_s * 10**9))
    assert not looking._windows_are_over()
(folder / "session/phases.jsonl").write_text('["tfprof","closed",%d]\\n' % (preload.now_ns() - 9 * 10**9))
assert looking._windows_are_over()
looking.look()
looking.finish()
assert not looking._left
from tfperfkit_probes.tfprof.host import read_host
from tfperfkit.xplane import open_space, sharing
(kept,) = shared._kept.values()
with sharing(), open_space(path) as space:
    assert space is kept[1] and len(space.planes[0]._made) == 3
assert not shared._kept
"""


def test_a_trace_is_read_once_the_windows_are_over(tmp_path: Path) -> None:
    builders = Path(__file__).parents[2] / "builders"
    begin = f"import sys; sys.path.insert(0, {str(builders)!r})\nfrom xspace_builder import SpaceBuilder, step\n"
    text = begin + "builder = SpaceBuilder()\n" + PREPARE
    done = subprocess.run([sys.executable, "-c", text, str(tmp_path / "run")], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
