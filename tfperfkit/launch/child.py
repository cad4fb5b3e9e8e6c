"""Records that a child process of the script keeps about itself (``--children``): who it is, samples of its stack, its
time.

Loaded as a file by the bootstrap, as the agent is: nothing may be imported here that Python has not loaded at its
start, and a child finds nothing of us in ``sys.modules``. Each child writes its own records, a few times a second, so
that a child that is killed or leaves by ``os._exit`` keeps them. The first children have a part of their own below
``RUN/children``; of the others sums go into one file that all of them share.
"""

import os
import sys
from _thread import get_ident, start_new_thread
from time import monotonic_ns, process_time_ns, sleep  # bound now: a script may replace them

TYPE_CHECKING = False  # the name that mypy looks for, without importing typing into the script
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from types import FrameType

    from tfperfkit.launch.child_stacks import Stacks

#: Parts that are kept in whole; those that train may have more.
MAX_PARTS, MAX_TRAINING = 32, 48
#: Maximum size of a child's samples, and of the sums of all children that have no part.
_MAX_BYTES, _MAX_REST_BYTES = 2_000_000, 2_000_000
_NS_PER_S = 1_000_000_000
#: Seconds between two samples, up to which age in seconds: a child is often one of many, and each sample takes a
#: processor for 0.2 ms (see ``instruments.stacks.sampler``).
_PAUSES = ((2, 0.010), (30, 0.020), (1200, 0.050))
_LAST_PAUSE = 0.5
#: A child that lives for less is left in peace.
_FIRST_PAUSE = 0.005
#: Pauses between two writes: a child may live for less than any of these pauses.
_WRITES = ((0.1, 0.0), (5, 0.1))
_LAST_WRITE = 0.5
#: Descriptors of ours have high numbers, which a script does not come to.
_HIGH = 991


def quoted(text: str) -> str:
    """Return a text as JSON."""
    plain = text.encode("utf-8", "replace").decode().replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(sign if sign >= " " else f"\\u{ord(sign):04x}" for sign in plain) + '"'


