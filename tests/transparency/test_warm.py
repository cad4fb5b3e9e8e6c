"""A program that begins in a fork, as most that train do here, is as good as one with a process of its own."""

from __future__ import annotations

from harness import Program, last_traceback, plainly, profiled, warm_python, without_logs
from training import COMMON

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


def test_a_fork_is_as_good_as_a_process() -> None:
    program = Program("asks", ASKS, arguments=("a", "é"), stdin=b"words")
    folder, warm = warm_python()
    ended, signalled = Program("ends", "raise SystemExit(7)"), Program("dies", "import os; os.kill(os.getpid(), 9)")
    assert [plainly(each, folder, warm).status for each in (ended, signalled)] == [7, -9]
    own, forked = plainly(program, folder), plainly(program, folder, warm)
    assert (own.status, b"Dimensions must be equal" in own.stderr) == (1, True)
    assert forked.stdout.decode() == own.stdout.decode()
    assert (forked.status, forked.files) == (own.status, own.files)
    assert last_traceback(without_logs(forked.stderr)) == last_traceback(without_logs(own.stderr))


LOOKS = """
import os, sys
there = "tensorflow.python" in sys.modules
print([name for name in ("tensorflow", "keras", "sitecustomize", "warm_begin") if name in sys.modules])
import tensorflow as tf
print(__file__, sys.argv, sys.orig_argv[1:], sys.path, sys.flags, __spec__, sys._getframe().f_back, sorted(os.environ))
print([type(each).__name__ for each in sys.meta_path], tf.__spec__.name, sys.stdin.read(), os.getcwd())
open("there", "w").write(str(there))
raise LookupError("at the end")
"""


def test_a_fork_under_us_is_as_good_as_a_process_under_us() -> None:
    folder, _ = warm_python()
    program = Program("looks", LOOKS, arguments=("a", "é"), stdin=b"words")
    own, forked = (profiled(program, folder, "none", forked=forked) for forked in (False, True))
    assert (own.files["there"], forked.files["there"]) == (b"False", b"True")
    assert forked.stdout.decode() == own.stdout.decode()
    assert forked.status == own.status == 1
    assert without_logs(forked.stderr) == without_logs(own.stderr)
