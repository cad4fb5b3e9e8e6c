"""Nothing in a run directory, or in the folder where one stands, is executed or unpickled. Nothing listens but view."""

from __future__ import annotations

import ast
import os
import pickle
import shutil
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    ROOT / "tfperfkit",
    ROOT / "plugins" / "tfperfkit_probes",
    ROOT / "plugins" / "tfperfkit_rules",
    ROOT / "plugins" / "tfperfkit_trackers",
)

#: Never imported by anything of ours: they make objects, or code, of data.
NEVER = {
    "pickle",
    "_pickle",
    "cPickle",
    "marshal",
    "shelve",
    "dill",
    "cloudpickle",
    "joblib",
    "yaml",
    "code",
    "codeop",
    "runpy",
    "imp",
    "xml",
    "http.server",
    "socketserver",
    "xmlrpc",
}
#: Finds the code of the person's script as ``python -m`` does.
OWN_SCRIPT = {"launch/edited_main.py": {"runpy"}}
#: What starts a program or talks to one, and the files that do.
SOME = {
    "subprocess": {
        "doctor/runtime.py",
        "viewing/tensorboard.py",
        "launch/signals.py",
        "launch/supervisor.py",
        "launch/local_workers.py",  # tfperf launch
        "agents/process.py",  # each tool is a command of ours
        "checking/runner.py",
        "checking/worktree.py",  # git
        "trials/process.py",
        "trials/scratch.py",
        "trials/workspace.py",
        "watching/on_demand.py",  # asks TensorFlow's profiler service, by TensorFlow
    },
    "socket": {
        "viewing/tensorboard.py",
        "launch/local_workers.py",
        "tensorboard/tracker.py",
        "instruments/profiler_service.py",  # keeps TensorFlow's own service to this machine
    },  # free ports and the name of this machine
    "urllib": {
        "viewing/tensorboard.py",
        "viewing/server.py",
        "report/sarif.py",  # quotes paths
        "opentelemetry/tracker.py",  # to the collector that the person names
    },
    "webbrowser": {"viewing/command.py"},
}
#: Calls that execute what they are given. The probe lines compiles the person's own script as it
#: records; the bootstrap runs our own agent.
EXECUTE = {"eval", "exec", "compile", "__import__", "import_module", "exec_module", "system", "popen", "execv"}
EXECUTING = {
    ("lines/choose.py", "compile"),
    ("launch/bootstrap/sitecustomize.py", "exec_module"),
    ("commands/__init__.py", "import_module"),  # the modules of that package
    ("launch/preload.py", "import_module"),  # modules of a fixed list
    ("registry.py", "import_module"),  # the package of our own probes
    ("doctor/packages.py", "import_module"),  # our own C code
    ("trials/listing.py", "import_module"),  # the package of our own experiments
    # The person's own code, as Python would run it: a script of which a trial changes a function, and a cell.
    ("launch/edited_main.py", "compile"),
    ("launch/edited_main.py", "exec"),
    ("magics.py", "compile"),
    ("magics.py", "exec"),
}
#: Calls that read files or folders; and the files of ours that make them on something else than a run directory, or as
#: it is recorded.
READ = {
    "open",
    "read_text",
    "read_bytes",
    "glob",
    "rglob",
    "iterdir",
    "scandir",
    "listdir",
    "fromfile",
    "load",
    "memmap",
    "getlines",
    "getline",
    "open_code",
    "fdopen",
    "mmap",
}
READING = {
    "storage/safe_reader.py",  # the one place
    "watching/command.py",  # names of the ranks' folders
    "watching/on_demand.py",  # names of the traces that were just written
    "storage/addresses.py",  # sends this process's own run; what it fetched is read as any run
    "config.py",
    "recording/source_copies.py",
    "testing.py",
    "storage/reserved_space.py",
    "storage/stream_writer.py",
    "clock.py",
    "recording/environment.py",
    "recording/pressure.py",  # the kernel's figures
    "storage/run_directory.py",  # makes the manifest
    "doctor/runtime.py",
    "doctor/command.py",
    "doctor/trial.py",
    "viewing/tensorboard.py",  # its own log
    "viewing/command.py",
    "viewing/server.py",  # its own folder of links
    "export/command.py",  # what it writes
    "xplane/reader.py",  # maps the file that safe_reader.open_file gave
    "lines/choose.py",
    "tfprof/record.py",
    "input/record.py",  # recording
    "recording/window_phases.py",  # recording
    "cli.py",
    "registry.py",  # loads entry points
    "explain/pages.py",  # our own pages
    "report/html/render.py",  # our own scripts and styles
    "testing/fakes.py",
    "records/rank.py",  # names of folders
    "ranks/parts.py",  # names of folders
    "watch.py",  # the text of a worker's report, which it writes
    "ranks/alone.py",  # names of folders; the summaries by safe_reader
    "runs/listing.py",  # names of folders; the summaries by safe_reader
    "runs/tables.py",  # what it writes
    "comparing/side.py",  # a report that the person names
    "comparing/command.py",
    "fixing/files.py",  # the person's sources
    "fixing/kept.py",  # the same, to see whether they have changed; what it keeps goes through safe_reader
    "checking/runner.py",  # what its own run writes
    "reading/chrome.py",  # traces that the person names
    "reading/sources.py",
    "opentelemetry/tracker.py",  # what it writes
    "agents/one_finding.py",  # our own pages, and what our own commands wrote
    "agents/process.py",
    "agents/tools.py",
    "trials/judging.py",
    "trials/process.py",  # a trial's own folder
    "trials/prove.py",
    "trials/workspace.py",
    "__init__.py",  # the magics' load
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    for package in PACKAGES:
        for file in sorted(package.rglob("*.py")):
            yield file.relative_to(package).as_posix(), ast.parse(file.read_text())


def imported(tree: ast.Module) -> set[str]:
    found = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    return found | {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}


def called(tree: ast.Module) -> set[str]:
    """Names of what is called; of ``re.compile`` and other methods of modules that are no danger, not."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found.add(node.func.id)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            mine = ("re", "registry", "RunDirectory", "self", "point", "recorder", "probe", "rules", "recording")
            if not (isinstance(owner, ast.Name) and owner.id in mine):
                found.add(node.func.attr)
    return found


def test_nothing_unpickles_or_executes() -> None:
    seen = set()
    for name, tree in trees():
        modules = imported(tree)
        never = {module for module in modules if module in NEVER or module.partition(".")[0] in NEVER}
        assert never <= OWN_SCRIPT.get(name, set()), name
        for module, files in SOME.items():
            if any(each.partition(".")[0] == module for each in modules):
                assert name in files, f"{name} imports {module}"
        for call in called(tree) & EXECUTE:
            assert (name, call) in EXECUTING, f"{name} calls {call}"
            seen.add((name, call))
        for node in ast.walk(tree):
            if isinstance(node, ast.keyword):
                refused = isinstance(node.value, ast.Constant) and node.value.value is False
                assert node.arg != "allow_pickle" or refused, name
                assert node.arg != "shell", name
    assert seen == EXECUTING, "an exception that is no longer needed"


def test_files_of_a_run_are_opened_in_one_place() -> None:
    """Readers go through ``inside``; what else opens files is listed, with the reason."""
    for name, tree in trees():
        if name.startswith(("launch/", "instruments/")):
            continue  # they run as the script does, or before it
        calls = called(tree) & READ
        assert not calls or name in READING, f"{name} calls {', '.join(calls)}"


# --- traps --------------------------------------------------------------------------------------------------------


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return (Path.touch, (self.mark,))  # type: ignore[return-value]


NAMES = [
    "sitecustomize",
    "usercustomize",
    "tfperfkit",
    "tfperfkit_probes",
    "tfperfkit_rules",
    "msgspec",
    "numpy",
    "rich",
    "click",
    "google",
    "conftest",
    "setup",
    "__init__",
    "__main__",
    "tensorboard",
    "xprof",
    "line_profiler",
    "wrapt",
]


def with_traps(folder: Path, mark: Path) -> None:
    """Modules under the names that we import, a path file, a pickle, and packages of them."""
    code = f"open({str(mark)!r}, 'a').write(__file__)\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    (folder / "site-packages.pth").write_text(f"import os; {code}")
    (folder / "run.pkl").write_bytes(pickle.dumps(Trap(mark)))


def tfperf(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The installed command: ``python -m`` would put the current folder on the path, as Python says it does."""
    command = [str(Path(sys.executable).with_name("tfperf")), *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=200)


@pytest.mark.parametrize("inside", [True, False])
def test_traps_in_a_run_directory_do_not_spring(inside: bool, copied: Path, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    for folder in [copied, *(path for path in copied.rglob("*") if path.is_dir())]:
        with_traps(folder, mark)
    for path in copied.rglob("*.lprof"):
        path.write_bytes(pickle.dumps(Trap(mark)))
    where = copied if inside else tmp_path
    for arguments in (
        ["report", str(copied), "--show", "all", "--ops-dump", "step"],
        ["trace", str(copied), "--out", str(tmp_path / "t.gz")],
    ):
        done = tfperf(where, *arguments)
        assert done.returncode == 0, done.stderr
        assert not mark.exists(), (arguments, mark.read_text())


def test_trap_springs_where_something_unpickles(tmp_path: Path) -> None:
    """That the traps are good."""
    with_traps(tmp_path, tmp_path / "mark")
    pickle.loads((tmp_path / "run.pkl").read_bytes())
    assert (tmp_path / "mark").exists()
    (tmp_path / "mark").unlink()
    subprocess.run([sys.executable, "-c", "import msgspec"], cwd=tmp_path, check=False, capture_output=True)
    assert (tmp_path / "mark").exists()


# --- servers ------------------------------------------------------------------------------------------------------


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    """The addresses that a process and its descendants listen on."""
    found = set()
    for each in [process, *process.children(recursive=True)]:
        for connection in each.net_connections():
            if connection.status == psutil.CONN_LISTEN or (connection.type == socket.SOCK_DGRAM and connection.laddr):
                found.add((connection.laddr.ip, connection.laddr.port))
    return found


@pytest.mark.parametrize("environment", [{}, {"TENSORBOARD_BIND_ALL": "1", "HOST": "0.0.0.0", "TB_HOST": "0.0.0.0"}])
def test_view_listens_on_loopback_only(environment: dict[str, str], recorded: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfperfkit", "view", str(recorded), "--no-browser"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        base = address.partition("?")[0]
        found = listening(psutil.Process(process.pid))
        assert found == {("127.0.0.1", int(base.rstrip("/").rpartition(":")[2]))}
        with urllib.request.urlopen(base, timeout=200) as reply:
            # TensorBoard tells the browser what its page may load and who may frame it.
            assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
        for path in ("data/plugin/profile/data?run=../../..&tag=overview_page&host=x", "../../../../etc/passwd"):
            try:
                with urllib.request.urlopen(base + path, timeout=200) as reply:
                    assert b"root:" not in reply.read()
            except urllib.error.HTTPError:
                pass
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=200)


def test_no_other_command_listens(copied: Path, tmp_path: Path) -> None:
    """Looked at while the script of ``run`` waits, and by the system calls of none at all in the others' sources."""
    (tmp_path / "t.py").write_text("import sys; print('up', flush=True); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfperfkit", "run", "--probes", "none", "--out", "r", "t.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert listening(psutil.Process(process.pid)) == set()
    process.communicate(timeout=200)
    for name, tree in trees():
        assert not called(tree) & {"listen", "create_server", "serve_forever"}, name


# --- entry points -------------------------------------------------------------------------------------------------

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
    """A package that an installer left, with entry points that nobody should have; and one whose metadata is broken."""
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

    listed = command("probes")
    assert listed.returncode == 0, listed.stderr
    assert len(listed.stdout) < 30_000
    assert "can't be selected" in listed.stdout and "[red]x[/red]" in listed.stdout
    first = {line.split()[0]: line for line in listed.stdout.splitlines() if line.strip()}
    assert "tfperfkit" in first["lines"] and "tfperfkit" in first["retrace"], "ours are not replaced"
    for name in ("../up", "..", "a/b", "[red]x[/red]"):
        refused = command("run", "--probes", name, "t.py")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1), refused.stderr
    (tmp_path / "t.py").write_text("print('ran')")
    ran = command("run", "--probes", "all", "--out", "r", "t.py")
    assert (ran.returncode, ran.stdout) == (0, "ran\n"), ran.stderr
    assert {path.name for path in tmp_path.iterdir()} <= {"r", "run", "runs", "t.py", "library"}
    reported = command("report", str(copied))
    assert reported.returncode == 0, reported.stderr
    assert "rule" in reported.stdout and len(reported.stdout) < 100_000
