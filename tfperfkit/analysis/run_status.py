"""The command and its end, from what parent and script wrote down: either may have been killed."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from tfperfkit.analysis.window_deaths import stack_note, window_death
from tfperfkit.clock import NS_PER_S, start_ticks, this_machine
from tfperfkit.config import runs_folder
from tfperfkit.model import RunInfo, RunStatus
from tfperfkit.records.events import of_kind
from tfperfkit.storage.machine_limits import MACHINE_COSTS
from tfperfkit.storage.run_directory import Exit, Manifest, RunDirectory


def run_info(
    run: RunDirectory,
    manifest: Manifest,
    agent: dict[str, Any],
    events: Sequence[dict[str, Any]],
    ended: Exit | None = None,
) -> RunInfo:
    """``ended``: how the script ended, from the parent that has just seen it; else what it left in ``exit.json``."""
    ended = ended or read_exit(run)
    end = run.read_json("end.json")
    end = end if isinstance(end, dict) else {}
    versions = {**_texts(agent.get("versions")), **_texts(end.get("versions"))}
    if manifest.tool_version:
        versions["tfperfkit"] = manifest.tool_version
    machine: dict[str, Any] = {key: agent[key] for key in ("cpus", "platform") if key in agent}
    machine.update({key: end[key] for key in ("devices", "peak_rss_bytes", "children_cpu_s") if key in end})
    machine.update(_limits(run.read_json("machine.json")))
    machine.update(_pressure(agent.get("pressure"), end.get("pressure")))
    status, code = _status(ended) if ended is not None else (_status_unseen(agent, events), None)
    ended_ns = ended.ended_ns if ended is not None else _goodbye_ns(events)
    return RunInfo(
        argv=tuple(manifest.argv),
        exit_code=code,
        status=status,
        versions=versions,
        machine=machine,
        wall_s=(ended_ns - manifest.started_ns) / NS_PER_S if ended_ns else 0.0,
        directory=str(run.path),
        folder=_script_folder(manifest),
        handle=run.path.name if run.path.parent == runs_folder() else "",
        window_death=window_death(run, ended),
        watched=manifest.in_process,
        revision=manifest.revision,
    )


def _limits(known: Any) -> dict[str, float]:
    """Return the limits of the machine, see ``launch.machine``."""
    if not isinstance(known, dict):
        return {}
    values = {key: known.get(key) for key in ("float32_gflops", "copy_gb_per_s", "bfloat16_times")}
    costs = known.get("costs")
    values |= {key: costs.get(key) for key in MACHINE_COSTS} if isinstance(costs, dict) else {}
    return {key: float(value) for key, value in values.items() if isinstance(value, (int, float)) and value > 0}


def _pressure(before: Any, after: Any) -> dict[str, Any]:
    """Return the time that the system withheld from the script between two readings of ``recording.pressure``."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return {}
    numbers = {key: value for key, value in after.items() if isinstance(value, (int, float)) and value >= 0}
    counted = ("throttled_ns", "major_faults")
    return {
        key: value - before[key] if key in counted else value
        for key, value in numbers.items()
        if key not in counted or isinstance(before.get(key), (int, float))
    }


def ending_notes(
    agent: dict[str, Any], events: Sequence[dict[str, Any]], info: RunInfo, ended: Exit | None = None
) -> tuple[str, ...]:
    """List notes about the end of the run that the status does not show."""
    stack = stack_note(info.window_death) if info.window_death is not None else ""
    reported = ended.notes if ended is not None else []
    return (*filter(None, (stack,)), *reported, *_goodbye_notes(agent, events, info))


def _goodbye_notes(agent: dict[str, Any], events: Sequence[dict[str, Any]], info: RunInfo) -> tuple[str, ...]:
    if info.status == "running":
        return (f"The script still runs (process {agent.get('pid')}): this is what has been recorded until now.",)
    if info.status == "unknown":
        return ("Whether the script still runs can't be seen from here: this is what was recorded until now.",)
    if agent and not _goodbye_ns(events):
        return (f"The process ended abruptly ({info.status}); up to one second of data may be missing.",)
    if agent and info.exit_code is None and info.status in ("finished", "failed"):
        return ("tfperf itself was killed while the script ran: the script's exit code is not known.",)
    return ()


def _script_folder(manifest: Manifest) -> str:
    """Return the folder of a script; a module is looked for from the working folder."""
    target = manifest.argv[0] if manifest.argv else ""
    is_file = target.endswith((".py", ".pyz", ".zip")) or os.sep in target
    return os.path.dirname(os.path.join(manifest.cwd, target)) if is_file else manifest.cwd


def read_exit(run: RunDirectory) -> Exit | None:
    raw = run.read_json("exit.json")
    try:
        return msgspec.convert(raw, Exit) if raw is not None else None
    except msgspec.ValidationError:
        return None


def _status(ended: Exit) -> tuple[RunStatus, int | None]:
    code = ended.status
    if code is not None and code < 0:
        return "interrupted" if ended.interrupted else "killed", 128 - code
    if ended.interrupted:
        return "interrupted", code
    return "failed" if code or ended.failed else "finished", code


def _status_unseen(agent: dict[str, Any], events: Sequence[dict[str, Any]]) -> RunStatus:
    """Return the status of a script whose end nobody saw: known from its own goodbye, or because its process still
    exists.
    """
    if _goodbye_ns(events):
        return "failed" if any(e.get("failed") for e in of_kind(events, "end")) else "finished"
    pid, started = agent.get("pid"), agent.get("started_ticks")
    if not isinstance(pid, int):
        return "killed"  # nothing was recorded
    if not isinstance(started, int) or agent.get("machine") != this_machine():
        return "unknown"
    return "running" if start_ticks(pid) == started else "killed"


def _goodbye_ns(events: Sequence[dict[str, Any]]) -> int:
    times = [e.get("ns") for e in of_kind(events, "end")]
    return next((ns for ns in reversed(times) if isinstance(ns, int)), 0)


def _texts(value: Any) -> dict[str, str]:
    return {str(k): str(v) for k, v in value.items()} if isinstance(value, dict) else {}
