"""``tfperf view --tensorboard``: several runs by name, ports, bad input, a clean end."""

from __future__ import annotations

import http.client
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
from tfperf_runner import Tfperf
from viewed import need_viewer, viewing
from viewed import run as run


def copy_of(run: Path, target: Path) -> Path:
    shutil.copytree(run, target)
    return target


def trace_of(run: Path) -> Path:
    return next(run.glob("trace/plugins/profile/*/*.xplane.pb"))


def test_several_runs_are_there_by_name_and_nothing_is_written_beside_them(tfperf: Tfperf, run: Path) -> None:
    first = copy_of(run, tfperf.runs / "small batch & <b>")
    second = copy_of(run, tfperf.folder / "elsewhere" / "second")
    before = {path for folder in (first, second) for path in folder.rglob("*")}
    with viewing(tfperf, first.name, second, run) as viewed:
        names = {name for name, _ in viewed.links}
        assert names == {"small_batch____b_", "second", "gan"}
        assert set(viewed.get("data/plugin/profile/runs")) == names
        for name in names:
            assert viewed.get("data/plugin/profile/data", run=name, tag="overview_page", host=trace_of(run).name[:-10])
        assert all(link.startswith("http://127.0.0.1:") for link in viewed.links.values())
    assert {path for folder in (first, second) for path in folder.rglob("*")} == before


def test_requests_for_other_names_are_refused(tfperf: Tfperf, run: Path) -> None:
    """Refuse a page on the web that lets its own name lead to 127.0.0.1."""
    with viewing(tfperf, run) as viewed:
        port = int(viewed.base.rstrip("/").rpartition(":")[2])
        for host, status in (("evil.example", 403), (f"evil.example:{port}", 403), (f"localhost:{port}", 200)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=200)
            connection.request("GET", "/data/plugin/profile/runs", headers={"Host": host})
            answer = connection.getresponse()
            assert answer.status == status, host
            connection.close()


def test_the_port_is_the_one_asked_for_and_open_on_loopback_only(tfperf: Tfperf, run: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with viewing(tfperf, "--port", str(port), run) as viewed:
        assert viewed.base == f"http://127.0.0.1:{port}/"
        listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
        own = [line.split() for line in listening.splitlines() if f":{port:04X} " in line]
        assert {row[1].partition(":")[0] for row in own if row[3] == "0A"} == {"0100007F"}
        said = tfperf.refuses("view", "--tensorboard", run, "--port", str(port))
        assert f"port {port} is in use" in said and "--port" in said


def test_sigterm_ends_it_and_its_server_and_leaves_no_folder(tfperf: Tfperf, run: Path, tmp_path: Path) -> None:
    need_viewer()
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    process = tfperf.start("view", "--tensorboard", run, env={"TMPDIR": str(temporary)})
    assert process.stdout is not None and "overview" in process.stdout.readline()
    server = _children(process.pid)
    assert len(server) == 1
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=200)
    assert process.returncode == 143
    assert not Path(f"/proc/{server[0]}").exists()
    assert list(temporary.iterdir()) == []


def test_a_killed_view_leaves_no_server_behind(tfperf: Tfperf, run: Path) -> None:
    need_viewer()
    process = tfperf.start("view", "--tensorboard", run)
    assert process.stdout is not None and "overview" in process.stdout.readline()
    server = _children(process.pid)[0]
    process.kill()
    process.communicate(timeout=200)
    while Path(f"/proc/{server}").exists() and _state(server) != "Z":
        time.sleep(0.05)  # the test's own time limit ends this


