"""Children of all kinds, threads, asyncio."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same

PROGRAMS = [
    Program(
        "threads",
        """
import threading, time
printed = {n: threading.Event() for n in (0, 2, 4)}
def work(n):
    if n: printed[n - 2].wait()
    print(n, threading.current_thread().name, flush=True); printed[n].set()
threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
print([t.name for t in threading.enumerate()], flush=True)
def bad(): raise RuntimeError('in a thread')
t = threading.Thread(target=bad, name='bad'); t.start(); t.join()
for n in (4, 2, 0): threading.Thread(target=work, args=(n,)).start()  # the interpreter waits for them
""",
        shows=b"Exception in thread bad",
    ),
    *(
        Program(
            f"multiprocessing {method}",
            f"""
import multiprocessing, os, sys
class Item:
    def __init__(self, n): self.n = n
def work(item): return item.n ** 2, type(item).__module__, sorted(os.environ), sys.path, 'tfperfkit' in sys.modules
def fail(): sys.exit(4)
if __name__ == '__main__':
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool: print(pool.map(work, map(Item, range(4))))
    process = context.Process(target=fail); process.start(); process.join(); print(process.exitcode)
""",
            shows=b"]\n4",
        )
        for method in ("fork", "spawn", "forkserver")
    ),
    Program(
        "fork",
        """
import os, sys
pid = os.fork()
if pid == 0:
    print('child'); sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
""",
        shows=b"child\n5",
    ),
    Program(
        "child processes",
        """
import subprocess, sys
code = 'import os, sys; print(sorted(os.environ.items()), sys.path, len(sys.modules))'
print(subprocess.run([sys.executable, '-c', code], capture_output=True).stdout)
""",
        shows=b"HOME",
    ),
    Program(
        "exec",
        """
import os, sys
if len(sys.argv) > 1: print('again', len(sys.modules)); sys.exit(9)
sys.stdout.flush()
os.execv(sys.executable, [sys.executable, *sys.argv, 'x'])
""",
        status=9,
        shows=b"again",
    ),
    Program(
        "pickle",
        """
import pickle
class A: pass
data = pickle.dumps(A())
open('a.pickle', 'wb').write(data)
print(type(pickle.loads(data)), A.__module__)
""",
        shows=b"__main__.A",
    ),
    Program(
        "asyncio",
        """
import asyncio
async def f(): await asyncio.sleep(0); print('in'); raise OSError('é')
asyncio.run(f(), debug=False)
""",
        status=1,
        shows=b"OSError",
    ),
    Program(
        "concurrent.futures",
        """
import concurrent.futures as f, os, sys
def work(n):
    if n == 3: raise LookupError(n)
    return n * n, sorted(m for m in sys.modules if 'tfperf' in m), 'TFPERF_RUN_DIRECTORY' in os.environ
def die(): os._exit(13)
if __name__ == '__main__':
    with f.ThreadPoolExecutor(2) as pool: print(list(pool.map(work, range(3))))
    with f.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(work, range(3))))
        try: pool.submit(work, 3).result()
        except LookupError as e: print('from the child', e, type(e.__cause__).__name__)
    with f.ProcessPoolExecutor(1) as pool:
        try: pool.submit(die).result()
        except f.process.BrokenProcessPool as e: print(e)
""",
        shows=b"terminated abruptly",
    ),
    Program(
        "children that leave by os._exit, a signal, an exception",
        """
import multiprocessing, os, signal, sys
def leave(how):
    print('child', how, flush=True)
    if how == 'hard': os._exit(17)
    if how == 'killed': os.kill(os.getpid(), signal.SIGKILL)
    if how == 'text': sys.exit('gone')
    if how == 'raises': raise OSError(5, how)
    if how == 'interrupted': signal.raise_signal(signal.SIGINT)
if __name__ == '__main__':
    for method in ('fork', 'spawn'):
        for how in ('hard', 'killed', 'text', 'raises', 'none', 'interrupted'):
            p = multiprocessing.get_context(method).Process(target=leave, args=(how,), name=how)
            p.start(); p.join(); print(p.exitcode, flush=True)
""",
        shows=b"Process raises:",
    ),
    Program(
        "queues, managers, shared memory",
        """
import multiprocessing, numpy as np
from multiprocessing import shared_memory
def fill(queue, name, values):
    block = shared_memory.SharedMemory(name)
    np.ndarray((4,), 'f', block.buf)[:] = 7
    block.close(); queue.put(len(values)); values.append('child')
if __name__ == '__main__':
    context = multiprocessing.get_context('spawn')
    block = shared_memory.SharedMemory(create=True, size=16)
    with context.Manager() as manager:
        values, queue = manager.list([1, 2]), context.Queue()
        p = context.Process(target=fill, args=(queue, block.name, values)); p.start()
        print(queue.get()); p.join(); print(p.exitcode, list(values), np.ndarray((4,), 'f', block.buf).sum())
    block.close(); block.unlink()
""",
        shows=b"0 [1, 2, 'child'] 28.0",
    ),
    Program(
        "other Python programs",
        """
