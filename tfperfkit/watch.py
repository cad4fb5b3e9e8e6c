"""``tfperfkit.watch``: the same recording as ``tfperf run``, for a part of a program, from code.

::

    @tfperfkit.watch
    def train(): ...

    with tfperfkit.watch(probes="all", run_dir="runs/first") as run:
        train()
    print(run.findings)

The report comes on stderr when the outermost watch ends, also by an exception, which passes through untouched. A
watch inside another, or inside ``tfperf run``, belongs to the outer one and reports nothing of its own. Each further
outermost call is a run of its own.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

from tfperfkit.clock import now_ns, wall_s
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.recording.active import active_session
from tfperfkit.recording.session import Session
from tfperfkit.records.rank import Rank, holds_parts, rank_of
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory
from tfperfkit.version import __version__

if TYPE_CHECKING:
    from tfperfkit.model import Finding, Report

P = ParamSpec("P")
R = TypeVar("R")
_lock = threading.RLock()


class Run:
    """Result of ``with watch() as run``. ``report`` and ``findings`` are there once the watch has ended.

    For a watch inside another one, ``nested`` is True, ``report`` stays None and ``findings`` empty.
    """

    def __init__(self) -> None:
        self.directory: Path | None = None
        self.report: Report | None = None
        self.nested = False
        self._cells: dict[str, str] = {}
        #: The variable that holds it, as far as we know: what a cell shows names it.
        self._called = "run"

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Return the findings, costliest first."""
        return self.report.findings if self.report is not None else ()

    def save_html(self, path: str | os.PathLike[str]) -> None:
        """Write the report as one HTML file with pictures. Raises OSError, and UsageError before the watch ended."""
        from tfperfkit.explain.pages import find_page
        from tfperfkit.report.html.render import page

        if self.report is None or self.directory is None:
            raise UsageError("there is no report yet: save_html is for after the watch")
        Path(path).write_text(page(self._with_pictures(), find_page), encoding="utf-8", errors="backslashreplace")

    def track(self, to: str) -> None:
        """Send the report to trackers: ``run.track("mlflow,tensorboard=logs")``, as ``tfperf run --track``.

        The report's address is one line on stderr for each; a tracker that can't be reached is such a line, too. Raises
        UsageError for a name that is none, for what is not installed, and before the watch ended.
        """
        from tfperfkit.explain.pages import find_page
        from tfperfkit.report.text import one_line
        from tfperfkit.tracking.destinations import destinations
        from tfperfkit.tracking.send import send

        chosen = destinations(to)
        if self.report is None or self.directory is None:
            raise UsageError("there is no report yet: track is for after the watch")
        report = self._with_pictures()

        def tell(line: str) -> None:
            print(one_line(f"tfperf: {line}"), file=sys.stderr)

        send(report, self.directory, chosen, find_page, tell, script=_program())

    def _with_pictures(self) -> Report:
        from tfperfkit.analysis.analyze import study
        from tfperfkit.fixing.shown import with_patches
        from tfperfkit.notebook.cells import with_cells

        assert self.directory is not None
        report, evidence = study(self.directory, pictures=True)
        return with_cells(with_patches(report, evidence), self._cells)

    def to_frame(self) -> Any:
        """Return the findings as a pandas DataFrame; raises ImportError where there is no pandas."""
        from tfperfkit.notebook.show import frame

        return frame(self.report)

    def __repr__(self) -> str:
        from tfperfkit.notebook.show import words

        return words(self.report, self.directory)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from tfperfkit.notebook.show import bundle

        return bundle(self.report, self.directory, self._called)

    def _repr_html_(self) -> str | None:
        return self._repr_mimebundle_().get("text/html")


