"""``tfperf mcp``: serves until its client leaves."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tfperfkit.errors import UsageError

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer

_MISSING = "tfperf mcp needs the Python SDK of the Model Context Protocol, version 2: pip install 'tfperfkit[agents]'"


def serve() -> None:
    """Serve the Model Context Protocol on stdin and stdout until stdin ends; raises UsageError without its SDK."""
    try:
        from tfperfkit.agents.server import make
    except ImportError as error:
        # Version 1 of the SDK has no ``mcp.server.mcpserver``; an error in our own modules is no missing package.
        if not (error.name or "").startswith(("mcp", "anyio", "pydantic")):
            raise
        raise UsageError(_MISSING) from None
    if sys.stdin.isatty():
        print("tfperf: waiting for a client on standard input, see docs/agents.md; Ctrl-C ends it", file=sys.stderr)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # so that what runs is ended, and has its report
    with tempfile.TemporaryDirectory(prefix="tfperf-mcp-", ignore_cleanup_errors=True) as files:
        _until_it_leaves(make(Path(files)))


def _until_it_leaves(server: MCPServer) -> None:
    """Wait for the client's end. A client that was killed takes no answer any more, which is no error of ours."""
    try:
        server.run()
    except BaseException as error:
        if not _only_broken_pipes(error):
            raise
        # The rest of the output would fail again when Python flushes at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _only_broken_pipes(error: BaseException) -> bool:
    inner = getattr(error, "exceptions", ())  # of an exception group, which Python 3.10 has from a package
    return all(map(_only_broken_pipes, inner)) if inner else isinstance(error, BrokenPipeError)
