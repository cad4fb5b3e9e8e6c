"""One trial: the script's process from its start to its end, with nothing of it left behind."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from tfperfkit.clock import now_ns, wall_s
from tfperfkit.launch import supervisor, target
from tfperfkit.launch.arguments import Split
from tfperfkit.records.trials import Change, TrialPlan
from tfperfkit.storage.run_directory import Manifest, RunDirectory
from tfperfkit.trials.outcome import Outcome, read
from tfperfkit.trials.outputs import read_outputs
from tfperfkit.trials.scratch import Scratch, end_group, remove
from tfperfkit.trials.workspace import NotCovered, Workspace
from tfperfkit.version import __version__

#: Beyond its limit a trial gets this long to come to the end of a step.
_GRACE_S = 15.0
_LOOK_S = 0.05
_TAIL_BYTES = 20_000
_EDITED = str(Path(supervisor.__file__).with_name("edited_main.py"))


class Script:
    """The command, run once for each trial."""

    def __init__(self, parts: Split, scratch: Scratch, workspace: Workspace, steps_from: str | None = None) -> None:
        self._parts = parts
        self._scratch = scratch
        self._workspace = workspace
        self._steps_from = steps_from
        self._profile = target.needs_profile(target.source(parts))
        self._roots = target.user_roots(parts)

    def trial(
        self,
        plan: TrialPlan,
        environment: Mapping[str, str],
        arguments: Sequence[str] | None = None,
        edited: Sequence[str] = (),
        contents: Mapping[str, bytes] | None = None,
        wait: Callable[[float], None] = lambda seconds: None,
    ) -> Outcome:
        """Run it. ``environment``: of the changes; ``arguments`` instead of the script's own; ``edited``: the functions
        and lines that are changed as they are compiled; ``contents``: of files that differ in the trial. ``wait`` is
        called with the seconds since it began.
        """
        place = self._scratch.new()
        words = list(self._parts.script_arguments if arguments is None else arguments)
        manifest = Manifest(
            tfperfkit_run=1,
            argv=[target.printable(word) for word in (self._parts.target, *words)],
            cwd=target.printable(os.getcwd()),
            python="",
            probes=[],
            steps_from=self._steps_from,
            started_ns=now_ns(),
            started_wall_s=wall_s(),
            tool_version=__version__,
            user_roots=self._roots,
            trial=plan,
        )
        run = RunDirectory.create(place / "run", manifest)
        (place / "tmp").mkdir()
        named = (["-m"] if self._parts.is_module else []) + [self._parts.target]
        launcher = [_EDITED, *edited, "--"] if edited else []
        try:
            prepared = self._workspace.prepare(place, [*supervisor.interpreter(), *launcher, *named, *words], contents)
        except NotCovered as error:
            return Outcome(error=str(error))
        environ = {**supervisor.environment(run, self._profile), **_quiet(place), **environment}
        environ["TFPERF_PIN"] = "\n".join(f"{name}={value}" for name, value in environment.items())
        for name, value in environment.items():
            if not value:
                environ.pop(name, None)
        begun = now_ns()
        with open(place / "stdout", "wb") as out, open(place / "stderr", "wb") as err:
            process = subprocess.Popen(
                prepared.command,
                cwd=prepared.folder,
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
        try:
            self._scratch.running(process.pid)
            status = _wait(process, plan.limit_s + _GRACE_S, wait)
        finally:
            end_group(process.pid)
            process.wait()
            self._scratch.running(0)
        outcome = read(run.path, plan, begun, now_ns(), status, _last_words(place / "stderr"))
        views = self._workspace.views(place)
        patched = [
            top / Path(path).relative_to(root)
            for root, top in views
            for path in contents or {}
            if Path(path).is_relative_to(root)
        ]
        complete = not outcome.error and not outcome.end.stopped
        outputs = read_outputs(place / "stdout", [top for _, top in views], patched, complete)
        self._tidy(place)
        return msgspec.structs.replace(outcome, outputs=outputs)

    def _tidy(self, place: Path) -> None:
        """Remove the files that the trial wrote; its results stay for the comparison."""
        for item in place.iterdir():
            if item.name != "run":
                remove(item) if item.is_dir() else item.unlink(missing_ok=True)


def _wait(process: subprocess.Popen[bytes], limit_s: float, wait: Callable[[float], None]) -> int | None:
    begun = time.monotonic()
    while True:
        try:
            return process.wait(_LOOK_S)
        except subprocess.TimeoutExpired:
            passed = time.monotonic() - begun
            wait(passed)
            if passed > limit_s:
                return None


def quiet_environment(place: Path) -> dict[str, str]:
    """Our environment for a run in ``place`` that leaves nothing elsewhere."""
    return {**os.environ, **_quiet(place)}


def _quiet(place: Path) -> dict[str, str]:
    """Trackers of experiments stay on this machine, and temporary files in the trial's folder."""
    return {
        "TMPDIR": str(place / "tmp"),
        "WANDB_MODE": "offline",
        "WANDB_DIR": str(place / "tmp"),
        "MLFLOW_TRACKING_URI": (place / "tmp" / "mlruns").as_uri(),
        "NEPTUNE_MODE": "offline",
        "PYTHONHASHSEED": os.environ.get("PYTHONHASHSEED", "0"),
    }


def _last_words(file: Path) -> str:
    """Return the last line that the process wrote to stderr."""
    try:
        with file.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(size - _TAIL_BYTES, 0))
            lines = stream.read().decode("utf-8", "replace").split("\n")
    except OSError:
        return ""
    said = [line.strip() for line in lines if line.strip()]
    return said[-1][:300] if said else ""


def text_of(changes: Sequence[Change]) -> str:
    """Several changes as one."""
    return " + ".join(change.text for change in changes)
