"""Where the header, the report and its JSON go. Once the script has run, nothing that fails here may lose anything."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from tfperfkit.config import Setting
from tfperfkit.errors import TfperfError, UsageError
from tfperfkit.launch.forms import FORMS, Examples
from tfperfkit.report.text import one_line
from tfperfkit.storage.addresses import Store
from tfperfkit.storage.run_directory import Exit

if TYPE_CHECKING:
    from tfperfkit.tracking.destinations import Destination

#: The report with patches, of a report and the evidence that it was made from.
Patched = Callable[[Any, Any], Any]
#: Keeps something beside a run, of its folder, its report and the evidence that it was made from.
Keep = Callable[[Path, Any, Any], None]


def check_writable(setting: Setting, origin: str) -> None:
    """Refuse before the training starts what would fail after it; raises UsageError."""
    if not setting.value:
        return
    path = Path(setting.value)
    if path.is_dir():
        raise UsageError(f"{path} is a folder: name a file{origin}")
    try:
        with path.open("ab"):
            pass
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}; name another file{origin}") from error


@contextmanager
def report_file(path: str | None, default: TextIO | None) -> Iterator[TextIO]:
    """The file to report to. ``default`` is None where that stream is closed (``2>&-``): then nobody hears."""
    if not path and default is not None:
        yield default
        return
    try:
        # Line by line: a run that is killed leaves its header.
        file = open(path or os.devnull, "w", encoding="utf-8", errors="backslashreplace", buffering=1)
    except OSError as error:
        raise UsageError(f"can't write {path}: {error.strerror}") from error
    try:
        yield file
    finally:
        with suppress(OSError):  # a full disk; the rendering has said so
            file.close()


class Files(NamedTuple):
    """Where the report goes beside what a person reads."""

    json: Path | None = None
    html: Path | None = None


def report(
    folder: Path,
    files: Files,
    file: TextIO | None,
    ended: Exit,
    examples: Examples | None = None,
    track: Sequence[Destination] = (),
    patched: Patched | None = None,
    keep: Keep | None = None,
) -> None:
    """Analyse and render after the script has run: any failure becomes a line that says where the data is."""
    if file is None and not any(files) and not track:
        return
    try:
        from tfperfkit.analysis import summary
        from tfperfkit.analysis.analyze import study

        drawn = files.html is not None or bool(track)
        result, evidence = study(folder, ended=ended, pictures=drawn)
        summary.write(folder, result)
        if keep is not None:
            keep(folder, result, evidence)
        result = patched(result, evidence) if patched is not None else result
        with ExitStack() as forms:  # whoever reads the one must not lose the other
            if track:  # the last: it may take a while
                forms.callback(send, result, folder, track, examples)
            if files.html is not None:
                forms.callback(lambda target: write(FORMS["html"].write(result, examples), target), files.html)
            if files.json is not None:
                forms.callback(lambda target: write(FORMS["json"].write(result, examples), target), files.json)
            if file is not None:
                render(result, file)
    except BrokenPipeError:
        pass
    except KeyboardInterrupt:
        tell(f"interrupted; the report again: tfperf report {folder}")
    except (TfperfError, OSError) as error:
        tell(f"{error}; the run's data: {folder}")
    except Exception as error:
        tell(
            f"the report failed, which is a fault of tfperf ({type(error).__name__}: {error}); the run's data: {folder}"
        )


def send(result: Any, folder: Path, track: Sequence[Destination], examples: Examples | None) -> None:
    """To the trackers; a line for each."""
    from tfperfkit.report.html.render import no_examples
    from tfperfkit.tracking.send import send as send_all

    send_all(result, folder, track, examples or no_examples, tell)


def send_to(store: Store, folder: Path, part: str) -> None:
    """The run to its address, which is said in a line; where that fails the run stays where it is."""
    try:
        failure = store.send(folder, part)
    except KeyboardInterrupt:
        failure = "interrupted"
    if failure:
        tell(f"the run could not be sent to {store.address} ({failure}); it is kept in {folder}")
    else:
        tell(f"sent to {store.address}: tfperf report {store.address}")


def render(result: Any, file: TextIO) -> None:
    """Render for a person; raises OSError, BrokenPipeError above all."""
    from tfperfkit.report.console import render as render_console

    try:
        render_console(result, file=file)
        file.flush()
    except SystemExit:  # rich's answer to a reader that has gone; the exit status is not its to choose
        _silence(file)
        raise BrokenPipeError from None
    except OSError:
        _silence(file)
        raise


def _silence(file: TextIO) -> None:
    """What is left in its buffer must not fail once more as the interpreter ends: that would be exit status 120."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), file.fileno())


def write(document: bytes, target: Path) -> None:
    """Raises UsageError when it can't be written."""
    try:
        target.write_bytes(document)
    except OSError as error:
        raise UsageError(f"can't write {target}: {error.strerror}") from error


def tell(text: str) -> None:
    """One line of ours on stderr, if there is one."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(one_line(f"tfperf: {text}"), file=sys.stderr, flush=True)
