"""A headless Firefox, driven through a socket by its own protocol, Marionette: one page, and what its console says."""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Any

#: Port 0: the system chooses, and the profile says which. The other settings: ask nobody for anything.
_SETTINGS = """
user_pref("marionette.port", 0);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.enabled", false);
user_pref("app.update.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""
_FLAGS = ("--headless", "--no-remote", "--marionette", "--remote-allow-system-access")
#: Console output of pages: their own errors and warnings, not those of the browser's own parts.
_SAID = """
return Services.console.getMessageArray().filter((item) => item instanceof Ci.nsIScriptError)
  .filter((item) => item.sourceName.startsWith(arguments[0]) || /content|csp/i.test(item.category))
  .map((item) => `${item.category}: ${item.errorMessage} (${item.sourceName.slice(0, 200)})`);
"""


def find() -> str | None:
    """The browser's program."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """Waiting has an end only so that a test can't hang; nothing here measures time."""

    def __init__(self, profile: Path) -> None:
        program = find()
        assert program
        profile.mkdir(parents=True, exist_ok=True)
        (profile / "user.js").write_text(_SETTINGS, encoding="utf-8")
        self._process = subprocess.Popen(
            [program, *_FLAGS, "--profile", str(profile), "about:blank"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"HOME": str(profile)},
        )
        self._socket = socket.create_connection(("127.0.0.1", self._port(profile)), timeout=200)
        self._number = 0
        self._buffer = b""
        self._message()  # who speaks there
        self("WebDriver:NewSession", capabilities={})

    def _port(self, profile: Path) -> int:
        end = time.monotonic() + 200
        while True:
            assert self._process.poll() is None and time.monotonic() < end, "Firefox does not start"
            for kept in profile.glob("MarionetteActivePort"):
                if text := kept.read_text():
                    return int(text)
            time.sleep(0.2)

    def __call__(self, command: str, **parameters: Any) -> Any:
        """Send a command and wait for its answer."""
        self._number += 1
        text = json.dumps([0, self._number, command, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(text), text))
        _, number, error, result = self._message()
        assert number == self._number and error is None, error
        return result.get("value") if isinstance(result, dict) and set(result) == {"value"} else result

    def _message(self) -> Any:
        while b":" not in self._buffer:
            self._read()
        length, _, self._buffer = self._buffer.partition(b":")
        while len(self._buffer) < int(length):
            self._read()
        text, self._buffer = self._buffer[: int(length)], self._buffer[int(length) :]
        return json.loads(text)

    def _read(self) -> None:
        data = self._socket.recv(1 << 16)
        assert data, "the browser has ended"
        self._buffer += data

    def open(self, url: str) -> None:
        """Comes back when the page was loaded."""
        self("WebDriver:Navigate", url=url)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; what it throws fails the test."""
        return self("WebDriver:ExecuteScript", script=f"return {expression};", args=[])

    def said(self, page: str) -> list[str]:
        """Errors and warnings of the pages that were open, as the console has them."""
        self("Marionette:SetContext", value="chrome")
        found: list[str] = self("WebDriver:ExecuteScript", script=_SAID, args=[page])
        self("Marionette:SetContext", value="content")
        return found

    def size(self, width: int, height: int) -> None:
        """Set the size of the page: a window has a frame, and without a screen a smallest width."""
        self("WebDriver:SetWindowRect", width=width, height=height)

    def screenshot(self) -> bytes:
        return base64.b64decode(self("WebDriver:TakeScreenshot", full=False, hash=False))

    def __enter__(self) -> Firefox:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._socket.close()
        self._process.terminate()
        try:
            self._process.wait(timeout=200)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
