"""Nothing of ours executes or unpickles what it reads, and files of a run are opened in one place: by the sources."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = (
    ROOT / "tfperfkit",
    ROOT / "plugins" / "tfperfkit_probes",
    ROOT / "plugins" / "tfperfkit_rules",
    ROOT / "plugins" / "tfperfkit_experiments",
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

#: Finds the code of the user's script as ``python -m`` does.
OWN_SCRIPT = {"launch/edited_main.py": {"runpy"}}

#: Calls that start a program or talk to one, and the files that do.
SOME = {
    "subprocess": {
        "doctor/runtime.py",
        "viewing/tensorboard.py",
        "launch/signals.py",
        "launch/supervisor.py",
        "fixing/originals.py",  # git, which says whether a file has uncommitted changes
        "trials/ladder.py",  # tfperf run of a patched script
        "launch/first_finding.py",  # the report so far, by this Python
        "launch/local_workers.py",  # tfperf launch
        "launch/machine_types.py",  # a product in 16 bits, timed by TensorFlow
        "launch/window_reports.py",  # what a window of watch mode found, while the script goes on
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
        "tensorboard.py",
        "instruments/profiler_service.py",  # keeps TensorFlow's own service to this machine
    },  # free ports and the name of this machine
    "urllib": {
        "viewing/tensorboard.py",
        "viewing/server.py",
        "report/sarif.py",  # quotes paths
        "opentelemetry.py",  # to the collector that the user names
    },
    "webbrowser": {"viewing/command.py"},
}

#: Calls that execute what they are given. The probe lines compiles the user's own script as it
#: records; the bootstrap runs our own agent.
EXECUTE = {"eval", "exec", "compile", "__import__", "import_module", "exec_module", "system", "popen", "execv"}

EXECUTING = {
    ("lines/choose.py", "compile"),
    ("launch/bootstrap/sitecustomize.py", "exec_module"),
    ("commands/__init__.py", "import_module"),  # the modules of that package
    ("collecting.py", "import_module"),  # the modules of a family of rules
    ("launch/preload.py", "import_module"),  # modules of a fixed list
    ("explain/detection.py", "import_module"),  # the module of an installed rule
    ("fixing/lookup.py", "import_module"),  # the fixers of its table
    ("registry.py", "import_module"),  # the package of our own probes
    ("native.py", "import_module"),  # our own C code
    ("trials/command.py", "import_module"),  # the package of our own experiments
    # The user's own code, as Python would run it: a script of which a trial changes a function, and a cell.
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
    "trials/outputs.py",  # files that a trial wrote
    "fixing/originals.py",  # the user's files, to bring them back
    "watching/command.py",  # names of the ranks' folders
    "watching/on_demand.py",  # names of the traces that were just written
    "storage/addresses.py",  # sends this process's own run; what it fetched is read as any run
    "config.py",
    "recording/source_copies.py",
    "storage/reserved_space.py",
    "syntax/script.py",  # the user's script, in its own process
    "syntax/effects.py",  # the table of known APIs next to it
    "syntax/flow/objects.py",  # no file: a value of the analysed program
    "storage/descriptors.py",  # the process's own descriptors
    "storage/stream_writer.py",
    "clock.py",
    "storage/run_directory.py",  # makes the manifest
    "doctor/trial.py",
    "doctor/runtime.py",  # the machine's limits, which storage/machine_limits.py reads
    "storage/machine_limits.py",  # the user's own file in the state folder, and /proc/cpuinfo
    "viewing/tensorboard.py",  # its own log
    "viewing/command.py",
    "viewing/server.py",  # its own folder of links
    "export/command.py",  # what it writes
    "xplane/reader.py",  # maps the file that safe_reader.open_file gave
    "lines/choose.py",
    "recording/window_phases.py",  # recording
    "cli.py",
    "registry.py",  # loads entry points
    "explain/pages.py",  # our own pages
    "rule_pages.py",  # their names
    "report/output.py",  # what it writes
    "report/html/render.py",  # our own scripts and styles
    "testing/fakes.py",
    "records/rank.py",  # names of folders
    "ranks/parts.py",  # names of folders
    "watch.py",  # the text of a worker's report, which it writes
    "ranks/alone.py",  # names of folders; the summaries by safe_reader
    "runs/listing.py",  # names of folders; the summaries by safe_reader
    "runs/tables.py",  # what it writes
    "comparing/side.py",  # a report that the user names
    "comparing/command.py",
    "fixing/files.py",  # the user's sources
    "fixing/kept.py",  # the same, to see whether they have changed; what it keeps goes through safe_reader
    "checking/runner.py",  # what its own run writes
    "reading/chrome.py",  # traces that the user names
    "reading/sources.py",
    "opentelemetry.py",  # what it writes
    "agents/command.py",  # nothing: the null device, instead of an output that nobody reads any more
    "agents/process.py",
    "agents/tools.py",
    "trials/judging.py",
    "trials/process.py",  # a trial's own folder
    "trials/findings.py",
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


def list_called(tree: ast.Module) -> set[str]:
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
        for call in list_called(tree) & EXECUTE:
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
    seen = set()
    for name, tree in trees():
        if name.startswith(("launch/", "instruments/")):
            continue  # they run as the script does, or before it
        if calls := list_called(tree) & READ:
            assert name in READING, f"{name} calls {', '.join(calls)}"
            seen.add(name)
    assert seen == READING, "a file that reads no longer"