import os, runpy, subprocess, sys
for command in (['other.py', 'a'], ['-m', 'other', 'b'], ['-c', 'import other']):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    print(done.returncode, done.stdout, done.stderr)
print(os.system(f'"{sys.executable}" other.py system; echo $?'))
print(subprocess.Popen([sys.executable, '-c', 'print(1)'], env={}).wait())
runpy.run_path('other.py', run_name='__main__')
""",
        files=(
            (
                "other.py",
                """
import sys, tensorflow
if 'runpy' not in sys.modules: print(sorted(sys.modules), sys.meta_path[0])
print(__name__, sys.argv)
sys.exit(8)
""",
            ),
            ("tensorflow.py", "print('a stand-in', flush=True)"),
        ),
        status=8,
        shows=b"a stand-in",
    ),
    Program(
        "fork that goes on",
        """
import atexit, os, sys, threading
atexit.register(lambda: print('end of', 'parent' if os.getpid() == me else 'child', flush=True))
me = os.getpid()
os.register_at_fork(before=lambda: print('before', flush=True), after_in_child=lambda: print('in child', flush=True))
if os.fork() == 0:
    import tensorflow
    print(len(threading.enumerate()), tensorflow.x)
    raise KeyError('child')
print(os.waitstatus_to_exitcode(os.wait()[1]))
if os.fork() == 0: os.execl(sys.executable, sys.executable, '-c', 'import os; print(sorted(os.environ))')
print(os.waitstatus_to_exitcode(os.wait()[1]))
""",
        files=(("tensorflow.py", "x = 1"),),
        shows=b"in child",
    ),
    Program(
        "becomes a daemon",
        """
import os, sys, time
if os.fork():
    os.wait()
    while not (os.path.exists('log') and open('log').read()): time.sleep(.01)
    print(open('log').read()); sys.exit(3)
os.setsid()
if os.fork(): os._exit(0)
os.closerange(3, 64)
log = os.open('log', os.O_CREAT | os.O_WRONLY)
os.write(log, f'daemon {os.getsid(0) != 0} {log}'.encode())
os._exit(0)
""",
        status=3,
        shows=b"daemon True 3",
    ),
    Program(
        "waits for any child",
        """
import os, signal
got = []
signal.signal(signal.SIGCHLD, lambda n, f: got.append(n))
try: os.wait()
except ChildProcessError as e: print(e)
for code in (1, 2):
    if os.fork() == 0: os._exit(code)
print(sorted(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(2)), bool(got))
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
if os.fork() == 0: os._exit(0)
try: os.wait()
except ChildProcessError as e: print(e)
""",
        shows=b"[1, 2] True",
    ),
    Program(
        "asyncio with signals and processes",
        """
import asyncio, os, signal, sys
async def main():
    loop = asyncio.get_running_loop()
    loop.set_debug(True); loop.slow_callback_duration = 99  # else it tells of slow machines
    stop = asyncio.Event()
    loop.add_signal_handler(signal.SIGTERM, stop.set)
    p = await asyncio.create_subprocess_exec(sys.executable, '-c', 'print(5); raise SystemExit(4)', stdout=-1)
    print(await p.communicate(), p.returncode)
    loop.call_later(.05, os.kill, os.getpid(), signal.SIGTERM)
    await stop.wait()
    print(await asyncio.to_thread(sum, [1, 2]), len(asyncio.all_tasks()))
    asyncio.create_task(asyncio.sleep(9), name='left')
    results = await asyncio.gather(asyncio.sleep(0, 1), asyncio.wait_for(asyncio.sleep(9), .01), return_exceptions=True)
    print([type(r).__name__ for r in results])
asyncio.run(main())
""",
        shows=b"TimeoutError",
    ),
    Program(
        "asyncio interrupted",
        """
import asyncio, signal
async def main():
    try:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        await asyncio.sleep(9)
    finally:
        print('cleaned up')
asyncio.run(main())
""",
        status=-2,
        shows=b"cleaned up",
    ),
    Program(
        "locals of threads and contexts",
        """
import contextvars, queue, threading
var, local, out = contextvars.ContextVar('var', default=0), threading.local(), queue.Queue()
def work(n):
    var.set(n); local.x = n
    out.put((var.get(), local.x, threading.current_thread().name, threading.active_count()))
ts = [threading.Thread(target=contextvars.copy_context().run, args=(work, n)) for n in range(3)]
for t in ts: t.start(); t.join()
print([out.get() for _ in ts], var.get(), vars(local), threading.get_native_id() == __import__('os').getpid())
threading.Timer(.05, print, ['timer']).start()
threading.settrace(None); threading.setprofile(None); threading.stack_size(2 ** 20)
t = threading.Thread(target=print, args=('small',)); t.start(); t.join()
""",
        shows=b"small\ntimer",
    ),
    Program(
        "pickles of its own classes",
        """
import copyreg, dataclasses, io, multiprocessing.reduction, pickle, pickletools, sys
@dataclasses.dataclass
class Config: rate: float = .1
def make(): return Config(.5)
class Lazy:
    def __reduce__(self): return make, ()
data = pickle.dumps([Config(), Lazy(), Config], protocol=4)
pickletools.dis(pickletools.optimize(data))
print(pickle.loads(data), sys.modules['__main__'].Config is Config)
try: pickle.dumps(lambda: 0)
except Exception as e: print(type(e))
""",
        shows=b"__main__",
    ),
]


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