def encoded(value: object) -> str:
    """None, numbers, texts, lists and dictionaries as JSON: ``json`` is the script's to import."""
    if isinstance(value, str):
        return quoted(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{quoted(str(key))}:{encoded(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(map(encoded, value)) + "]"
    if value is None:
        return "null"
    return str(value).lower() if isinstance(value, bool) else repr(value)


def _frames() -> "dict[int, FrameType]":
    """Return the innermost frame of each thread. No garbage may be collected meanwhile: see
    ``instruments.stacks.look``."""
    known = "gc" in sys.modules
    import gc

    if not known:
        del sys.modules["gc"]  # built in, as ``atexit`` below
    collects = gc.isenabled()
    gc.disable()
    try:
        return sys._current_frames()
    finally:
        if collects:
            gc.enable()


class Recorder:
    """The recording of this process. ``root``: the run directory of the script; ``roots``: see ``Manifest.user_roots``;
    The thread that makes it is the one that is looked at."""

    def __init__(self, root: str, roots: "Sequence[str]", method: str, stacks: "Stacks") -> None:
        self.root, self.method = root, method
        self.pid, self.began_ns, self._ticks = os.getpid(), monotonic_ns(), _ticks()
        self.part = ""  # the folder of this child's part; "" when it has none
        self.on_end: Callable[[], object] | None = None
        self.quiet = False  # a session samples now
        self._roots = roots
        self._thread = get_ident()
        self._stacks = stacks
        self._file = ""
        self._descriptor, self._identity = -1, (0, 0)
        self._pending: list[str] = []
        self._written = 0
        self._reported: dict[str, object] = {}
        self._next_write = self._next_sum = 0
        self._sums: dict[tuple[str, int, str], int] = {}
        self._last_ns = self.began_ns
        self._ended = False

    # --- life ---------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """On the main thread of the child, before anything of the script's runs in it. Raises OSError."""
        self.part = self.claim(MAX_PARTS)
        self._file = os.path.join(self.part or os.path.join(self.root, "children"), self._stream_file())
        self._open()
        self._look_around()
        self._sum()  # so that it is counted however short it lives
        self._write()
        self._hear_of_the_end()
        start_new_thread(self._run, ())

    def _stream_file(self) -> str:
        """Return the name of the file that is written: of a part, or of the rest."""
        return "records.jsonl" if self.part else "rest.jsonl"

    def claim(self, limit: int) -> str:
        """Make the folder of a part, if there is a number left for one, else ""."""
        above = os.path.join(self.root, "children")
        for number in range(1, limit + 1):
            folder = os.path.join(above, f"child-{number:04}")
            try:
                os.mkdir(folder)
            except FileExistsError:
                continue
            manifest = {
                "tfperfkit_run": 1,
                "argv": self._command(),
                "cwd": os.getcwd(),
                "python": sys.executable or "",
                "probes": [],
                "started_ns": self.began_ns,
                "user_roots": list(self._roots),
                "child": {"method": self.method, "pid": self.pid, "parent_pid": os.getppid(), "ticks": self._ticks},
            }
            descriptor = os.open(os.path.join(folder, "run.json"), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
            try:
                os.write(descriptor, encoded(manifest).encode())
            finally:
                os.close(descriptor)
            return folder
        return ""

    def claim_to_train(self) -> str:
        """Claim a folder for a child that trains, where it has none of its own."""
        return self.claim(MAX_TRAINING)

    def _command(self) -> "list[str]":
        words = list(getattr(sys, "orig_argv", sys.argv))
        return [word[:2000] for word in words[:200]]

    def _hear_of_the_end(self) -> None:
        known = "atexit" in sys.modules
        import atexit

        atexit.register(self._at_exit)
        if not known:
            del sys.modules["atexit"]  # built in: a script that imports it gets the same one
        # Children of multiprocessing end by os._exit, after what is asked for here.
        util = sys.modules.get("multiprocessing.util")
        if util is not None and self.method in ("fork", "forkserver"):
            util.register_after_fork(self, Recorder._in_process)

    def _in_process(self) -> None:
        util = sys.modules.get("multiprocessing.util")
        if util is not None and os.getpid() == self.pid:
            util.Finalize(None, self._process_ends, exitpriority=-1_000_000)

    def _process_ends(self) -> None:
        error = sys.exc_info()[1]
        code = error.code if isinstance(error, SystemExit) else 1 if error is not None else 0
        self.end(failed=bool(code))

    def _at_exit(self) -> None:
        self.end(failed=hasattr(sys, "last_value"))  # set when an exception was shown

    def end(self, failed: bool) -> None:
        """The goodbye; what comes after it is the interpreter's end."""
        if self._ended or os.getpid() != self.pid:
            return
        self._ended = True
        if self.on_end is not None:
            try:
                self.on_end()
            except BaseException:  # a Ctrl-C that comes now must not print a traceback of ours
                pass
        try:
            self._add_record("child/end", [monotonic_ns(), process_time_ns(), failed])
            self._sum(last=True, failed=failed)
            self._write()
        except BaseException:
            pass

    # --- the thread ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            _block_signals()
            sleep(_FIRST_PAUSE)
            jitter = 0.0
            while not self._ended:
                pause = self._tick()
                jitter = (jitter + 0.6180339887498949) % 1.0
                sleep(pause * (0.5 + jitter))
        except BaseException:  # the child goes on without it
            pass

    def _tick(self) -> float:
        now = monotonic_ns()
        age = (now - self.began_ns) / _NS_PER_S
        if not self.quiet:
            self._sample(now)
        if now >= self._next_write:
            self._next_write = now + int(_look_up(_WRITES, age, _LAST_WRITE) * _NS_PER_S)
            self._look_around()
            self._add_record("child/usage", [now, process_time_ns()])
            self._sum()
            self._write()
        return 0.2 if self.quiet else _look_up(_PAUSES, age, _LAST_PAUSE)

    def _sample(self, now: int) -> None:
        number = self._stacks.number(_frames().get(self._thread))
        passed, self._last_ns = now - self._last_ns, now
        if not self.part:
            leaf = self._stacks.leaves.get(number)
            if leaf is not None:
                self._sums[leaf] = self._sums.get(leaf, 0) + passed
            self._stacks.rows.clear()
            return
        for row in self._stacks.rows:
            self._add_record("child/samples", row)
        self._stacks.rows.clear()
        if number:
            self._add_record("child/samples", ["s", now, number, 0])

    def _look_around(self) -> None:
        """Note the name that multiprocessing gives this process, once it is known."""
        about: dict[str, object] = {"ns": self.began_ns}
        module = sys.modules.get("multiprocessing.process")
        process = getattr(module, "_current_process", None)
        if process is not None and getattr(process, "_parent_pid", None) is not None:
            target = getattr(process, "_target", None)
            about["process"] = str(getattr(process, "_name", ""))
            if target is not None:
                about["target"] = (
                    f"{getattr(target, '__module__', '')}:{getattr(target, '__qualname__', type(target).__qualname__)}"
                )
            elif "target" in self._reported:
                about["target"] = self._reported["target"]
            elif type(process).__module__.partition(".")[0] != "multiprocessing":
                about["target"] = f"{type(process).__module__}:{type(process).__qualname__}.run"
        if about != self._reported:
            self._reported = about
            self._add_record("child/about", about)

    # --- writing ------------------------------------------------------------------------------------------------

    def _add_record(self, stream: str, row: object) -> None:
        """Add a record of a part to what is written next."""
        if self.part:
            self._pending.append(f"[{quoted(stream)},{encoded(row)}]\n")

    def _sum(self, last: bool = False, failed: bool = False) -> None:
        """One row that takes the place of those before it, less and less often."""
        now = monotonic_ns()
        if self.part or (now < self._next_sum and not last):
            return
        self._next_sum = now + min(now - self.began_ns, 5 * _NS_PER_S) + _NS_PER_S // 50
        largest = sorted(self._sums.items(), key=lambda item: -item[1])[:5]
        row = {
            "pid": self.pid,
            "parent_pid": os.getppid(),
            "ticks": self._ticks,
            "began_ns": self.began_ns,
            "now_ns": now,
            "cpu_ns": process_time_ns(),
            "method": self.method,
            "argv": self._command()[:8],
            "ended": ("failed" if failed else "finished") if last else "",
            "lines": [[*line, ns] for line, ns in largest],
            **{key: value for key, value in self._reported.items() if key != "ns"},
        }
        self._pending.append(encoded(row) + "\n")

    def _write(self) -> None:
        if not self._pending or os.getpid() != self.pid:
            return
        data = "".join(self._pending).encode("utf-8", "replace")
        self._pending.clear()
        limit = _MAX_BYTES if self.part else _MAX_REST_BYTES
        if self._descriptor >= 0 and not self._is_ours():
            self._open()
        briefly = self._descriptor < 0
        descriptor = self._opened() if briefly else self._descriptor
        try:
            size = self._written if self.part else os.fstat(descriptor).st_size
            if size + len(data) <= limit:
                os.write(descriptor, data)  # whole, as it is short: others append to the file of sums, too
                self._written += len(data)
        finally:
            if briefly:
                os.close(descriptor)

    def _opened(self) -> int:
        return os.open(self._file, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0), 0o644)

    def _open(self) -> None:
        """Under a number that the script does not come to; if there is none, only for each write."""
        low = self._opened()
        try:
            for number in range(_HIGH, _HIGH - 30, -1):
                try:
                    os.fstat(number)
                except OSError:
                    self._descriptor = os.dup2(low, number, inheritable=False)
                    status = os.fstat(number)
                    self._identity = status.st_dev, status.st_ino
                    return
        except OSError:  # it may have so many only
            self._descriptor = -1
        finally:
            os.close(low)

    def _is_ours(self) -> bool:
        """Return whether a descriptor is still ours. A script may close all descriptors: the number may be another
        file's by now."""
        if self._descriptor < 0:
            return False
        try:
            status = os.fstat(self._descriptor)
        except OSError:
            return False
        return (status.st_dev, status.st_ino) == self._identity

    def forget(self) -> None:
        """In a forked child of this child: what is open is its parent's."""
        self._ended = True
        self._pending.clear()
        if self._is_ours():
            os.close(self._descriptor)
        self._descriptor = -1


def _look_up(table: "Sequence[tuple[float, float]]", age: float, last: float) -> float:
    """Return the value for an age."""
    return next((value for until, value in table if age < until), last)


def _ticks() -> "int | None":
    """As ``clock.start_ticks``, of this process: it tells whether it still runs when the report is made."""
    try:
        descriptor = os.open("/proc/self/stat", os.O_RDONLY)
        try:
            return int(os.read(descriptor, 4096).rpartition(b")")[2].split()[19])
        finally:
            os.close(descriptor)
    except (OSError, ValueError, IndexError):
        return None


def _block_signals() -> None:
    """They are for the script's threads: one that waits for a signal must get it."""
    module = sys.modules.get("_signal")
    if module is not None and hasattr(module, "pthread_sigmask"):
        module.pthread_sigmask(module.SIG_BLOCK, module.valid_signals())
