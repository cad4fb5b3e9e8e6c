"""The command line, the configuration and what a run leaves behind."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
from tfperf_runner import Tfperf

ARGUMENTS = "import sys\nprint(sys.argv[1:])\n"


def _header(done: subprocess.CompletedProcess[str]) -> str:
    return str(done.stderr.partition("\n")[0])


def _manifest(folder: Path) -> dict[str, object]:
    return dict(json.loads((folder / "run.json").read_text()))


def test_options_before_and_after_the_script(tfperf: Tfperf) -> None:
    """The forms of the card, to the letter."""
    tfperf.script(ARGUMENTS, "examples/gan/train.py")
    tfperf.script(ARGUMENTS)
    done = tfperf("run", "examples/gan/train.py", "--probes", "lines,retrace,tfprof")
    assert (done.returncode, done.stdout) == (0, "[]\n")
    assert "probes lines, retrace, tfprof |" in _header(done)
    done = tfperf("run", "train.py", "--epochs", "2")
    assert (done.returncode, done.stdout) == (0, "['--epochs', '2']\n")
    done = tfperf(
        "run", "--probes", "retrace", "train.py", "--run-dir", "r", "--epochs", "--run-dir", "x", "--probes=y"
    )
    assert done.stdout == "['--epochs', '--run-dir', 'x', '--probes=y']\n"
    assert _manifest(tfperf.folder / "r")["probes"] == ["retrace"]
    assert _manifest(tfperf.folder / "r")["argv"] == ["train.py", "--epochs", "--run-dir", "x", "--probes=y"]


def test_the_report_in_several_formats(tfperf: Tfperf) -> None:
    tfperf.script(ARGUMENTS)
    done = tfperf("run", "--format", "markdown", "-o", "r.md", "--format", "json", "-o", "r.json", "train.py")
    assert (done.returncode, done.stdout) == (0, "[]\n") and "never imported TensorFlow" in done.stderr
    assert (tfperf.folder / "r.md").read_text().startswith("**tfperf**")
    assert json.loads((tfperf.folder / "r.json").read_text())["run"]["argv"] == ["train.py"]
    tfperf("run", "--format", "sarif", "-o", "r.sarif", "--format", "text", "-o", "r.txt", "train.py")
    assert "never imported TensorFlow" in (tfperf.folder / "r.txt").read_text()
    assert json.loads((tfperf.folder / "r.sarif").read_text())["version"] == "2.1.0"


def test_everything_after_the_dashes_is_the_scripts(tfperf: Tfperf) -> None:
    tfperf.script(ARGUMENTS)
    done = tfperf("run", "--probes", "none", "train.py", "--", "--run-dir", "x", "--", "-h")
    assert done.stdout == "['--run-dir', 'x', '--', '-h']\n"
    assert "taken as ours" not in _header(done)
    assert tfperf("run", "train.py", "--help").stdout == "['--help']\n"


def test_an_option_that_the_script_might_have_meant_is_named(tfperf: Tfperf) -> None:
    tfperf.script("import argparse\nparser = argparse.ArgumentParser()\nparser.add_argument('--probes')\n")
    header = _header(tfperf("run", "train.py", "--run-dir", "r", "--probes", "none"))
    assert "--probes taken as ours; to give it to the script: train.py -- --probes ..." in header
    tfperf.script(ARGUMENTS)
    assert "taken as ours" not in _header(tfperf("run", "train.py", "--probes", "none"))
    assert "taken as ours" not in _header(tfperf("run", "--run-dir", "r2", "train.py"))


@pytest.mark.parametrize(
    "arguments", [["run", "--help-all"], ["run", "--probes", "x", "--help-all"], ["report", "--help-all"]]
)
def test_help_of_a_command_asks_the_probes_for_their_options_only(tfperf: Tfperf, arguments: list[str]) -> None:
    code = (
        "import sys, tfperfkit.cli\n"
        f"try: tfperfkit.cli.main({arguments!r})\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'tensorflow', 'keras', 'numpy', 'rich', 'google.protobuf', 'line_profiler', 'platformdirs',\n"
        "         'tfperfkit.recording.session', 'tfperfkit_probes.lines.tables', 'tfperfkit_probes.ops.analysis'}\n"
        "sys.exit('imported: ' + str(heavy & set(sys.modules)) if heavy & set(sys.modules) else 0)\n"
    )
    done = subprocess.run([tfperf.python, "-c", code], capture_output=True, text=True, env=tfperf.environment)
    assert done.returncode == 0, done.stderr
    assert "Options of the probe ops:" in done.stdout and "--ops-dump FUNCTION" in done.stdout
    assert ("--ops-xla" in done.stdout) is (arguments[0] == "run")  # is asked while recording


@pytest.mark.parametrize("arguments", [["--help"], ["--version"]])
def test_help_and_version_import_next_to_nothing(tfperf: Tfperf, arguments: list[str]) -> None:
    """They answer in a tenth of a second because of what they leave out."""
    code = (
        "import sys, tfperfkit.cli\n"
        f"try: tfperfkit.cli.main({arguments!r})\n"
        "except SystemExit as end: assert end.code == 0\n"
        "heavy = {'tensorflow', 'keras', 'numpy', 'rich', 'msgspec', 'line_profiler', 'platformdirs', 'asyncio',\n"
        "         'importlib.metadata', 'subprocess', 'ctypes', 'tfperfkit.recording.session', 'tfperfkit.registry'}\n"
        # Before Python 3.11 click's uuid brings platform, which brings subprocess.
        "known = {'msgspec'} if sys.version_info >= (3, 11) else {'msgspec', 'subprocess'}\n"
        "sys.exit('imported: ' + str(heavy & set(sys.modules)) if heavy & set(sys.modules) - known else 0)\n"
    )
    done = subprocess.run([tfperf.python, "-c", code], capture_output=True, text=True, env=tfperf.environment)
    assert done.returncode == 0, done.stderr
    assert "tfperf" in done.stdout


def test_supervising_imports_no_tensorflow(tfperf: Tfperf) -> None:
    tfperf.script("print(1)")
    code = (
        "import sys, tfperfkit.cli\n"
        "try: tfperfkit.cli.main(['run', '--probes', 'none', 'train.py'])\n"
        "finally: print('tensorflow' in sys.modules, 'numpy' in sys.modules)\n"
    )
    done = subprocess.run(
        [tfperf.python, "-c", code], capture_output=True, text=True, env=tfperf.environment, cwd=tfperf.folder
    )
    assert done.stdout.split() == ["1", "False", "False"]


def test_configuration_and_its_order(tfperf: Tfperf) -> None:
    """Default < pyproject.toml < environment < command line; paths in pyproject.toml are meant from its folder."""
    tfperf.script(ARGUMENTS, "deep/train.py")
    (tfperf.folder / "pyproject.toml").write_text('[tool.tfperf]\nprobes = ["retrace"]\njson = "out.json"\n')
    deep = tfperf.folder / "deep"
    assert "| probes retrace |" in _header(tfperf("run", "train.py", cwd=deep))
    assert json.loads((tfperf.folder / "out.json").read_bytes())["run"]["exit_code"] == 0
    done = tfperf("run", "train.py", cwd=deep, env={"TFPERF_PROBES": "lines", "TFPERF_JSON": "here.json"})
    assert "| probes lines |" in _header(done)
    assert (deep / "here.json").is_file()
    done = tfperf("run", "--probes", "none", "train.py", cwd=deep, env={"TFPERF_PROBES": "lines"})
    assert "| probes none |" in _header(done)


def test_broken_pyproject_without_a_word_for_us_is_none_of_our_business(tfperf: Tfperf) -> None:
    tfperf.script(ARGUMENTS)
    (tfperf.folder / "pyproject.toml").write_bytes(b"[tool.black\n\xff")
    assert tfperf("run", "--probes", "none", "train.py").returncode == 0


def test_runs_folder_and_last(tfperf: Tfperf) -> None:
    tfperf.script("print('a')", "first.py")
    tfperf.script("print('b')", "second.py")
    for name in ("first.py", "second.py"):
        assert tfperf("run", "--probes", "none", name).returncode == 0
    names = sorted(path.name for path in tfperf.runs.iterdir())
    assert [name.partition("-")[0] for name in names] == ["first", "second"]
    assert "second.py" in tfperf("report", "last").stdout
    assert "first.py" in tfperf("report", names[0]).stdout
    assert "first.py" in tfperf("report", tfperf.runs / names[0], cwd="/").stdout
    document = json.loads(tfperf("report", "last", "--json", "-").stdout)
    assert document["run"]["argv"] == ["second.py"]
    assert sorted(path.name for path in tfperf.folder.iterdir()) == ["first.py", "runs", "second.py"]


def test_default_runs_folder_is_the_users_state_folder(tfperf: Tfperf) -> None:
    tfperf.script("print(1)")
    state = tfperf.folder / "state"
    del tfperf.environment["TFPERF_RUNS"]
    home = {"XDG_STATE_HOME": str(state), "HOME": str(tfperf.folder)}
    assert tfperf("run", "--probes", "none", "train.py", env=home).returncode == 0
    assert list(tfperf.folder.rglob("tfperf/runs/*/run.json"))


def test_two_runs_at_once_have_folders_of_their_own(tfperf: Tfperf) -> None:
    tfperf.script("print(1)")
    processes = [tfperf.start("run", "--probes", "none", "train.py") for _ in range(4)]
    for process in processes:
        process.communicate(timeout=200)
        assert process.returncode == 0
    assert len(list(tfperf.runs.glob("*/exit.json"))) == 4


def test_nested(tfperf: Tfperf) -> None:
    tfperf.script("import sys\nprint('inner')\nsys.exit(5)", "inner.py")
    tfperf.script(
        "import subprocess, sys\n"
        "done = subprocess.run([sys.executable, '-m', 'tfperfkit', 'run', '--probes', 'none', 'inner.py'])\n"
        "print('outer', done.returncode, flush=True)\n"
    )
    done = tfperf("run", "--probes", "none", "train.py")
    assert done.stdout == "inner\nouter 5\n"
    assert len(list(tfperf.runs.glob("*/exit.json"))) == 2
    done = tfperf("run", "--probes", "none", "-m", "tfperfkit", "run", "--probes", "none", "inner.py")
    assert (done.returncode, done.stdout) == (5, "inner\n")


def test_kernprofs_bare_decorator(tfperf: Tfperf) -> None:
    tfperf.script("@profile\ndef f(x):\n    return x + 1\nprint(f(1), f.__module__)\n")
    assert subprocess.run([tfperf.python, "train.py"], cwd=tfperf.folder, capture_output=True).returncode == 1
    done = tfperf("run", "--probes", "none", "train.py")
    assert (done.returncode, done.stdout) == (0, "2 __main__\n")


@pytest.mark.parametrize(
    "source",
    [
        "import builtins\nprint(hasattr(builtins, 'profile'))",
        "try:\n    profile\nexcept NameError:\n    def profile(f): return f\n"
        "@profile\ndef f(): pass\nimport builtins\nprint(hasattr(builtins, 'prof' + 'ile'))",
        "def profile(f): return f\n@profile\ndef f(): pass\nimport builtins\nprint(hasattr(builtins, 'prof' + 'ile'))",
    ],
    ids=["asks", "falls back", "its own"],
)
def test_other_scripts_see_no_profile(tfperf: Tfperf, source: str) -> None:
    tfperf.script(source)
    assert tfperf("run", "--probes", "none", "train.py").stdout == "False\n"


def test_paths_that_are_not_utf8(tfperf: Tfperf) -> None:
    name = os.fsdecode(b"tr\xe9.py")
    (tfperf.folder / name).write_text("print('ran')\nraise SystemExit(4)\n")
    done = tfperf("run", "--probes", "none", "--json", "o.json", name)
    assert (done.returncode, done.stdout) == (4, "ran\n")
    assert json.loads((tfperf.folder / "o.json").read_bytes())["run"]["argv"] == ["tr\\udce9.py"]
    assert len(list(tfperf.runs.glob("*/exit.json"))) == 1


def test_symlinked_script(tfperf: Tfperf) -> None:
    tfperf.script("x = 7", "real/helper.py")
    tfperf.script("import sys, helper\nprint(helper.x, __file__)", "real/train.py")
    (tfperf.folder / "link.py").symlink_to("real/train.py")
    plain = subprocess.run([tfperf.python, "link.py"], cwd=tfperf.folder, capture_output=True, text=True)
    assert tfperf("run", "--probes", "none", "link.py").stdout == plain.stdout != ""


def test_pipe_as_a_script(tfperf: Tfperf) -> None:
    """``tfperf run <(generate)``: it can be read only once, and that is the script's interpreter's to do."""
    command = f"{shlex.quote(str(tfperf.python))} -m tfperfkit run --probes none <(echo 'print(6 * 7)')"
    done = subprocess.run(
        ["bash", "-c", command], cwd=tfperf.folder, env=tfperf.environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "42\n")


def test_without_tensorflow_and_without_an_installation(tfperf: Tfperf) -> None:
    """Use an interpreter without TensorFlow that finds tfperfkit only through the current folder."""
    site = next(path for path in sys.path if path.endswith("site-packages"))
    lean = tfperf.folder / "lean"
    venv.create(lean, with_pip=False, symlinks=True)
    target = next((lean / "lib").glob("python*/site-packages"))
    for name in ("click", "msgspec", "rich", "platformdirs", "pygments", "markdown_it", "mdurl"):
        os.symlink(Path(site) / name, target / name)
    checkout = tfperf.folder / "checkout"
    root = Path(__file__).parents[2]
    shutil.copytree(root / "tfperfkit", checkout / "tfperfkit", ignore=shutil.ignore_patterns("__pycache__"))
    tfperf.script("try:\n    import tensorflow\nexcept ImportError as error:\n    print(error)\n", "scripts/train.py")
    tfperf.python = str(lean / "bin" / "python")
    done = tfperf("run", "--probes", "none", "../scripts/train.py", cwd=checkout)
    assert (done.returncode, done.stdout) == (0, "No module named 'tensorflow'\n"), done.stderr
    assert "TensorFlow is not installed for this Python" in _header(done)
    assert "never imported TensorFlow" in " ".join(done.stderr.split())
    # A package of that name, so that the agent starts: it must find us, and leave the script's path as it was.
    tfperf.script("__version__ = '2.99'\n", "scripts/tensorflow.py")
    source = "import sys\nbefore = list(sys.path)\nimport tensorflow\nprint(sys.path == before)\n"
    tfperf.script(source, "scripts/train.py")
    done = tfperf("run", "--probes", "none", "--run-dir", "r", "../scripts/train.py", cwd=checkout)
    assert (done.returncode, done.stdout) == (0, "True\n"), done.stderr
    assert json.loads((checkout / "r" / "agent.json").read_bytes())["versions"]["tensorflow"] == "2.99"


def test_a_launcher_s_flags_do_not_keep_a_script_from_being_recorded(tfperf: Tfperf) -> None:
    """pipx writes ``-E`` into the first line of what it installs; the script sees the environment all the same."""
    launcher = tfperf.folder / "tfperf"
    root = str(Path(__file__).parents[2])
    first = "#!/installed/by/pipx/bin/python -E\n"
    launcher.write_text(f"{first}import sys\nsys.path[:0] = [{root!r}]\nfrom tfperfkit.cli import main\nmain()\n")
    tfperf.script("__version__ = '2.99'\n", "tensorflow.py")
    tfperf.script("import sys, tensorflow\nprint(sys.flags.ignore_environment)\n")
    done = subprocess.run(
        # As the kernel starts it, whose first line could hold no space.
        [sys.executable, "-E", str(launcher), "run", "--probes", "none", "--run-dir", "r", "train.py"],
        cwd=tfperf.folder,
        env=tfperf.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (0, "0\n"), done.stderr
    assert json.loads((tfperf.folder / "r" / "agent.json").read_bytes())["versions"]["tensorflow"] == "2.99"


def test_interpreter_that_can_not_record_says_so(tfperf: Tfperf) -> None:
    tfperf.script("print('ran')\nraise SystemExit(3)")
    for flag in ("-I", "-E", "-S"):
        if flag == "-S":
            root = str(Path(__file__).parents[2])
            tfperf.environment["PYTHONPATH"] = os.pathsep.join([root, *filter(None, sys.path)])
        tfperf.flags = (flag,)
        done = tfperf("run", "--json", "o.json", "train.py")
        assert (done.returncode, done.stdout) == (3, "ran\n")
        assert "the script runs unprofiled" in done.stderr
        assert done.stderr.count("\n") == 1
        document = json.loads((tfperf.folder / "o.json").read_bytes())
        assert document["run"]["exit_code"] == 3
        assert all("unprofiled" in probe["reason"] for probe in document["probes"])
