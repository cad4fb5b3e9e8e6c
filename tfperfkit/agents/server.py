"""The tools as the Model Context Protocol's Python SDK serves them: names, arguments, descriptions."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path

from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from tfperfkit.agents.process import Tell
from tfperfkit.agents.tools import Refused, Tools
from tfperfkit.version import __version__

_INSTRUCTIONS = """tfperf tells what makes a TensorFlow 2 training script slow, where, and what to change.
Use: run (a script; a minute or two of it is enough), findings (of that run), fix (the patch of a finding, or a draft),
prove (measures the patch and compares the results), then apply the diff. Without a patch: explain, make the change,
then run and compare; or try (measures a change without editing the script). Figures name the window in which tfperf
measured them.
"predicted" is an estimated range, "measured" comes from pairs of runs with a 95 % interval; promise no other gain.
A run is named by its folder, its name, or "last" (of the project that `folder` is in)."""
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_RUNS = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=True)
_TRIES = ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=True)
_KINDS = {"run": _RUNS, "prove": _TRIES, "try": _TRIES, "check": _RUNS}


def make(files: Path) -> MCPServer:
    """Return a server whose ``run`` serves on stdin and stdout; ``files``: where it puts what is large."""
    server: MCPServer = MCPServer("tfperf", version=__version__, instructions=_INSTRUCTIONS, log_level="WARNING")
    tools = Tools(files)

    async def run(
        context: Context,
        script: str,
        arguments: list[str] | None = None,
        steps_from: str = "",
        max_seconds: float = 600.0,
        folder: str = "",
    ) -> str:
        """Profile a training script ("train.py" or "-m package.module") with its arguments, in a folder.

        Runs the script as it is, in this Python, and returns the first line of its report and the folder of the run.
        After max_seconds tfperf interrupts it as Ctrl-C does and reports what was recorded; 40 steps are enough.
        steps_from: the function whose call is one training step; needed only if tfperf finds no steps.
        """
        return await _answer(tools.run(script, arguments or [], steps_from, max_seconds, folder, _tell(context)))

    async def findings(context: Context, run: str = "last", folder: str = "") -> str:
        """Return the causes of a slow run: findings by id, the costliest first, each with gain, place, evidence and
        advice.

        Under 4 kB. The gains of other choices follow as headroom.
        """
        return await _answer(tools.findings(run, folder, _tell(context)))

    async def explain(context: Context, id: str, run: str = "last", folder: str = "") -> str:
        """Return all that is known of one finding (INP002, or INP002-2 for the second of that code) of a run.

        Places with source, evidence with its windows, advice, what was tried, and the page of the code with examples.
        """
        return await _answer(tools.explain(id, run, folder, _tell(context)))

    async def try_change(
        context: Context,
        what: str,
        run: str = "last",
        script: str = "",
        arguments: list[str] | None = None,
        seconds: float = 180.0,
        folder: str = "",
    ) -> str:
        """Measure what a change gains, without editing the script: pairs of short runs, as it is and changed.

        what: the id of a finding of the run, or an experiment such as "jit", "batch=x4", "threads=2,1", "prefetch".
        With script (and arguments), that script is run instead of the run's. seconds: for all runs together.
        """
        words = arguments or []
        return await _answer(tools.try_change(what, run, script, words, seconds, folder, _tell(context)))

    async def fix(context: Context, id: str, run: str = "last", folder: str = "") -> str:
        """Return the patch for one finding of a run as a unified diff, or a draft in the script's own lines.

        Nothing is written. A draft says what has to be decided. prove measures a patch.
        """
        return await _answer(tools.fix(id, run, folder, _tell(context)))

    async def prove(context: Context, id: str, run: str = "last", seconds: float = 300.0, folder: str = "") -> str:
        """Measure the patch of a finding: pairs of runs, as the script is and patched, on a view of its folder.

        Answers whether results stay, what it gains (95 % interval), and the diff if it is proven. Nothing is written.
        """
        return await _answer(tools.prove(id, run, seconds, folder, _tell(context)))

    async def compare(context: Context, run_a: str, run_b: str, folder: str = "") -> str:
        """Tell whether run B is faster or slower than run A by more than chance, by how much (95 % interval), and
        why."""
        return await _answer(tools.compare(run_a, run_b, folder, _tell(context)))

    async def check(
        context: Context,
        script: str,
        arguments: list[str] | None = None,
        base: str = "",
        seconds: float = 600.0,
        folder: str = "",
    ) -> str:
        """Tell whether a script keeps the budget in pyproject.toml ([tool.tfperf.budget]): pass, fail or undecided.

        base: a Git revision, against which its step time is measured in pairs of runs, in at most these seconds.
        """
        return await _answer(tools.check(script, arguments or [], base, seconds, folder, _tell(context)))

    added = {
        "run": run,
        "findings": findings,
        "explain": explain,
        "fix": fix,
        "prove": prove,
        "try": try_change,
        "compare": compare,
        "check": check,
    }
    for name, tool in added.items():
        server.add_tool(tool, name=name, annotations=_KINDS.get(name, _READS), structured_output=False)
    return server


async def _answer(answer: Awaitable[str]) -> str:
    """Raise an error of the tool, which the agent reads, if a call can't be answered."""
    try:
        return await answer
    except Refused as refused:
        raise ToolError(str(refused)) from None


def _tell(context: Context) -> Tell:
    async def tell(passed_s: float) -> None:
        await context.report_progress(passed_s, message=f"{passed_s:.0f} s")

    return tell
