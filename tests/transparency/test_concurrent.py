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
def work(n):
    time.sleep(n / 20); print(n, threading.current_thread().name, flush=True)
threading.Thread(target=time.sleep, args=(99,), daemon=True).start()
print([t.name for t in threading.enumerate()], flush=True)
def bad(): raise RuntimeError('in a thread')
t = threading.Thread(target=bad, name='bad'); t.start(); t.join()
for n in (4, 2, 0): threading.Thread(target=work, args=(n,)).start()  # the interpreter waits for them
""",
        shows=b"Exception in thread bad",
    ),
    *(
        Program(f"multiprocessing {method}", f"""
import multiprocessing, os, sys
class Item:
    def __init__(self, n): self.n = n
def work(item): return item.n ** 2, type(item).__module__, sorted(os.environ), sys.path, 'tfperfkit' in sys.modules
def fail(): sys.exit(4)
if __name__ == '__main__':
    context = multiprocessing.get_context({method!r})
    with context.Pool(2) as pool: print(pool.map(work, map(Item, range(4))))
    process = context.Process(target=fail); process.start(); process.join(); print(process.exitcode)
""", shows=b"]\n4") for method in ("fork", "spawn", "forkserver")
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
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
