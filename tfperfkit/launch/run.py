"""``tfperf run``: prepares the run directory and supervises the script."""

from __future__ import annotations

import os
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from tfperfkit import registry
from tfperfkit.clock import now_ns, wall_s
from tfperfkit.config import (
    NAMES,
    Setting,
    read_silencing,
    resolve,
    resolve_options,
    runs_folder,
    working_folder,
)
from tfperfkit.diagnosis.silencing import problems
from tfperfkit.errors import RunDirectoryError, UsageError
from tfperfkit.launch import machine, supervisor, target
from tfperfkit.launch.arguments import Split
from tfperfkit.launch.first_finding import FirstFinding, is_wanted
from tfperfkit.launch.header import print_header
from tfperfkit.launch.left_out import LeftOut
from tfperfkit.launch.revision import revision
from tfperfkit.launch.window_reports import WindowReports
from tfperfkit.option import Declared
from tfperfkit.recording.schedule import parse_window
from tfperfkit.records.history import WatchPlan
from tfperfkit.records.rank import rank_of
from tfperfkit.records.service import OnDemand
from tfperfkit.report.output import check_writable, print_notice, report_file
from tfperfkit.report.paths import short_path
from tfperfkit.storage.addresses import Store, is_address
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory
from tfperfkit.syntax.comments import decode_source, find_ignores
from tfperfkit.version import __version__
from tfperfkit.watching.monitor import Monitor

if TYPE_CHECKING:
    from tfperfkit.tracking.destinations import Destination

    #: Reports on a script that has ended. Arguments: the run directory, each format with its file, the open file for
    #: the text, how the script ended, and the trackers.
    ReportAfterRun = Callable[[Path, Sequence[tuple[str, Path]], TextIO | None, Exit, Sequence[Destination]], None]


#: Who may ask for a trace, by the value of ``--profiler-service``.
_SERVICES: Mapping[str, OnDemand | None] = {"": None, "localhost": "loopback", "any": "network"}


