"""Settings: defaults < ``[tool.tfperf]`` in pyproject.toml < environment < command line. Read here, once.

Each value knows where it came from, so that an error can name the line to fix. Options of probes are
settings too: ``[tool.tfperf.PROBE]`` holds them by name, ``[tool.tfperf]`` by their spelling on the command line.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from tfperfkit.errors import UsageError
from tfperfkit.option import Declared, convert, shown
from tfperfkit.records.rank import holds_parts
from tfperfkit.records.silencing import Silencing
from tfperfkit.rule_pages import suggest_code
from tfperfkit.storage.addresses import fetched, is_address

#: Settings that pyproject.toml (with dashes) and the environment (``TFPERF_STEPS_FROM``) may set too.
NAMES = ("probes", "run-dir", "json", "html", "output", "steps-from", "track")

#: Tables that are no probe's: read by the command that they are for.
TABLES = ("budget", "per-file-ignores")
_PATHS = ("run-dir", "json", "html", "output")
_MAX_BYTES = 10_000_000


class Setting(msgspec.Struct, frozen=True):
    """A value and its origin: "default", "pyproject.toml", "environment" or "command line"."""

    value: str | None
    origin: str = "default"


class OptionSetting(msgspec.Struct, frozen=True):
    """The value of a probe's option, checked, and its origin."""

    value: Any
    origin: str


_PYPROJECT = "[tool.tfperf] in pyproject.toml"


def resolve(
    command_line: Mapping[str, str | None],
    cwd: Path,
    environ: Mapping[str, str],
    options: Sequence[Declared] = (),
    installed: Sequence[str] = (),
) -> dict[str, Setting]:
    """Every setting by name, without the probes' ``options``. Raises UsageError for a pyproject.toml that says
    something that neither we nor the options know, or has a table for a probe that is not ``installed``."""
    settings = {name: Setting(None) for name in NAMES}
    settings["probes"] = Setting("default")
    file, table = _project(cwd)
    known = {declared.setting for declared in options}
    for name, value in table.items():
        if name not in (*NAMES, "ignore") and name not in known and not isinstance(value, dict):
            names = ", ".join((*NAMES, "ignore", *sorted(known)))
            raise UsageError(f"{file}: [tool.tfperf] has no setting {name!r}; known are {names}")
        if name in NAMES:
            settings[name] = Setting(_text(file, name, value), _PYPROJECT)
    _check_tables(file, table, options, installed)
    for name in NAMES:
        value = environ.get(variable(name))
        if value:
            settings[name] = Setting(value, variable(name))
    for name, given in command_line.items():
        if given is not None:
            settings[name] = Setting(given, "command line")
    return settings


def resolve_options(
    command_line: Mapping[str, Any], cwd: Path, environ: Mapping[str, str], options: Sequence[Declared]
) -> dict[str, dict[str, OptionSetting]]:
    """Return the options that were given, by probe and name; ``command_line`` holds texts, or True, by spelling.

    Raises UsageError for a value that is none."""
    found: dict[str, dict[str, OptionSetting]] = {}
    file, table = _project(cwd)
    for declared in options:
        probe, name = declared.probe, declared.option.name
        own = table.get(probe)
        if declared.setting in table and not isinstance(table[declared.setting], dict):
            setting = _option(declared, table[declared.setting], _PYPROJECT, f"{file}: {declared.setting}", file.parent)
        elif isinstance(own, dict) and name in own:
            where = f"[tool.tfperf.{probe}]"
            place = f"{file}: {name} in {where}"
            setting = _option(declared, own[name], f"{where} in pyproject.toml", place, file.parent)
        else:
            setting = None
        key = variable(declared.setting)
        if environ.get(key):
            setting = _option(declared, environ[key], key, key, cwd)
        if declared.flag in command_line:
            setting = _option(declared, command_line[declared.flag], "command line", declared.flag, cwd)
        if setting is not None:
            found.setdefault(probe, {})[name] = setting
    return found


def own_table(cwd: Path, name: str) -> tuple[Path, dict[str, Any]]:
    """Return the nearest pyproject.toml and its ``[tool.tfperf.NAME]``, empty when it has none. Raises UsageError for
    one that is no table."""
    file, table = _project(cwd)
    own = table.get(name, {})
    if not isinstance(own, dict):
        raise UsageError(f"{file}: {name} in [tool.tfperf] is a table: write [tool.tfperf.{name}]")
    return file, own


def read_silencing(cwd: Path) -> Silencing | None:
    """Return which findings the nearest pyproject.toml silences; None if it silences none.

    Raises UsageError for a code that no rule has.
    """
    file, table = _project(cwd)
    per_file = own_table(cwd, "per-file-ignores")[1]
    if "ignore" not in table and not per_file:
        return None
    return Silencing(
        ignore=_codes(file, "ignore", table.get("ignore", [])),
        per_file={pattern: _codes(file, f"per-file-ignores {pattern!r}", codes) for pattern, codes in per_file.items()},
        folder=str(file.parent),
    )


def _codes(file: Path, name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(code, str) for code in value):
        raise UsageError(f"{file}: {name} in [tool.tfperf] takes a list of codes, not {shown(value)}")
    for code in value:
        if problem := suggest_code(code):
            raise UsageError(f"{file}: {name} in [tool.tfperf]: {problem}")
    return tuple(value)


