"""``tfperf mcp``: serves until its client leaves."""

from __future__ import annotations

import signal
import sys
import tempfile
from pathlib import Path

from tfperfkit.errors import UsageError

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
        make(Path(files)).run()
