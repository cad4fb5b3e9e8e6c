"""``tfperf mcp``: the server for coding agents."""

from __future__ import annotations

from tfperfkit.commands import HELP
from tfperfkit.commands._common_options import verbose
from tfperfkit.commands._help import Command


def _serve_agents() -> None:
    from tfperfkit.agents.command import serve

    serve()


COMMAND = Command(
    "mcp",
    callback=_serve_agents,
    params=[verbose()],
    short_help="Serve coding agents on stdin and stdout (MCP).",
    help="""Serve coding agents with the tools run, findings, explain, fix, prove, try, compare and check.

    The agent starts this command and speaks the Model Context Protocol on stdin and stdout. Needs the protocol's SDK:
    pip install 'tfperfkit[agents]'.""",
    context_settings=HELP,
)
