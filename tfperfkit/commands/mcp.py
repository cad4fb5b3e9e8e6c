"""``tfperf mcp``: the server for coding agents."""

from __future__ import annotations

from tfperfkit.commands import HELP
from tfperfkit.commands._help import Command


def _serve_agents() -> None:
    from tfperfkit.agents.command import serve

    serve()


COMMAND = Command(
    "mcp",
    callback=_serve_agents,
    short_help="Serve coding agents on stdin and stdout (MCP).",
    help="""Serve coding agents: run, findings, explain, try, compare, check.

    The protocol is the Model Context Protocol on stdin and stdout. Needs its SDK: pip install 'tfperfkit[agents]'.""",
    context_settings=HELP,
)
