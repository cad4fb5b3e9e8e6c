"""``tfperf mcp``: the server for coding agents."""

from __future__ import annotations

import click

from tfperfkit.commands import HELP


@click.command("mcp", context_settings=HELP, short_help="Serve coding agents on stdin and stdout (MCP).")
def serve_agents() -> None:
    """Serve coding agents: run, findings, explain, try, compare, check (Model Context Protocol on stdin and stdout)."""
    from tfperfkit.agents.command import serve

    serve()


COMMAND = serve_agents
