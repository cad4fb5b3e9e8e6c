"""``tfperf run`` and ``tfperf report``: prepare the run directory, supervise the script, render the report."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

from tfperfkit import __version__, registry
from tfperfkit.arguments import Split
from tfperfkit.clock import now_ns, wall_s
from tfperfkit.config import Setting, find_run, resolve, runs_folder
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.launch import supervisor
from tfperfkit.schedule import parse_window
from tfperfkit.store import Manifest, RunDirectory

#: Our options that scripts often have too: named in the header when taken after the script.
_AMBIGUOUS = ("--out", "--output", "--json", "--lines", "--window")


def run(parts: Split, options: dict[str, Any]) -> int:
    """Run the script under supervision and report; returns the exit status of the script.

    Raises UsageError or RunDirectoryError before the script starts, never after.
    """
    settings = resolve(
        {name: options[name.replace("-", "_")] for name in ("probes", "out", "json", "output", "steps-from", "lines")},
        Path.cwd(), os.environ,
    )
    _check_target(parts)
    try:
        names = registry.select(settings["probes"].value or "none")
    except UsageError as error:
        raise UsageError(f"{error}{_origin(settings['probes'])}") from None
    windows = _windows(options["window"], names)
    for name in ("json", "output"):
        _check_writable(settings[name])
    folder = Path(settings["out"].value or runs_folder() / _run_name(parts)).absolute()
    manifest = Manifest(
        tfperfkit_run=1, argv=[parts.target, *parts.script_arguments], cwd=os.getcwd(), python=sys.executable,
        probes=list(names), options=_probe_options(settings, options), windows=windows,
        steps_from=settings["steps-from"].value, started_ns=now_ns(), started_wall_s=wall_s(),
        tool_version=__version__, user_roots=_user_roots(parts),
    )
    directory = RunDirectory.create(folder, manifest)
    with _report_file(settings["output"].value) as file:
        reason = supervisor.unprofiled_reason()
        _print_header(file, parts, names, folder, reason)
        target = ["-m", parts.target] if parts.is_module else [parts.target]
        ended = supervisor.supervise(
            [*supervisor.interpreter(), *target, *parts.script_arguments], None if reason else directory
        )
        if reason is None:
            _report(folder, settings["json"].value, file)
    return ended.exit_code


def show(name: str, json_file: str | None, output: str | None) -> None:
    """Render the report of a finished run; raises RunDirectoryError or UsageError."""
    from tfperfkit.analysis import analyze

    report = analyze(find_run(name))
    if json_file:
        _write_json(report, json_file)
        if json_file == "-":
            return
    with _report_file(output, sys.stdout) as file:
        from tfperfkit.report.console import render

        render(report, file=file)


def _report(folder: Path, json_file: str | None, file: TextIO) -> None:
    """Analyse and render. The script has run: nothing that fails here may lose its exit status or the data."""
    try:
        from tfperfkit.analysis import analyze
        from tfperfkit.report.console import render

        report = analyze(folder)
        if json_file:
            _write_json(report, json_file)
        render(report, file=file)
        file.flush()
    except BrokenPipeError:
        pass
    except KeyboardInterrupt:
        print(f"tfperf: interrupted; the report: tfperf report {folder}", file=sys.stderr)
    except (TfperfError, OSError) as error:
        print(f"tfperf: {error}; the run's data: {folder}", file=sys.stderr)
    except Exception as error:
        print(
            f"tfperf: the report failed, which is a fault of tfperf ({type(error).__name__}: {error}); "
            f"the run's data: {folder}", file=sys.stderr,
        )


def _write_json(report: Any, target: str) -> None:
    from tfperfkit.report.json import encode

    data = encode(report)
    if target == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
        return
    try:
        Path(target).write_bytes(data)
    except OSError as error:
        raise UsageError(f"can't write {target}: {error.strerror}") from error


def _check_target(parts: Split) -> None:
    if parts.is_module:
        return
    path = Path(parts.target)
    if parts.target == "-":
        raise UsageError("a script on standard input can't be profiled: save it to a file first")
    if not path.exists():
        raise UsageError(f"no such script: {parts.target}")
    if path.is_dir() and not (path / "__main__.py").is_file():
        raise UsageError(f"{parts.target} is a folder without a __main__.py: name the script in it")
    if path.is_file() and not os.access(path, os.R_OK):
        raise UsageError(f"can't read {parts.target}")


def _origin(setting: Setting) -> str:
    return "" if setting.origin in ("command line", "default") else f" (set by {setting.origin})"


def _windows(texts: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    windows = {}
    for text in texts:
        spec = parse_window(text)
        if spec.probe not in names:
            raise UsageError(f"--window {text}: probe {spec.probe!r} is not among the selected ones ({', '.join(names)})")
        windows[spec.probe] = text.partition("=")[2]
    return windows


def _check_writable(setting: Setting) -> None:
    """Refuse before the training starts what would fail after it."""
    if setting.value in (None, ""):
        return
    path = Path(str(setting.value))
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file")
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from error


def _run_name(parts: Split) -> str:
    stem = parts.target if parts.is_module else Path(parts.target).stem
    base = f"{stem}-{time.strftime('%m%d-%H%M%S')}"
    name, number = base, 1
    while (runs_folder() / name).exists():
        number += 1
        name = f"{base}-{number}"
    return name


def _user_roots(parts: Split) -> list[str]:
    from tfperfkit.origin import user_code_of_module

    if parts.is_module:
        sys.path.insert(0, os.getcwd())
        try:
            root = user_code_of_module(parts.target)
        finally:
            sys.path.pop(0)
        return [root] if root else []
    path = Path(parts.target).absolute()
    return [str(path if path.is_dir() else path.parent)] if "site-packages" in str(path) else []


def _probe_options(settings: dict[str, Setting], options: dict[str, Any]) -> dict[str, dict[str, Any]]:
    lines: dict[str, Any] = {}
    if settings["lines"].value:
        lines["functions"] = [name.strip() for name in str(settings["lines"].value).split(",") if name.strip()]
    if options["lines_in"]:
        for item in options["lines_in"]:
            if not Path(item).exists():
                raise UsageError(f"--lines-in {item}: no such file or folder")
        lines["paths"] = [str(Path(item).resolve()) for item in options["lines_in"]]
    return {"lines": lines, "tfprof": {"python": True} if options["tfprof_python"] else {}}


@contextmanager
def _report_file(path: str | None, default: TextIO | None = None) -> Iterator[TextIO]:
    if not path:
        yield default or sys.stderr
        return
    try:
        file = open(path, "w", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from error
    with file:
        yield file


def _print_header(file: TextIO, parts: Split, names: tuple[str, ...], folder: Path, reason: str | None) -> None:
    extra = []
    if reason:
        extra.append(reason)
    elif _tensorflow_missing():
        extra.append("TensorFlow is not installed for this Python (pip install 'tfperfkit[tensorflow]')")
    ambiguous = [word for word in parts.taken if word.partition("=")[0] in _AMBIGUOUS]
    if ambiguous:
        flag = " ".join(ambiguous)
        extra.append(f"{flag} taken as ours; to give it to the script: {parts.target} -- {flag} …")
    shown = folder.name if folder.parent == runs_folder() else str(folder)
    items = [f"tfperf {__version__}", f"probes {', '.join(names) or 'none'}", f"run {shown}", *extra]
    # Plain ASCII: rich, which would know what the terminal can show, is imported for the report only.
    line = " | ".join(items).encode("ascii", "backslashreplace").decode()
    try:
        print(line, file=file, flush=True)
    except OSError:
        pass


def _tensorflow_missing() -> bool:
    import importlib.util

    try:
        return importlib.util.find_spec("tensorflow") is None
    except (ImportError, ValueError):
        return True