def run(
    parts: Split,
    options: dict[str, Any],
    declared: Sequence[Declared],
    given: Mapping[str, Any],
    report: ReportAfterRun,
    afterwards: Callable[[Path, TextIO], None] | None = None,
    live: Callable[[Path], supervisor.Live] | None = None,
) -> int:
    """Run the script under supervision and report; returns the exit status of the script.

    ``afterwards`` is called with the run's folder and the open file of the report, after ``report``. ``live`` makes the
    view that is drawn while the script runs.

    ``declared``: the options of probes that may be given; ``given``: those that were typed, by spelling. Raises
    UsageError or RunDirectoryError before the script starts, never after.
    """
    cwd = working_folder()
    installed = tuple(registry.available())
    settings = resolve({name: options[name.replace("-", "_")] for name in NAMES}, cwd, os.environ, declared, installed)
    target.check(parts)
    try:
        names = registry.select(settings["probes"].value or "none")
        shown = registry.shown(settings["probes"].value or "none", options["show"])
    except UsageError as error:
        raise UsageError(f"{error}{_origin(settings['probes'])}") from None
    _check_options(given, declared, names)
    watched = is_watched(options, os.environ)
    windows = _windows(options["window"], names)
    if watched and live is not None:
        raise UsageError("--live does not draw a run that is watched: tfperf report shows it while it runs")
    if watched and windows:
        raise UsageError(f"--window {options['window'][0]}: watch mode opens windows only when something changes")
    left = LeftOut(parts, names, windows)
    left_out = left.reasons
    windows |= dict.fromkeys(left_out, "none")
    chosen = resolve_options(given, cwd, os.environ, declared)
    for form in ("json", "html"):
        if settings[form].value == "-":
            again = f"tfperf report last --{form} -"
            raise UsageError(f"--{form} -: standard output is the script's; name a file, or use {again}")
    for name in ("json", "html", "output"):
        value = settings[name].value
        if value:
            check_writable(value, _origin(settings[name]))
    for _, target_file in options["documents"]:
        check_writable(target_file, "")
    track = _trackers(settings["track"])
    profiler_service = options["profiler_service"] or ""
    if profiler_service not in _SERVICES:
        raise UsageError(f"--profiler-service={profiler_service}: it takes localhost or any")
    source = target.source(parts)
    silencing = read_silencing(cwd)
    _check_comments(parts, source)
    manifest = Manifest(
        tfperfkit_run=1,
        argv=[target.printable(word) for word in (parts.target, *parts.script_arguments)],
        cwd=target.printable(str(cwd)),
        python=target.printable(sys.executable),
        probes=list(names),
        options={probe: {name: item.value for name, item in values.items()} for probe, values in chosen.items()},
        windows=windows,
        steps_from=settings["steps-from"].value,
        started_ns=now_ns(),
        started_wall_s=wall_s(),
        tool_version=__version__,
        revision=revision(cwd),
        user_roots=target.user_roots(parts),
        require_gpu=bool(options["require_gpu"]),
        left_out=left_out,
        shown=list(shown) if shown is not None else None,
        module=parts.is_module,
        watch=_watch_plan(os.environ) if watched else None,
        rank=rank_of(os.environ),
        children=bool(options["children"]),
        silencing=silencing,
        on_demand=_SERVICES[profiler_service],
    )
    family = manifest.user_roots if manifest.children else None
    try:
        out, part = settings["run-dir"].value, manifest.rank.folder if manifest.rank is not None else ""
        store = Store(out) if out and is_address(out) else None
        if store is not None:
            store.check(part)
            folder = _new_folder("-".join(filter(None, (target.name_of_run(parts), part))))
        else:
            # A part of its own: the others are given the same folder.
            folder = cwd / out / part if out else _new_folder(target.name_of_run(parts))
        directory = RunDirectory.create(folder, manifest)
        room = supervisor.keep_room(directory)
    except RunDirectoryError as error:
        raise RunDirectoryError(f"{error}{_origin(settings['run-dir'])}") from None
    named = [(form, settings[form].value) for form in ("html", "json") if settings[form].value]
    documents = tuple((form, cwd / str(file)) for form, file in (*named, *options["documents"]))
    with report_file(settings["output"].value, sys.stderr) as file:
        reason = supervisor.unprofiled_reason()
        if reason or not options["quiet"]:
            print_header(file, parts, names, folder, reason, source, left_out)
        if reason:
            supervisor.explain(directory, names, reason)
        elif manifest.on_demand and manifest.rank is not None:
            print_notice("--profiler-service: TensorFlow may crash when a trace of ranks that train together ends")
        monitor = Monitor(folder, manifest.watch) if manifest.watch is not None and not reason else None
        beside = live(folder) if live is not None and not reason else None
        if monitor is not None:  # a run that is watched is not drawn
            beside = WindowReports(folder)
        alone = beside is None and not reason and manifest.rank is None
        tells = is_wanted(sys.stderr, quiet=options["quiet"], alone=alone)
        ended = supervisor.supervise(
            [*supervisor.interpreter(), *(["-m"] if parts.is_module else []), parts.target, *parts.script_arguments],
            None if reason else supervisor.environment(directory, target.needs_profile(source), family),
            directory,
            room,
            beside,
            monitor,
            FirstFinding(directory, sys.stderr) if tells else None,
        )
        if monitor is not None:
            monitor.close()
        if ended.restored:
            print_notice(f"the run directory was removed while the script ran; written back: {folder}")
        final = supervisor.with_notes(directory, ended.exit, left.after(directory, ended.exit))
        if not reason:
            machine.measure(directory)
        # With nothing recorded the header has said all that a report could.
        report(folder, documents, None if reason else file, final, () if reason else track)
        if afterwards is not None and not reason:
            afterwards(folder, file)
        if store is not None:
            _send_run(store, folder, part)
    return ended.exit_code


def _check_comments(parts: Split, source: bytes) -> None:
    """Raise UsageError for a comment ``# tfperf: ignore[CODE]`` of the script with a code that no rule has."""
    for comments in find_ignores(decode_source(source)).values():
        for comment in comments:
            for problem in problems(comment):
                raise UsageError(f"{parts.target}:{comment.line}: {problem}")


def is_watched(options: Mapping[str, Any], environ: Mapping[str, str]) -> bool:
    """Return whether ``--long-run`` was given, or ``TFPERF=watch``. Raises UsageError for another value of
    ``TFPERF``."""
    mode = environ.get("TFPERF", "")
    if mode not in ("", "watch"):
        raise UsageError(f"TFPERF={mode!s:.40}: it takes watch, or nothing")
    return bool(options.get("long_run")) or mode == "watch"


