"""Windows of watch mode are looked into one by one, each once, by a process that ends with the script."""

from __future__ import annotations

from pathlib import Path

from tfperfkit.launch import window_reports
from tfperfkit.launch.window_reports import WindowReports


def window(run: Path, number: int, *, over: bool = True, known: bool = False) -> Path:
    folder = run / "windows" / f"{number:03}"
    folder.mkdir(parents=True)
    for name in ("end.json",) * over + ("summary.json",) * known:
        (folder / name).write_text("{}")
    return folder


def begun(reports: WindowReports) -> list[str]:
    """The arguments of what was begun last."""
    assert reports._process is not None
    words = reports._process.args
    assert isinstance(words, list)
    return [str(word) for word in words[1:]]


def test_those_that_are_over_and_not_known_yet_one_after_the_other(tmp_path: Path) -> None:
    reports = WindowReports(tmp_path)
    reports.look()  # no window so far
    window(tmp_path, 1, known=True)
    first, second = window(tmp_path, 2), window(tmp_path, 3)
    window(tmp_path, 4, over=False)
    reports.look()
    assert begun(reports) == ["-m", window_reports._MODULE, str(first)]
    process = reports._process
    assert process is not None
    process.kill()  # on a busy machine it may get no processor for long
    process.wait()
    reports.look()
    assert begun(reports)[-1] == str(second)
    process = reports._process
    reports.close()
    assert process is not None and process.returncode is not None
    reports.look()
    assert reports._process is None
    reports.close()
