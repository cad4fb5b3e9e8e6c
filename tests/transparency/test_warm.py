"""Plain Python that begins in a fork, as most programs that train are run plainly here, is plain Python."""

from __future__ import annotations

from pathlib import Path

from harness import Program, environment, last_traceback, plainly, without_logs
from training import COMMON
from warm import WarmPython

ASKS = (
    COMMON
    + """
import signal
tf.keras.utils.set_random_seed(1)
print(fingerprint(), __file__, sys.argv, __name__, __spec__, sys.modules['__main__'].__dict__ is globals())
print(os.getcwd(), os.getpid() == os.getsid(0), sorted(os.listdir('/proc/self/fd')), sys.stdin.read())
ours = [m for m in sys.modules if 'customize' in m and 'tfperf' in (getattr(sys.modules[m], '__file__', '') or '')]
print(sys.flags, sys.warnoptions, ours)
print([k for k in os.environ if k.startswith(('PYTHON', 'WARM'))], signal.getsignal(2), sys.stdout.line_buffering)
open('left', 'w').write('x')
@tf.function
def f(x): return tf.matmul(x, x)
print(float(tf.reduce_sum(f(tf.eye(3)))).hex(), flush=True)
def outer(): f(tf.ones([2, 3]))
outer()
"""
)


def test_a_fork_is_as_good_as_a_process(tmp_path: Path) -> None:
    program = Program("asks", ASKS, arguments=("a", "é"), stdin=b"words")
    folder = tmp_path / "work"
    folder.mkdir()
    warm = WarmPython("script.py", folder, environment(tmp_path / "runs"))
    ended, signalled = Program("ends", "raise SystemExit(7)"), Program("dies", "import os; os.kill(os.getpid(), 9)")
    assert [plainly(each, tmp_path, warm).status for each in (ended, signalled)] == [7, -9]
    own, forked = plainly(program, tmp_path), plainly(program, tmp_path, warm)
    assert (own.status, b"Dimensions must be equal" in own.stderr) == (1, True)
    assert forked.stdout.decode() == own.stdout.decode()
    assert (forked.status, forked.files) == (own.status, own.files)
    assert last_traceback(without_logs(forked.stderr)) == last_traceback(without_logs(own.stderr))
