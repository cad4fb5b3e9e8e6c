"""Nothing listens but view, and that on this machine only."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import psutil
import pytest
from test_executed import list_called, trees


def listening(process: psutil.Process) -> set[tuple[str, int]]:
    """The addresses that a process and its descendants listen on."""
    found = set()
    for each in [process, *process.children(recursive=True)]:
        for connection in each.net_connections():
            if connection.status == psutil.CONN_LISTEN or (connection.type == socket.SOCK_DGRAM and connection.laddr):
                found.add((connection.laddr.ip, connection.laddr.port))
    return found


@pytest.mark.parametrize("environment", [{}, {"TENSORBOARD_BIND_ALL": "1", "HOST": "0.0.0.0", "TB_HOST": "0.0.0.0"}])
def test_view_listens_on_loopback_only(environment: dict[str, str], recorded: Path, tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfperfkit", "view", "--tensorboard", str(recorded), "--no-browser"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stdout is not None
        address = next(word for word in process.stdout.readline().split() if word.startswith("http"))
        base = address.partition("?")[0]
        found = listening(psutil.Process(process.pid))
        assert found == {("127.0.0.1", int(base.rstrip("/").rpartition(":")[2]))}
        with urllib.request.urlopen(base, timeout=200) as reply:
            # TensorBoard tells the browser what its page may load and who may frame it.
            assert "default-src 'self'" in reply.headers["Content-Security-Policy"]
            assert reply.headers["X-Content-Type-Options"] == "nosniff"
        for path in ("data/plugin/profile/data?run=../../..&tag=overview_page&host=x", "../../../../etc/passwd"):
            try:
                with urllib.request.urlopen(base + path, timeout=200) as reply:
                    assert b"root:" not in reply.read()
            except urllib.error.HTTPError:
                pass
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=200)


def test_no_other_command_listens(copied: Path, tmp_path: Path) -> None:
    """Looked at while the script of ``run`` waits, and by the system calls of none at all in the others' sources."""
    (tmp_path / "t.py").write_text("import sys; print('up', flush=True); sys.stdin.read()")
    process = subprocess.Popen(
        [sys.executable, "-m", "tfperfkit", "run", "--probes", "none", "--run-dir", "r", "t.py"],
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "up\n"
    assert listening(psutil.Process(process.pid)) == set()
    process.communicate(timeout=200)
    for name, tree in trees():
        assert not list_called(tree) & {"listen", "create_server", "serve_forever"}, name