class Watch:
    """A watch that can be entered again and again, and that decorates functions. Made by ``watch(...)``."""

    def __init__(
        self,
        probes: str | tuple[str, ...],
        steps: int | None,
        run_dir: str | os.PathLike[str] | None,
        rank: tuple[int, int] | None = None,
        steps_from: str | None = None,
    ) -> None:
        if rank is not None and not 0 <= rank[0] < rank[1]:
            raise UsageError(f"watch(rank=...) takes the rank from 0 and how many there are, not {rank!r}")
        if steps is not None and steps < 1:
            raise UsageError(f"watch(steps=...) takes a number from 1 up, not {steps!r}")
        self._probes = probes if isinstance(probes, str) else ",".join(probes)
        self._steps = steps
        self._run_dir = run_dir
        self._rank = Rank(rank=rank[0], size=rank[1], source="rank") if rank is not None and rank[1] > 1 else None
        self._steps_from = steps_from
        self._name = "watch"
        self._entered: list[tuple[Run, Session | None]] = []

    def __call__(self, function: Callable[P, R]) -> Callable[P, R]:
        """Decorate a function: each outermost call of it is a run."""
        self._name = getattr(function, "__name__", "watch")

        @functools.wraps(function)
        def watched(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return function(*args, **kwargs)

        return watched

    def __enter__(self) -> Run:
        run = Run()
        with _lock:
            session = None
            if active_session() is not None:
                run.nested = True
            else:
                session = self._begin(run)
            self._entered.append((run, session))
        return run

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _lock:
            run, session = self._entered.pop()
        if session is None:
            return
        session.finish()
        failed = kind is not None and not issubclass(kind, (SystemExit, KeyboardInterrupt))
        interrupted = kind is not None and issubclass(kind, KeyboardInterrupt)
        ended = Exit(status=1 if failed else 0, ended_ns=now_ns(), interrupted=interrupted, failed=failed)
        try:
            session.run.write_json("exit.json", ended)
            _show(run, session.run.path)
        except Exception as problem:  # the user's code has done its work: a report that fails must not undo it
            from tfperfkit.report.text import one_line

            text = f"tfperf: no report ({type(problem).__name__}: {problem}); data: {run.directory}"
            print(one_line(text), file=sys.stderr)

    def _begin(self, run: Run) -> Session:
        from tfperfkit import registry
        from tfperfkit.config import read_silencing, runs_folder
        from tfperfkit.launch.imports import when_imported

        names = registry.select(self._probes)
        shown = registry.shown(self._probes, None)
        rank = self._rank or rank_of(os.environ)
        folder = Path(self._run_dir) if self._run_dir is not None else runs_folder() / _stamp(self._name)
        # A part of its own: the others are given the same folder.
        run.directory = _free(folder.absolute(), rank.folder if rank is not None and self._run_dir is not None else "")
        manifest = Manifest(
            tfperfkit_run=1,
            argv=[self._name],
            cwd=os.getcwd(),
            python=sys.executable,
            probes=list(names),
            shown=list(shown) if shown is not None else None,
            started_ns=now_ns(),
            started_wall_s=wall_s(),
            tool_version=__version__,
            in_process=True,
            steps_from=self._steps_from,
            last_step=self._steps,
            silencing=read_silencing(Path.cwd()),
            rank=rank,
        )
        session = Session(RunDirectory.create(run.directory, manifest), manifest)
        when_imported("tensorflow", None, session.arm)
        for package in ("keras", "tf_keras"):
            when_imported(package, None, functools.partial(session.keras_imported, package))
        return session


def _program() -> str:
    """Return the name of the program that this process runs, for those who know runs by their script."""
    from tfperfkit.notebook.cells import kernel

    return "notebook" if kernel() is not None else Path(sys.argv[0] if sys.argv else "").name


def _stamp(name: str) -> str:
    return f"{name}-{time.strftime('%m%d-%H%M%S')}"


def _free(folder: Path, part: str) -> Path:
    """Return the folder itself, or with a number behind it when a run stands there: a watched function is called again.

    ``part``: the folder of one process, if the folder holds several.
    """
    candidate, number = folder, 1
    while (candidate / part / "run.json").exists():
        number += 1
        candidate = folder.with_name(f"{folder.name}-{number}")
    return candidate / part


def _show(run: Run, folder: Path) -> None:
    from tfperfkit.analysis.analyze import analyze
    from tfperfkit.notebook.cells import cells, kernel, with_cells
    from tfperfkit.report.console import render
    from tfperfkit.report.text import one_line

    shell = kernel()
    if shell is not None:
        from tfperfkit.notebook.show import display

        run._cells = cells(shell)
        # With its sources, which the cell shows, and without what only a page draws.
        run.report = with_cells(analyze(folder, pictures=True), run._cells)
        display(run)
        return
    run.report = analyze(folder)
    sys.stderr.flush()
    if holds_parts(folder.parent):  # as many reports as processes would be read by nobody
        with open(f"{folder}.txt", "w", encoding="utf-8") as file:
            render(run.report, file=file)
        print(
            one_line(f"tfperf: {folder.name} is recorded; all of them: tfperf report {folder.parent}"), file=sys.stderr
        )
        return
    render(run.report, file=sys.stderr)


@overload
def watch(function: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def watch(
    *,
    probes: str | tuple[str, ...] = ...,
    steps: int | None = ...,
    run_dir: str | os.PathLike[str] | None = ...,
    rank: tuple[int, int] | None = ...,
    steps_from: str | None = ...,
) -> Watch: ...
def watch(
    function: Callable[..., Any] | None = None,
    /,
    *,
    probes: str | tuple[str, ...] = "default",
    steps: int | None = None,
    run_dir: str | os.PathLike[str] | None = None,
    rank: tuple[int, int] | None = None,
    steps_from: str | None = None,
) -> Any:
    """Record and report what runs inside; a decorator, with or without arguments, and a context manager.

    ``probes``: names with commas, or "default", "all", "none". ``steps``: stop recording after so many training
    steps (the code runs on). ``run_dir``: the run's folder; a number is added when it holds a run already. ``rank``:
    this process's number, from 0, and how many train together, where the environment of a launcher does not tell it;
    with ``run_dir`` each process then writes a part of its own in that folder, and ``tfperf report`` of it is about all
    of them.
    ``steps_from``: the function of which a call is one step, where none is seen.
    Raises UsageError for an unknown probe and RunDirectoryError for a folder that can't be written.
    """
    made = Watch(probes, steps, run_dir, rank, steps_from)
    return made if function is None else made(function)


class _Callable(ModuleType):
    """This module, which is called as the function is: whoever imports it puts it where ``tfperfkit.watch`` is looked
    up, before the first call or after it."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """As the function ``watch``."""
        return watch(*arguments, **options)

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(watch)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        """By its name, as other modules: a function that uses it can be sent to another process (Ray, Dask)."""
        return import_module, (self.__name__,)


sys.modules[__name__].__class__ = _Callable

__all__ = ["Run", "TfperfError", "Watch", "watch"]
