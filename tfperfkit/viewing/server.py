"""TensorBoard with its profile plugin, in a process of its own: ``python server.py LOGDIR PORT``.

Started by ``tensorboard.py`` as a file, without the package: whatever it or XProf's C++ code prints or breaks stays
here. It writes one JSON line to stdout, ``{"url": ...}`` or ``{"error": ...}``, and ends when its stdin ends, so it
never outlives its parent.
"""

import json
import os
import sys
import threading
from urllib.parse import urlsplit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def main(logdir: str, port: str) -> None:
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != here]
    answer = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    try:
        reply = {"url": serve(logdir, port)}
    except BaseException as error:
        reply = {"error": f"{type(error).__name__}: {error}"}
    print(json.dumps(reply), file=answer, flush=True)
    if "error" not in reply:
        threading.Event().wait()


def serve(logdir: str, port: str) -> str:
    """Start the server; gives its address."""
    from importlib.metadata import entry_points

    # The plugin imports TensorFlow for capturing from a remote server only, which costs 2.5 s and is not for here.
    # Before xprof the plugin could not do without.
    plugin = next(iter(entry_points(group="tensorboard_plugins", name="profile")))
    if plugin.value.startswith("xprof"):
        sys.modules["tensorflow"] = None  # type: ignore[assignment]
    from tensorboard import program
    from tensorboard.plugins.core.core_plugin import CorePluginLoader

    def server(app: "Any", flags: "Any") -> "Any":
        return program.create_port_scanning_werkzeug_server(own_names_only(app), flags)

    board = program.TensorBoard([CorePluginLoader(), plugin.load()], server_class=server)
    board.configure(
        argv=[
            "tensorboard",
            "--logdir",
            logdir,
            "--host",
            "127.0.0.1",
            "--port",
            port,
            "--load_fast",
            "false",
            "--reload_interval",
            "0",
        ]
    )
    url: str = board.launch()
    return url


def own_names_only(app: "Any") -> "Any":
    """Refuse requests for other names than this machine's own: a page on the web may let its name lead to 127.0.0.1
    (DNS rebinding), and its scripts may then ask as if they were ours. TensorBoard itself does not look."""

    def guarded(environ: "Any", start_response: "Any") -> "Any":
        try:
            name = urlsplit(f"//{environ.get('HTTP_HOST', '')}").hostname
        except ValueError:
            name = None
        if name in ("127.0.0.1", "localhost", "::1"):
            return app(environ, start_response)
        start_response("403 Forbidden", [("Content-Type", "text/plain")])
        return [b"tfperf view answers to 127.0.0.1 and localhost only\n"]

    return guarded


def end_with_parent() -> None:
    """The pipe of stdin closes when the parent has ended, however it ended."""
    while os.read(0, 1024):
        pass
    os._exit(0)


if __name__ == "__main__":
    threading.Thread(target=end_with_parent, daemon=True).start()
    main(*sys.argv[1:3])
