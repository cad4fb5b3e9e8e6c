"""Whatever the script's source looks like, no rule fails, neither in steps nor in other work."""

from __future__ import annotations

import pytest
from eager_builder import eager_evidence, seen, site, sites
from evidence_builder import FILE, make_steps
from work_builder import CALL, PREDICT, sampled, work_evidence

from tfperfkit.diagnosis.rules import apply
from tfperfkit.records.samples import Frame
from tfperfkit.records.steps import Loop

IMPORTS = "import gc, json\nimport numpy as np\nimport tensorflow as tf\nimport keras\n"
#: Asks for much that rules look for, in unusual forms.
UNUSUAL = """\
@(lambda f: f)
@tf.function(*options, **{"jit_compile": True})
async def train(self, *rows, seed=(n := 3), **words):
    async for x, *rest in feed(*rows, **words):
        match x:
            case {"image": image, **other} if (y := image[None]) is not None:
                yield await self.model(*rest, **other)
            case [first, *_] | (first, _):
                del rest[:], self.rows[first]
            case _:
                global total
                total += 1
    exec("rows = []")
    f"{x!r:>{n}}" f"{(lambda: (yield))()}"

while (chunk := next(iter(data), None)) is not None:
    history = np.append(*[history, chunk])
    total[...], (a, *b) = [*a, *b], chunk
    model = keras.Sequential([*layers]); model.compile(**how); model.fit(*chunk, **how)
    kept = [model.predict(x)[0] for x, y in zip(*chunk) for _ in range(y) if y]
    tape.gradient(*chunk), minimize(*chunk, jac=False), queue.get(**how)
    tf.map_fn(lambda x: x[0], chunk), json.dump(kept, open(*how)), gc.collect()
    tf.random.set_seed(1) if chunk else tf.constant([[1.0, 2], *kept])
    [tf.keras.layers.Dense(1)(chunk) for chunk in chunk]
    w[:] = (lambda *a, k=1, **b: a)(*b)(**{})[0].x().y[::2]
try:
    ...
except* (ValueError, OSError) as error:
    raise error from None
"""
SOURCES = {
    "unusual": IMPORTS + UNUSUAL.replace("except*", "except"),
    "not Python": IMPORTS + "def f(:\n    for x in\n" * 5,
    "Python 2": "import tensorflow as tf\nprint 'x'\nexec code in scope\n",
    "nothing": "",
    "null": IMPORTS + "x = '\0'\n",
    "a long sum": IMPORTS + f"for x in data:\n    loss = {' + '.join(['model(x)'] * 700)}\n    model.fit(loss)\n",
    "a long chain": IMPORTS + f"data = tf.data.Dataset.range(9){'.map(f)' * 300}\nfor x in data:\n    step(x)\n",
    "many branches": IMPORTS
    + "def f(n):\n    if n:\n        pass\n"
    + "".join(f"    elif n == {n}:\n        n = np.append(n, model.predict(n))\n" for n in range(400)),
    "generated": IMPORTS + "".join(f"def f{n}(x):\n    for y in x:\n        f{n - 1}(y)\n" for n in range(3_000)),
}
STEPS = make_steps(loop=Loop(FILE, 3))
CALLED = (None, (), (CALL,), (PREDICT,), ("tensorflow.python.framework.ops:__next__",))
DOING = ("python", "eager_ops", "dispatch", "host_sync", "graph", "tracing", "saving")


def frames(text: str) -> list[tuple[str, Frame]]:
    """Return a frame on some lines of a source, with its activity. Analysing a loop of a long source takes seconds."""
    last = max(text.count("\n"), 1)
    parts = 20 if last < 5_000 else 5
    lines = sorted({1 + last * part // parts for part in range(parts)})
    pairs = [(doing, called) for doing in DOING for called in CALLED]
    return [
        (doing, Frame(FILE, 1, "f", line, None if called else (line, line, 4, 9), called))
        for line in lines
        for doing, called in pairs[line % 3 :: 3]
    ]


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES.keys())
def test_no_rule_fails_in_steps(text: str) -> None:
    samples, log = seen(STEPS, [(9, doing, (frame,)) for doing, frame in frames(text)])
    reached = sites(site(1, "apply", 3, 2, loops=(2,)), site(2, "batch", 5, loops=(4,)), site(3, "call", 4, loops=(3,)))
    given = {"tracing": 9.0, "graph": 9.0, "python": 9.0, "saving": 9.0, "gc": 9.0, "input": 9.0}
    evidence = eager_evidence(source=text, parts=given, samples=samples, log=log, records=reached)
    assert apply(evidence)[1] == []


@pytest.mark.parametrize("text", SOURCES.values(), ids=SOURCES.keys())
def test_no_rule_fails_in_other_work(text: str) -> None:
    stacks = [sampled(9, doing, frame) for doing, frame in frames(text)]
    evidence = work_evidence(text, stacks, loop=3, iterations=30, hits=dict.fromkeys(range(1, 30), 90))
    assert apply(evidence)[1] == []
