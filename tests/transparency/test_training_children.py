"""Scripts that train next to other things: children, pools, threads, asyncio, signals."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import Program, assert_same
from training import STEPS

#: The steps of the windows that these programs step into; the probe ``input`` looks at 2, 3, 150 and 151.
#: Functions are named, so that the window of lines opens whatever the samples of so short a run have seen.
WINDOWS = (
    "--lines",
    "work,one_step,train",
    "--window",
    "lines=20:30",
    "--window",
    "devices=55:20",
    "--window",
    "tfprof=80:30",
)

FORKS = (
    STEPS
    + """
import multiprocessing, threading, time, warnings
warnings.simplefilter('ignore', DeprecationWarning)  # Python 3.12 warns of forks, before or after the child's words
def in_child(n): return n, work(n).numpy().sum(), sys.gettrace() is None or 'traced', os.getpid() != me
me, children = os.getpid(), []
def wait(pid): children.append(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
def fork(n):
    sys.stdout.flush(); sys.stderr.flush()
    pid = os.fork()
    if pid: return wait(pid)
    if n % 3 == 0: print('child', n, sum(range(n)), flush=True); os._exit(n)
    if n % 3 == 1: work_without_tensorflow(n); raise KeyError(f'child {n}')
    sys.exit(f'child {n} leaves')
def work_without_tensorflow(n):
    for i in range(n): n += i
    print('worked', n, flush=True)
def each(n):
    if n in (2, 30, 31, 32, 60, 61, 62, 90, 91, 92, 150, 155): fork(n)
    if n in (35, 95):
        with multiprocessing.get_context('fork').Pool(1) as pool: children.extend(pool.map(abs, [-1, 2]))
train(170, each)
print(children, hexed(losses), fingerprint())
"""
)

TRAINING_CHILDREN = """
import multiprocessing, os, sys
def child(seed, out):
    SOURCE = open('steps.txt').read()
    names = {'__name__': 'child'}
    exec(compile(SOURCE, 'steps.txt', 'exec'), names)
    names['train'](60)
    ours = sorted(m for m in sys.modules if m.partition('.')[0] in ('tfperfkit', 'msgspec'))
    out.put((seed, names['hexed'](names['losses']), ours))
    out.close(); out.join_thread()
    if seed == 2: os._exit(21)
    if seed == 3: raise LookupError('in a child')
def start(method, seed):
    context = multiprocessing.get_context(method)
    out = context.Queue()
    process = context.Process(target=child, args=(seed, out), name=f'{method} {seed}')
    process.start(); print(out.get()); process.join(); print(process.exitcode, flush=True)
if __name__ == '__main__':
    start('fork', 2)  # before the parent itself loads TensorFlow
    SOURCE = open('steps.txt').read()
    exec(compile(SOURCE, 'steps.txt', 'exec'), globals())
    def each(n):
        if n == 30: start('spawn', 3)
        if n == 35 and sys.argv[1:]: start('forkserver', 1)
    train(130, each)
    print(hexed(losses))
"""

ASYNCIO = (
    STEPS
    + """
import asyncio, concurrent.futures, contextvars, signal
var = contextvars.ContextVar('var', default=0)
async def prepare(n):
    await asyncio.sleep(0); var.set(n); return n
async def main():
    loop = asyncio.get_running_loop()
    got = []
    loop.add_signal_handler(signal.SIGUSR1, got.append, 'usr1')
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        for n in range(80):
            await asyncio.gather(prepare(n), asyncio.sleep(0))
            train(1)
            await loop.run_in_executor(pool, train, 1)
            if n in (15, 30, 45): os.kill(os.getpid(), signal.SIGUSR1); await asyncio.sleep(.01)
    print(got, var.get(), len(asyncio.all_tasks()))
    async def fails(): train(1); await asyncio.to_thread(compiled, tf.ones([2]))
    try:
        async with asyncio.timeout(60): await fails()
    except ValueError as e: print(type(e).__name__, hexed(losses))
    raise asyncio.CancelledError('é')
asyncio.run(main())
"""
)

THREADS = (
    STEPS
    + """
import queue, threading
class Trainer(threading.Thread):
    def run(self):
        data = tf.data.Dataset.range(150).map(lambda x: tf.cast(x, tf.float32) / 100).batch(2).prefetch(2)
        w = tf.Variable(1.); sgd = tf.keras.optimizers.SGD(.01); self.losses = []
        @tf.function
        def step(x):
            with tf.GradientTape() as tape: loss = tf.reduce_mean((w - x) ** 2)
            sgd.apply_gradients([(tape.gradient(loss, w), w)]); return loss
        for x in data: self.losses.append(step(x))
threads = [Trainer(name=f'trainer {n}') for n in range(3)]
for t in threads: t.start()
train(150)
for t in threads: t.join()
print([hexed(t.losses) == hexed(threads[0].losses) for t in threads], hexed(threads[0].losses), hexed(losses))
q = queue.Queue(2)
def produce():
    for n in range(60): q.put(np.full(6, n, 'f'))
    q.put(None)
threading.Thread(target=produce, daemon=True).start()
results = []
while (x := q.get()) is not None: results.append(compiled(x)[0])
print(hexed(results))
def forever():
    while True: compiled(tf.ones([6]))
threading.Thread(target=forever, daemon=True).start()
train(5); print(fingerprint()['threads'][:1], flush=True); os._exit(6)
"""
)

SIGNALS = (
    STEPS
    + """
import signal
got = []
class Stop(Exception): pass
def handler(n, frame):
    got.append((n, frame.f_code.co_name))
    if n == signal.SIGUSR2: raise Stop(done[0])
for n in (signal.SIGUSR1, signal.SIGUSR2): signal.signal(n, handler)
def each(n):
    if n % 10 == 0: os.kill(os.getpid(), signal.SIGUSR1)
    if n % 15 == 0: signal.raise_signal(signal.SIGUSR2)
while done[0] < 160:
    try: train(160 - done[0], each)
    except Stop as e: print('stopped at', e, e.__traceback__.tb_next.tb_next.tb_next.tb_frame.f_code.co_name)
print(got, hexed(losses))
for n in range(1, 13):
    try: train(5, lambda m: signal.raise_signal(signal.SIGINT) if m % 5 == n % 5 else None)
    except KeyboardInterrupt as e:
        names, tb = [], e.__traceback__
        while tb: names.append(tb.tb_frame.f_code.co_name); tb = tb.tb_next
        print(names)
signal.signal(signal.SIGTERM, lambda n, f: sys.exit(f'terminated in {f.f_code.co_name}'))
train(40, lambda n: n % 30 == 0 and os.kill(os.getpid(), signal.SIGTERM))
"""
)

CLOSES = (
    STEPS
    + """
import resource
train(30)
os.closerange(3, 4096)  # as those do that become a daemon
files = [open(f'file {n}', 'w') for n in range(12)]
train(130)
for f in files: f.write(f.name); f.close()
os.mkdir('elsewhere'); os.chdir('elsewhere'); os.umask(0o777)
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
train(30); print(hexed(losses), sorted(os.listdir('..')))
os.umask(0o022)
sys.stdout.flush(); os.dup2(os.open('out', os.O_CREAT | os.O_WRONLY), 1); print('to the file', flush=True)
sys.path[:] = []; sys.meta_path[:] = []; sys.modules.clear()
"""
)

#: It limits itself before it imports TensorFlow, and takes now and then every descriptor that it may have.
FEW = (
    """
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
"""
    + STEPS
    + """
def every():
    taken = []
    try:
        while True: taken.append(os.open('/dev/null', os.O_RDONLY))
    except OSError as e: print('at most 24:', max(taken) < 24, e.errno)
    return taken
held = []
def each(n):
    if n % 25 == 10: held.extend(every())
    if n % 25 == 17: [os.close(d) for d in held]; held.clear()
train(160, each); print(hexed(losses))
train(20, lambda n: n % 40 or print(len(os.listdir('.'))))
"""
)

#: It sees what is opened on other threads than its own, and which numbers its own files get. TensorFlow's profiler logs
#: on a thread that has a table of descriptors of its own.
NUMBERS = (
    """
import sys, threading
events, mine = set(), threading.get_ident()
def note(event, args):
    if threading.get_ident() != mine and event in ('open', 'import', 'os.listdir', 'os.scandir', 'fcntl.fcntl'):
        events.add((event, str(args[0])))
sys.addaudithook(note)
"""
    + STEPS
    + """
numbers = set()
def each(n):
    for _ in range(40):
        numbers.add(d := os.open(os.devnull, os.O_RDONLY)); os.close(d)
train(170, each)
print(len(numbers), sorted(e for e in events if not e[1].endswith('profiler.log')), hexed(losses))
"""
)


def closes(inherited: int) -> Program:
    return Program(
        f"closes what it did not open, {inherited} inherited",
        CLOSES,
        options=WINDOWS,
        shows=b"0x1",
        stderr="logs",
        inherited=inherited,
    )


PROGRAMS = [
    Program("numbers of its files", NUMBERS, own_import=True, options=WINDOWS, shows=b"1 []", stderr="logs"),
    Program(
        "forks",
        FORKS,
        options=WINDOWS,
        shows=b"KeyError: 'child 31'",
        stderr="logs",
    ),
    Program(
        "children that train",
        TRAINING_CHILDREN,
        files=(("steps.txt", STEPS),),
        options=WINDOWS,
        shows=b"LookupError: in a child",
        stderr="logs",
    ),
    Program("asyncio", ASYNCIO, options=WINDOWS, status=1, shows=b"CancelledError", stderr="logs", since=(3, 11)),
    Program("threads", THREADS, options=WINDOWS, status=6, shows=b"[True, True, True]", stderr="logs"),
    Program("signals", SIGNALS, options=WINDOWS, status=1, shows=b"terminated in", stderr="logs"),
    Program(
        "few descriptors from the start", FEW, own_import=True, options=WINDOWS, shows=b"at most 24", stderr="logs"
    ),
    *(closes(n) for n in (0, 3)),
]

LONG = [
    Program(
        "children that train, by each method",
        TRAINING_CHILDREN,
        arguments=("all",),
        files=(("steps.txt", STEPS),),
        options=WINDOWS,
        shows=b"LookupError: in a child",
        stderr="logs",
    ),
    *(closes(n) for n in (1, 6, 10)),
]


@pytest.mark.parametrize(
    "program", [*PROGRAMS, *(pytest.param(program, marks=pytest.mark.long) for program in LONG)], ids=str
)
def test_same_as_plain_python(program: Program, tmp_path: Path) -> None:
    assert_same(program, tmp_path)