def test_bad_input_is_one_line(tfperf: Tfperf, run: Path) -> None:
    assert "no such run" in tfperf.refuses("view", "--tensorboard", "nowhere")
    assert "--port" in tfperf.refuses("view", "--tensorboard", run, "--port", "70000")
    no_trace = copy_of(run, tfperf.folder / "no-trace")
    shutil.rmtree(no_trace / "trace")
    said = tfperf.refuses("view", "--tensorboard", no_trace)
    assert "no-trace has no trace" in said and "--probes tfprof" in said
    empty = copy_of(run, tfperf.folder / "empty")
    trace_of(empty).write_bytes(b"")
    assert "is empty" in tfperf.refuses("view", "--tensorboard", run, empty)
    cut = copy_of(run, tfperf.folder / "cut")
    data = trace_of(cut).read_bytes()
    trace_of(cut).write_bytes(data[: len(data) // 2])
    assert "is damaged" in tfperf.refuses("view", "--tensorboard", cut)
    trace_of(cut).write_bytes(b"\xff" * 1000)
    assert "is damaged at byte 0" in tfperf.refuses("view", "--tensorboard", cut)


def test_a_tensorboard_that_fails_is_one_line(tfperf: Tfperf, run: Path) -> None:
    """As TensorBoard 2.19 and 2.20 do with a setuptools of 81 or newer, and as a broken install does."""
    package = tfperf.script("", "broken/tensorboard/__init__.py").parent
    for source, word in (("import no_such_package", "tfperf doctor"), ("raise SystemExit(3)", "tfperf doctor")):
        (package / "program.py").write_text(source)
        said = tfperf.refuses("view", "--tensorboard", run, env={"PYTHONPATH": str(package.parent)})
        assert "TensorBoard can't be started" in said and word in said
    (package / "program.py").write_text("raise ModuleNotFoundError(\"No module named 'pkg_resources'\")")
    assert "setuptools<81" in tfperf.refuses("view", "--tensorboard", run, env={"PYTHONPATH": str(package.parent)})


def test_without_tensorboard_it_says_what_to_install(tfperf: Tfperf, run: Path) -> None:
    hide = "import importlib.metadata as m, tfperfkit.cli as c\n" + (
        "real = m.version\n"
        "def version(name):\n"
        "    if name in hidden: raise m.PackageNotFoundError(name)\n"
        "    return real(name)\n"
        "m.version = version\n"
        "c.main()\n"
    )
    for hidden, word in (("tensorboard", "TensorBoard: not installed"), ("xprof", "xprof")):
        names = {hidden, "tensorboard-plugin-profile"} if hidden == "xprof" else {hidden}
        done = subprocess.run(
            [sys.executable, "-c", f"hidden = {names!r}\n{hide}", "view", "--tensorboard", str(run)],
            capture_output=True,
            text=True,
            cwd=tempfile.gettempdir(),
            env={**os.environ},
            timeout=200,
            check=False,
        )
        assert done.returncode == 2 and done.stdout == ""
        assert word in done.stderr and "pip install" in done.stderr and done.stderr.count("\n") == 1


def test_a_browser_is_opened_where_there_is_one(tfperf: Tfperf, run: Path) -> None:
    opened = tfperf.folder / "opened"
    program = tfperf.script(f'#!/bin/sh\necho "$1" >> {opened}\n', "browser")
    program.chmod(0o755)
    screen = {"DISPLAY": ":99", "BROWSER": str(program), "CI": ""}
    with viewing(tfperf, run, "--no-browser", env=screen):
        assert not opened.exists()
    with viewing(tfperf, run, env={**screen, "CI": "true"}):
        assert not opened.exists()
    with viewing(tfperf, run, env=screen) as viewed:
        while not opened.exists() or not opened.read_text().endswith("\n"):
            time.sleep(0.05)  # it is opened after the address was printed
        assert opened.read_text().strip() == viewed.links["gan", "overview"]


def _children(process: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]


def _state(process: int) -> str:
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


def test_a_large_trace_is_announced_with_what_it_costs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from tfperfkit.viewing import command

    file = tmp_path / "plugins" / "profile" / "big" / "host.xplane.pb"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"x" * 1000)
    command._warn_of_size(tmp_path)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(command, "_LARGE_BYTES", 999)
    command._warn_of_size(tmp_path)
    assert "the trace of big has" in capsys.readouterr().err


def test_the_page_of_a_run_is_written_and_its_address_printed(tfperf: Tfperf, run: Path) -> None:
    shown = tfperf("view", run, "--no-browser")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert shown.stdout == f"{(run / 'report.html').as_uri()}\n"
    assert (run / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert "--port is for --tensorboard" in tfperf.refuses("view", run, "--port", "80")


def test_a_link_in_the_run_is_not_followed_to_write_the_page(tfperf: Tfperf, run: Path, tmp_path: Path) -> None:
    page, target = run / "report.html", tmp_path / "mine.txt"
    target.write_text("mine")
    page.unlink(missing_ok=True)
    page.symlink_to(target)
    try:
        shown = tfperf("view", run, "--no-browser")
        assert shown.returncode == 0, shown.stderr
        assert page.as_uri() not in shown.stdout and shown.stdout.startswith("file:///")
        assert target.read_text() == "mine"
    finally:
        page.unlink()