def probe_tables(cwd: Path) -> frozenset[str]:
    """Return the probes for which the nearest pyproject.toml has a table; none when it can't be read."""
    try:
        return frozenset(name for name, value in _project(cwd)[1].items() if isinstance(value, dict))
    except UsageError:
        return frozenset()  # ``resolve`` says so


def _option(declared: Declared, value: Any, origin: str, place: str, folder: Path) -> OptionSetting:
    return OptionSetting(convert(declared, value, place, folder), origin)


def _check_tables(file: Path, table: Mapping[str, Any], options: Sequence[Declared], installed: Sequence[str]) -> None:
    for probe, values in table.items():
        if not isinstance(values, dict) or probe in (*NAMES, *TABLES):
            continue
        if probe not in installed:
            raise UsageError(f"{file}: [tool.tfperf.{probe}] is for a probe {probe!r:.80}, and none such is installed")
        known = [declared.option.name for declared in options if declared.probe == probe]
        for name in values:
            if name not in known:
                has = f"it has {', '.join(known)}" if known else "it has none"
                raise UsageError(f"{file}: [tool.tfperf.{probe}]: the probe has no option {name!r:.80}; {has}")


def variable(name: str) -> str:
    """Return the environment variable of a setting."""
    return "TFPERF_" + name.upper().replace("-", "_").replace(".", "_")


def _project(cwd: Path) -> tuple[Path, dict[str, Any]]:
    """Return the nearest pyproject.toml and its table [tool.tfperf], empty when it has none."""
    for folder in (cwd, *cwd.parents):
        file = folder / "pyproject.toml"
        try:
            found = file.is_file()
        except OSError:  # a folder further up that we may not enter
            continue
        if found:
            return file, _table(file)
    return cwd / "pyproject.toml", {}


def _table(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            text = opened.read(_MAX_BYTES).decode()
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
    return table if isinstance(table, dict) else {}


def _text(file: Path, name: str, value: Any) -> str:
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ",".join(value)
    if not isinstance(value, str):
        raise UsageError(f"{file}: {name} in [tool.tfperf] takes a text or a list of texts, not {shown(value)}")
    if "\0" in value:
        raise UsageError(f"{file}: {name} in [tool.tfperf] holds a character that no name can have (NUL)")
    # A path there is meant from the file's own folder, wherever below it the command is typed.
    return str(file.parent / value) if name in _PATHS and value and not is_address(value) else value


def runs_folder(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of runs that name no folder: not the current one, where a script might stumble over it."""
    import platformdirs

    return Path(environ.get("TFPERF_RUNS") or platformdirs.user_state_path("tfperf") / "runs")


def limits_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the file in which the limits of machines are kept from run to run: next to the runs, in a folder of their
    own with ``TFPERF_RUNS``.
    """
    import platformdirs

    given = environ.get("TFPERF_RUNS")
    return (Path(given) / ".limits" if given else platformdirs.user_state_path("tfperf")) / "machine.json"


def find_run(name: str, environ: Mapping[str, str] = os.environ) -> Path:
    """Return the run that a user means: a folder, the name of a run in the runs folder, ``last`` of this project, or a
    copy of the one at an address."""
    if is_address(name):
        return fetched(name)
    folder = runs_folder(environ)
    if name == "last":
        return _last(folder)
    path = Path(name)
    if name.startswith("~") and not path.exists():  # reports print it so, in quotes where it has a space
        return Path(os.path.expanduser(name))
    if path.exists() or os.sep in name:
        return path
    return folder / name if (folder / name).is_dir() else path


def is_run(folder: Path) -> bool:
    """Return whether tfperf recorded a run, or the parts of several ranks, in this folder, even if files are gone."""
    return (folder / "run.json").exists() or (folder / "session").exists() or holds_parts(folder)


def working_folder() -> Path:
    """Return the current folder. Raises UsageError if it has been removed."""
    try:
        return Path.cwd()
    except OSError as error:
        raise UsageError(f"the current folder is gone ({error.strerror}): change to another one") from error


def project(folder: Path) -> Path:
    """Return the nearest folder from ``folder`` upwards with a pyproject.toml or a .git, else ``folder`` itself."""
    for candidate in (folder, *folder.parents):
        try:
            if (candidate / "pyproject.toml").is_file() or (candidate / ".git").exists():
                return candidate
        except OSError:  # a folder further up that we may not enter
            continue
    return folder


def _last(folder: Path) -> Path:
    runs = sorted(((_age(file), file) for file in folder.glob("*/run.json")), reverse=True)
    try:
        here = project(Path.cwd())
    except OSError as error:
        raise UsageError(f"the current folder is gone ({error.strerror}): change to another one") from error
    for _, file in runs:
        made_in = folder_of_run(file.parent)
        if made_in is not None and project(made_in) == here:
            return file.parent
    if runs:
        raise UsageError(
            f"no run of {here} yet; the last one of another project is tfperf report {runs[0][1].parent.name}"
        )
    raise UsageError(f"no run in {folder} yet: record one with tfperf run, or name its folder")


def folder_of_run(run: Path) -> Path | None:
    """Return the folder that a run was started in; None if its manifest can't be read."""
    try:
        with (run / "run.json").open("rb") as opened:
            return Path(msgspec.json.decode(opened.read(_MAX_BYTES), type=_MadeIn).cwd)
    except (OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


class _MadeIn(msgspec.Struct):
    cwd: str


def _age(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:  # removed meanwhile
        return 0.0
