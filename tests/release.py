"""``make release``: wheel and source archive, their metadata checked, and the wheel tried in a clean environment
without the checkout: the main job on a small script, and ``tfperf doctor``. Uploads nothing.
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

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
SCRIPT = """\
import tensorflow as tf

model = tf.keras.Sequential([tf.keras.layers.Dense(64, "relu"), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
model.fit(tf.random.normal((4096, 32)), tf.random.normal((4096, 1)), epochs=2, batch_size=32, verbose=0)
print("trained")
"""


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    # For every platform: an index takes no wheel for "linux" as such. The archive builds the C code on installation.
    _run(sys.executable, "-m", "build", "--outdir", str(DIST), str(ROOT), env={**os.environ, "TFPERF_PURE": "1"})
    wheel, archive = next(DIST.glob("*.whl")), next(DIST.glob("*.tar.gz"))
    assert wheel.name.endswith("-py3-none-any.whl"), wheel.name
    _run(sys.executable, "-m", "twine", "check", "--strict", str(wheel), str(archive))
    _check_contents(wheel, archive)
    with tempfile.TemporaryDirectory(prefix="tfperf-release-") as folder:
        _try(wheel, Path(folder))
    print(f"{wheel.name} and {archive.name} are in dist/, checked and tried")


def _check_contents(wheel: Path, archive: Path) -> None:
    """What a user needs is in the wheel, and nothing of ours beside it; the licence is in both."""
    with zipfile.ZipFile(wheel) as file:
        names = file.namelist()
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


def _try(wheel: Path, folder: Path) -> None:
    venv.create(folder / "venv", with_pip=True)
    binary = folder / "venv" / "bin"
    install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    _run(str(binary / "python"), *install, f"tfperfkit[all] @ {wheel.as_uri()}")
    (folder / "work").mkdir()
    (folder / "work" / "train.py").write_text(SCRIPT)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    for command in (
        ("tfperf", "run", "--out", "run", "--json", "report.json", "train.py"),
        ("tfperf", "report", "run"),
        ("tfperf", "explain", "BAT001"),
        ("tfperf", "doctor"),
    ):
        _run(str(binary / command[0]), *command[1:], cwd=folder / "work", env=environment)
    assert '"exit_code": 0' in (folder / "work" / "report.json").read_text().replace('":0', '": 0')


def _run(*command: str, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    print("+", " ".join(Path(word).name if word.startswith("/") else word for word in command), flush=True)
    subprocess.run(command, check=True, cwd=cwd or ROOT, env=env)


if __name__ == "__main__":
    main()
