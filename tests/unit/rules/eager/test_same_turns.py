"""Whether a call computes the same in each turn of a loop around it, by the source alone."""

from __future__ import annotations

import pytest
from defined_names import with_definitions
from evidence_builder import FILE, make_evidence
from tfperfkit_rules.measures.same_iterations import find_same_iterations

from tfperfkit.records.samples import Frame

HEAD = "import numpy as np\nimport tensorflow as tf\nmodel = tf.keras.Sequential([])\n"


def loop_of(source: str) -> int | None:
    """The line of the loop for the call at the line that ends in ``# here``; what leads there ends in ``# 1``."""
    lines = with_definitions(HEAD + source).splitlines()
    ends = {line.rpartition("# ")[2]: number for number, line in enumerate(lines, 1) if "# " in line}
    way = [ends[word] for word in sorted(ends) if word.isdigit()] + [ends["here"]]
    evidence = make_evidence(source="\n".join(lines) + "\n")
    syntax = evidence.syntax(FILE)
    assert syntax is not None
    here = syntax.find_line_calls(ends["here"])
    call = next(call for call in here if call.function.text in ("model", "forward", "self.net"))
    found = find_same_iterations(evidence, [Frame(FILE, 1, "f", line) for line in way], call)
    return found.line - len(HEAD.splitlines()) if found is not None else None


@pytest.mark.parametrize(
    ("source", "line"),
    [
        # a sweep, with the pass written out
        ("for t in levels:\n    for x, y in data:\n        p = model(x)  # here\n        hits += (p > t) & y\n", 1),
        # slices of an array
        ("for t in levels:\n    for i in range(0, 9000, 100):\n        p = model(x[i : i + 100])  # here\n", 1),
        # a function, handed to another
        (
            "def f1(t):\n    for x, y in data:\n        p = model(x, training=False)  # here\n"
            "max(levels, key=f1)  # 1\n",
            4,
        ),
        # a function that is given what differs, and what does not
        (
            "def score(net, t):\n    for x in data:\n        p = model(x)  # here\n"
            "best = [score(model, t) for t in levels]  # 1\n",
            4,
        ),
        # all of a gallery, for each query
        ("for query in queries:\n    known = model(gallery)  # here\n    rank(known, query)\n", 1),
        # a method
        (
            "class Search:\n    def __init__(self, net):\n        self.net = net\n    def ask(self, query):\n"
            "        return query @ self.net(items)  # here\nsearch = Search(model)\n"
            "for q in queries:\n    search.ask(q)  # 1\n",
            7,
        ),
        # until something holds
        ("k = 0\nwhile k < 9:\n    p = model(x)  # here\n    k += 1\n", 2),
        # a compiled function
        (
            "@tf.function\ndef forward(x):\n    return model(x, training=False)\n"
            "for t in levels:\n    for x in data:\n        forward(x)  # here\n",
            4,
        ),
    ],
)
def test_the_same_in_each_turn(source: str, line: int) -> None:
    assert loop_of(source) == line


@pytest.mark.parametrize(
    "source",
    [
        "for x in data:\n    model(x)  # here\n",
        # what it gets follows from the turn, however far away
        "for e in levels:\n    for x in data:\n        z = x + e\n        model(z)  # here\n",
        "def ask(x, e):\n    return model(x + e)  # here\n"
        "for e in levels:\n    for x in data:\n        ask(x, e)  # 1\n",
        # from the turn before
        "z = start\nfor k in range(9):\n    z = z - model(z)  # here\n",
        "for k in range(9):\n    for x in data:\n        state = model(x, state)  # here\n",
        # drawn at random
        "for k in range(9):\n    for x in data:\n        model(tf.image.random_crop(x, (9, 9, 3)))  # here\n",
        "for k in range(9):\n    for x in data:\n        model(x, training=True)  # here\n",
        # of several models
        "for model in models:\n    for x in data:\n        model(x)  # here\n",
        "def ask(model):\n    for x in data:\n        model(x)  # here\nfor m in models:\n    ask(m)  # 1\n",
        # weights change
        "for epoch in range(9):\n    for x in data:\n        model(x)  # here\n    model.load_weights(files[epoch])\n",
        "def learn():\n    opt.apply_gradients(g)\n"
        "for e in range(9):\n    learn()\n    for x in data:\n        model(x)  # here\n",
        "@tf.function\ndef forward(x):\n    seen.assign_add(1)\n    return model(x)\n"
        "for e in range(9):\n    forward(x)  # here\n",
        # data are written, read or made in the loop
        "for e in range(9):\n    x[e] = 0\n    model(x)  # here\n",
        "for e in range(9):\n    np.random.shuffle(x)\n    model(x)  # here\n",
        "for e in range(9):\n    data = make()\n    for x in data:\n        model(x)  # here\n",
        "for e in range(9):\n    model(camera.read())  # here\n",
        "while going:\n    x = model(x)  # here\n",
        # the iterable in a header is evaluated once, before the first iteration
        "for at, x in data:\n    for (r, c), kind in zip(at.numpy(), model(x).numpy()):  # here\n        f(r)\n",
        "for x in data:\n    rows += [int(kind) for kind in model(x)]  # here\n",
        "def ask(x):\n    return model(x)  # here\nfor x in data:\n    for y in ask(x).numpy():  # 1\n        f(y)\n",
        "class A:\n    def look(self):\n        self.x = 1\n    def ask(self):\n        model(self.x)  # here\n"
        "for e in levels:\n    a.ask()  # 1\n",
    ],
)
def test_what_differs_from_turn_to_turn(source: str) -> None:
    assert loop_of(source) is None
