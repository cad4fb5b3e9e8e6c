"""A headless Chromium, driven through a pipe by the DevTools protocol: real pages, asked for what they display."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType
from typing import Any

#: Reads the text that the page shows, in its frames too, and what it has drawn on canvases since it was loaded.
_SHOWN = """
(() => {
  const texts = [], drawn = [];
  const visit = (page) => {
    if (page.document.body) texts.push(page.document.body.innerText);
    drawn.push(...(page.drawnTexts || []));
    for (let i = 0; i < page.frames.length; i++) { try { visit(page.frames[i]); } catch (error) {} }
  };
  visit(window);
  return {text: texts.join("\\n"), drawn};
})()
"""
_RECORD = """
window.drawnTexts = new Set();
const fillText = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
  window.drawnTexts.add(String(text));
  return fillText.call(this, text, ...rest);
};
"""
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-features=IsolateSandboxedIframes",  # in a process of their own their text could not be asked for
    "--no-first-run",
    "--window-size=1400,1000",
    "--remote-debugging-pipe",
)
#: The browser reads descriptor 3 and writes 4.
_LAUNCH = """
import fcntl, os, sys
ends = [fcntl.fcntl(int(number), fcntl.F_DUPFD, 10) for number in sys.argv[1:3]]
for number, end in zip((3, 4), ends):
    os.dup2(end, number)
os.execvp(sys.argv[3], sys.argv[3:])
"""


def find() -> str | None:
    """The browser's program."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """One page. Waiting has an end only so that a test can't hang; nothing here measures time."""

    def __init__(self, profile: Path) -> None:
        program = find()
        assert program
        to_browser, ours = os.pipe()
        answers, from_browser = os.pipe()
        command = [sys.executable, "-c", _LAUNCH, str(to_browser), str(from_browser), program, *_FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._out, self._in = os.fdopen(ours, "wb"), os.fdopen(answers, "rb")
        self._number = 0
        self._buffer = b""
        #: Messages that the browser sent by itself, in the enabled domains.
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self("Page.enable")
        self("Page.addScriptToEvaluateOnNewDocument", source=_RECORD)

    def __call__(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command and wait for its answer; what comes before it is kept in ``events``."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._out.write(json.dumps(message).encode() + b"\0")
        self._out.flush()
        while True:
            answer = self._message()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer
                result: dict[str, Any] = answer["result"]
                return result
            if "method" in answer:
                self.events.append(answer)

    def _message(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            data = os.read(self._in.fileno(), 1 << 16)
            assert data, "the browser has ended"
            self._buffer += data
        first, _, self._buffer = self._buffer.partition(b"\0")
        message: dict[str, Any] = json.loads(first)
        return message

    def open(self, url: str) -> None:
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=url)

    def shown(self) -> tuple[str, list[str]]:
        """All text of the page, and the texts that were drawn."""
        script = _SHOWN.replace("page.drawnTexts || []", "Array.from(page.drawnTexts || [])")
        value = self("Runtime.evaluate", expression=script, returnByValue=True)["result"].get("value") or {}
        return str(value.get("text", "")), list(value.get("drawn", []))

    def wait(self, *words: str, drawn: tuple[str, ...] = (), seconds: float = 250) -> tuple[str, list[str]]:
        """Until the page shows all of it."""
        end = time.monotonic() + seconds
        while True:
            text, painted = self.shown()
            missing = [word for word in words if word not in text] + [word for word in drawn if word not in painted]
            if not missing:
                return text, painted
            assert time.monotonic() < end, f"the page does not show {missing}, but: {text[:2000]!r} {painted[:200]}"
            time.sleep(0.2)

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page; what it throws fails the test."""
        made = self("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in made, made["exceptionDetails"]
        return made["result"].get("value")

    def size(self, width: int, height: int, *, scale: float = 1, phone: bool = False) -> None:
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale, mobile=phone)

    def screenshot(self, file: Path) -> bytes:
        picture = base64.b64decode(self("Page.captureScreenshot", format="png")["data"])
        file.write_bytes(picture)
        return picture

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self._process.terminate()
        try:
            self._process.wait(timeout=200)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._out.close()
        self._in.close()
