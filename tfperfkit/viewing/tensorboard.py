"""The parent's side of TensorBoard: start it, wait until its profile plugin answers, end it."""

from __future__ import annotations

import gzip
import json
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from tfperfkit.errors import UsageError
from tfperfkit.viewing.logdir import Shown

#: A machine under load may need long; one that needs longer than this is not going to answer.
START_SECONDS = 120.0
_LOOK_SECONDS = 0.05
_ROUTE = "data/plugin/profile/"


class TensorBoard:
    """A running server. ``url`` ends with a slash."""

    def __init__(self, process: subprocess.Popen[bytes], url: str, log: Path) -> None:
        self.process = process
        self.url = url
        self._log = log
        # Never through a proxy: it is this machine.
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))

    @classmethod
    def start(cls, logdir: Path, port: int, log: Path) -> TensorBoard:
        """Raises UsageError when it can't be started, with what to do."""
        if port:
            check_port(port)
        with log.open("wb") as errors:
            process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("server.py")), str(logdir), str(port)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=log.parent,
                start_new_session=True,  # a terminal's Ctrl-C is for us; we end it
            )
        try:
            reply = _first_line(process)
            if "url" not in reply:
                raise UsageError(_explain(str(reply.get("error") or last_words(log) or "it said nothing"), port))
            return cls(process, str(reply["url"]).rstrip("/") + "/", log)
        except BaseException:
            end(process)
            raise

    def wait_for(self, shown: list[Shown]) -> None:
        """Return when the plugin lists these traces and their hosts; raises UsageError if it won't."""
        deadline = time.monotonic() + START_SECONDS
        missing = {item.name for item in shown}
        while missing := missing - set(self._get("runs") or ()):
            if time.monotonic() > deadline:
                names = ", ".join(sorted(missing))
                raise UsageError(f"TensorBoard's profile plugin does not show {names}: tfperf doctor tells more")
            time.sleep(_LOOK_SECONDS)
        for item in shown:
            query = urllib.parse.urlencode({"run": item.name, "tag": "overview_page"})
            self._get(f"hosts?{query}")

    def link(self, item: Shown, tool: str = "overview_page") -> str:
        """Return the address of one trace's page."""
        query = urllib.parse.urlencode({"run": item.name, "tag": tool, "host": item.hosts[0]})
        return f"{self.url}?{query}#profile"

    def _get(self, route: str) -> Any:
        """Return the JSON of a route; None while it can't be had."""
        try:
            with self._opener.open(self.url + _ROUTE + route, timeout=START_SECONDS) as reply:
                body: bytes = reply.read()
                packed = reply.headers.get("Content-Encoding") == "gzip"
            return json.loads(gzip.decompress(body) if packed else body)
        except urllib.error.HTTPError as error:
            if error.code == 404:  # the server answers, and knows no such page
                reason = last_words(self._log) or "it does not say why"
                raise UsageError(f"TensorBoard could not load its profile plugin: {reason}") from None
            return None
        except (OSError, ValueError, EOFError):
            if self.process.poll() is not None:
                raise UsageError(f"TensorBoard has ended: {last_words(self._log) or 'it said nothing'}") from None
            return None

    def ended(self) -> str | None:
        """Return the last output of the process if it has ended by itself."""
        code = self.process.poll()
        if code is None:
            return None
        how = f"signal {-code}" if code < 0 else f"status {code}"
        return f"{how}: {last_words(self._log)}".rstrip(": ")

    def end(self) -> None:
        end(self.process)


def check_port(port: int) -> None:
    """Raises UsageError when something listens there already, or it may not be taken."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            reason = "is in use" if _in_use(error) else f"can't be used ({error.strerror})"
            raise UsageError(f"port {port} {reason}: give another --port, or none for a free one") from error


def end(process: subprocess.Popen[bytes]) -> None:
    """End the server and wait for it; closing its stdin is enough, unless it hangs."""
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            try:
                pipe.close()
            except OSError:
                pass
    try:
        process.wait(timeout=3)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def last_words(log: Path) -> str:
    """Return the last line of its log that is an error, else the last line; without control characters."""
    try:
        with log.open("rb") as file:
            file.seek(max(0, log.stat().st_size - 20_000))
            lines = [line.strip() for line in file.read().decode("utf-8", "replace").splitlines() if line.strip()]
    except OSError:
        return ""
    telling = [line for line in lines if re.match(r"\w*(Error|Exception)\b", line)] or lines
    return "".join(char if char.isprintable() else " " for char in telling[-1])[:300] if telling else ""


def _first_line(process: subprocess.Popen[bytes]) -> dict[str, Any]:
    lines: queue.Queue[bytes] = queue.Queue()
    assert process.stdout is not None
    threading.Thread(target=lambda out: lines.put(out.readline()), args=(process.stdout,), daemon=True).start()
    try:
        reply = json.loads(lines.get(timeout=START_SECONDS) or b"{}")
    except queue.Empty:
        raise UsageError(f"TensorBoard did not start within {START_SECONDS:.0f} s: tfperf doctor tells more") from None
    except ValueError:
        reply = {}
    return reply if isinstance(reply, dict) else {}


def _explain(error: str, port: int) -> str:
    if "PortInUse" in error:
        return f"port {port} is in use: give another --port, or none for a free one"
    if "pkg_resources" in error:
        advice = "pip install 'setuptools<81', or pip install 'tensorboard>=2.21'"
        return f"this TensorBoard needs an older setuptools: {advice}"
    text = "".join(char if char.isprintable() else " " for char in error)[:300]
    return f"TensorBoard can't be started ({text}): tfperf doctor tells more"


def _in_use(error: OSError) -> bool:
    import errno

    return error.errno == errno.EADDRINUSE
