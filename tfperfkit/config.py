"""Settings: defaults < ``[tool.tfperf]`` in pyproject.toml < environment < command line. Read here, once.

Each value knows where it came from, so that an error can say which line of which place to mend.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.errors import UsageError

#: Settings that may also stand in pyproject.toml (with dashes) and in the environment (``TFPERF_STEPS_FROM``).
NAMES = ("probes", "out", "json", "output", "steps-from", "lines")


_PATHS = ("out", "json", "output")
_MOST_BYTES = 10_000_000


class Setting(msgspec.Struct, frozen=True):
    """A value and its origin: "default", "pyproject.toml", "environment" or "command line"."""

    value: str | None
    origin: str = "default"


def resolve(command_line: Mapping[str, str | None], cwd: Path, environ: Mapping[str, str]) -> dict[str, Setting]:
    """Every setting by name; raises UsageError for a pyproject.toml that says something we don't know."""
    settings = {name: Setting(None) for name in NAMES}
    settings["probes"] = Setting("default")
    for name, written in _project(cwd).items():
        settings[name] = Setting(written, "[tool.tfperf] in pyproject.toml")
    for name in NAMES:
        value = environ.get(variable(name))
        if value:
            settings[name] = Setting(value, variable(name))
    for name, given in command_line.items():
        if given is not None:
            settings[name] = Setting(given, "command line")
    return settings


def variable(name: str) -> str:
    """The environment variable of a setting."""
    return "TFPERF_" + name.upper().replace("-", "_")


def _project(cwd: Path) -> dict[str, str]:
    for folder in (cwd, *cwd.parents):
        file = folder / "pyproject.toml"
        try:
            found = file.is_file()
        except OSError:  # a folder further up that we may not enter
            continue
        if found:
            return _table(file)
    return {}


def _table(file: Path) -> dict[str, str]:
    try:
        with file.open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode()
    except (OSError, UnicodeDecodeError):
        return {}
    if "tool.tfperf" not in text:
        return {}  # nothing for us, and then a broken file is none of our business
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        tools: Any = tomllib.loads(text).get("tool")
    except (ValueError, RecursionError) as error:  # a TOMLDecodeError is a ValueError; so is a number of 5000 digits
        raise UsageError(f"{file}: {error}") from error
    table = tools.get("tfperf") if isinstance(tools, dict) else None
    values = {}
    for name, value in table.items() if isinstance(table, dict) else ():
        if name not in NAMES:
            raise UsageError(f"{file}: [tool.tfperf] has no setting {name!r}; known are {', '.join(NAMES)}")
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            value = ",".join(value)
        if not isinstance(value, str):
            raise UsageError(f"{file}: {name} in [tool.tfperf] takes a text or a list of texts, not {_quoted(value)}")
        if "\0" in value:
            raise UsageError(f"{file}: {name} in [tool.tfperf] holds a character that no name can have (NUL)")
        # A path there is meant from the file's own folder, wherever below it the command is typed.
        values[name] = str(file.parent / value) if name in _PATHS and value else value
    return values


def _quoted(value: object) -> str:
    try:
        return repr(value)
    except (ValueError, RecursionError):  # numbers of 5000 digits, lists in lists
        return f"a {type(value).__name__}"


def runs_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Where runs go that name no folder: not the current one, where a script might stumble over it."""
    import platformdirs

    return Path(environ.get("TFPERF_RUNS") or platformdirs.user_state_path("tfperf") / "runs")


def find_run(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """The run that a person means: a folder, the name of a run in the runs folder, or ``last``."""
    folder = runs_folder(environ)
    if name == "last":
        runs = sorted((_age(file), file) for file in folder.glob("*/run.json"))
        if runs:
            return runs[-1][1].parent
        raise UsageError(f"no run in {folder} yet: record one with tfperf run, or name its folder")
    path = Path(name)
    if path.exists() or os.sep in name:
        return path
    return folder / name if (folder / name).is_dir() else path


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # removed meanwhile
        return 0.0