def _watch_plan(environ: Mapping[str, str]) -> WatchPlan:
    """As it is, or with what ``TFPERF_WATCH_PLAN`` says: ``block_s=1 cooldown_s=60 budget=0.01 details_mb=5``. Raises
    UsageError."""
    text = environ.get("TFPERF_WATCH_PLAN", "")
    try:
        given = {name: float(value) for name, value in (word.split("=", 1) for word in text.split())}
        plan = msgspec.convert({**msgspec.structs.asdict(WatchPlan()), **given}, WatchPlan)
    except (ValueError, msgspec.ValidationError):
        plan = None
    fits = plan is not None and 0.05 <= plan.block_s <= 600 and plan.cooldown_s >= 0 and 0 <= plan.budget <= 1
    fits = fits and plan is not None and 0.01 <= plan.details_mb <= 1000
    if plan is None or not fits or set(given) - set(WatchPlan.__struct_fields__):
        raise UsageError(
            f"TFPERF_WATCH_PLAN={text!r:.80}: it takes block_s=SECONDS cooldown_s=SECONDS budget=SHARE details_mb=MB"
        )
    return plan


def launch_workers(count: int, out: str | None, words: Sequence[str]) -> int:
    """``tfperf launch``: the workers, then where their parts are. Raises UsageError before they start."""
    from tfperfkit.launch.local_workers import launch

    script = next((word for word in words if word.endswith(".py")), "workers")
    store = Store(out) if out and is_address(out) else None
    folder = working_folder() / out if out and store is None else _new_folder(Path(script).stem)
    status = launch(count, words, folder, store.address if store is not None else str(folder))
    if store is not None:
        handle = store.address
    else:
        handle = folder.name if folder.parent == runs_folder() else short_path(str(folder))
    print_notice(f"the report of all {count}: tfperf report {shlex.quote(handle)}")
    return status


def _trackers(setting: Setting) -> tuple[Destination, ...]:
    """Raises UsageError, before anything runs, for what can't be sent to."""
    if not setting.value:
        return ()
    from tfperfkit.tracking.destinations import destinations

    try:
        return destinations(setting.value)
    except UsageError as error:
        raise UsageError(f"{error}{_origin(setting)}") from None


def _send_run(store: Store, folder: Path, part: str) -> None:
    """Send the run to its address and print where it is. If that fails, the run stays in its folder."""
    try:
        failure = store.send(folder, part)
    except KeyboardInterrupt:
        failure = "interrupted"
    if failure:
        print_notice(f"the run could not be sent to {store.address} ({failure}); it is kept in {folder}")
    else:
        print_notice(f"sent to {store.address}: tfperf report {store.address}")


def _new_folder(name: str) -> Path:
    """Make a folder of its own below the runs folder, also when several runs begin in the same second."""
    base = runs_folder() / f"{name}-{time.strftime('%m%d-%H%M%S')}"
    number = 1
    while True:
        folder = base if number == 1 else base.with_name(f"{base.name}-{number}")
        try:
            folder.parent.mkdir(parents=True, exist_ok=True)
            folder.mkdir()
            return folder
        except FileExistsError:
            if not folder.is_dir():
                raise RunDirectoryError(
                    f"can't write {folder.parent}: something else is there; use --run-dir"
                ) from None
            number += 1
        except OSError as error:
            raise RunDirectoryError(
                f"can't write the runs folder {folder.parent}: {error.strerror}; give a folder with --run-dir"
            ) from error


def _origin(setting: Setting) -> str:
    return "" if setting.origin in ("command line", "default") else f" (set by {setting.origin})"


def _windows(texts: tuple[str, ...], names: tuple[str, ...]) -> dict[str, str]:
    windows = {}
    for text in texts:
        spec = parse_window(text)
        if spec.probe not in names:
            selected = ", ".join(names) or "none"
            raise UsageError(f"--window {text}: probe {spec.probe!r} is not among the selected ones ({selected})")
        windows[spec.probe] = text.partition("=")[2]
    return windows


def _check_options(given: Mapping[str, Any], declared: Sequence[Declared], names: tuple[str, ...]) -> None:
    """Refuse a typed option of a probe that does not run, which would change nothing; what a file sets holds for other
    runs too."""
    for flag in given:
        owners = [each.probe for each in declared if each.flag == flag]
        if owners and not set(owners) & set(names):
            raise UsageError(
                f"{flag}: probe {owners[0]!r} is not among the selected ones ({', '.join(names) or 'none'})"
            )
