"""Random programs of tf.functions that call one another several times, and where each of their products must be told.

Run as a script with seeds: builds each program with TensorFlow, has its graph optimised, and compares the claims about
each product that runs (the lines that lead to it, forward or backward) with what the program's own structure says.
Prints one JSON list of differences: [] if there is none.
"""

from __future__ import annotations

import importlib.util
import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

LEVELS = 3
NAMES = ("leaf", "middle", "outer", "step")


class Call(NamedTuple):
    """``target = stop?(level(source * factor))``; ``line``: where it stands."""

    level: int
    target: str
    source: str
    stopped: bool
    line: int


class Program(NamedTuple):
    """Bodies by level (0: the product itself) and what each returns; of the last level, what the loss is made of."""

    text: str
    bodies: tuple[tuple[Call, ...], ...]
    results: tuple[tuple[str, ...], ...]


def program(seed: int, methods: bool) -> Program:
    """``methods``: the functions are methods of one name, as the ``call`` of Keras models is."""
    rng = random.Random(seed)
    # AutoGraph keeps what it converted by the code, whatever its file: so each program has its own names and factors.
    weight = f"w_{seed}_{methods}"
    lines = ["import tensorflow as tf", f"{weight} = tf.Variable(tf.random.normal((8, 8)))", ""]
    bodies: list[tuple[Call, ...]] = [()]
    results: list[tuple[str, ...]] = [("y",)]

    def head(level: int) -> str:
        lines.extend([f"class {NAMES[level].title()}:"] if methods else [])
        indent = "    " if methods else ""
        lines.append(f"{indent}@tf.function")
        name = "call" if methods else NAMES[level]
        lines.append(f"{indent}def {name}({'self, ' if methods else ''}x):")
        return indent + "    "

    def called(level: int) -> str:
        return f"{NAMES[level].title()}_().call" if methods else NAMES[level]

    indent = head(0)
    lines.append(f"{indent}return tf.matmul(x, {weight})")
    factor = 1000 * seed + 500 * methods
    for level in range(1, LEVELS + 1):
        indent = head(level)
        last = level == LEVELS
        if last:
            lines.append(f"{indent}with tf.GradientTape() as tape:")
            indent += "    "
        known, body = ["x"], []
        for number in range(rng.randint(2, 3)):
            inner = level - 1 if number == 0 else rng.randrange(level)
            factor += 1
            call = Call(inner, f"v{number}", rng.choice(known), rng.random() < 0.3, len(lines) + 1)
            made = f"{called(inner)}({call.source} * {factor / 65536})"
            lines.append(f"{indent}{call.target} = {f'tf.stop_gradient({made})' if call.stopped else made}")
            known.append(call.target)
            body.append(call)
        wanted = tuple(sorted({body[-1].target, rng.choice(body).target}))
        bodies.append(tuple(body))
        results.append(wanted)
        total = " + ".join(wanted)
        if last:
            lines.append(f"{indent}loss = tf.reduce_mean(tf.square({total}))")
            lines.append(f"{indent[:-4]}gradient = tape.gradient(loss, {weight})")
            lines.append(f"{indent[:-4]}return loss, gradient if gradient is not None else 0.0, {', '.join(known[1:])}")
        else:
            lines.append(f"{indent}return {total}")
        lines.append("")
        if methods:
            lines.append("")
    if methods:
        for name in NAMES:
            lines.append(f"{name}_ = {name.title()}()")
            lines.append(f"{name.title()}_ = lambda: {name}_")
        lines.append("step = step_.call")
    return Program("\n".join(lines) + "\n", tuple(bodies), tuple(results))


class Product(NamedTuple):
    """``used``: what it gives goes into a result; else TensorFlow leaves it out. ``gradient``: the loss's goes through
    it."""

    used: bool
    gradient: bool


def expected(made: Program) -> dict[tuple[int, ...], Product]:
    """The way of lines to each product, and what it is for."""
    found: dict[tuple[int, ...], Product] = {}

    def visit(level: int, way: tuple[int, ...], used: bool, gradient: bool) -> bool:
        """Whether the gradient reaches the argument."""
        if level == 0:
            found[way] = Product(used, gradient)
            return gradient
        wanted = set(made.results[level]) if used else set()
        if level == LEVELS:
            wanted = {call.target for call in made.bodies[level]}  # all are returned next to the loss
        differentiated = set(made.results[level]) if gradient else set()
        for call in reversed(made.bodies[level]):
            asked = call.target in differentiated and not call.stopped
            through = visit(call.level, (*way, call.line), call.target in wanted, asked)
            if call.target in wanted:
                wanted.add(call.source)
            if through:
                differentiated.add(call.source)
        return "x" in differentiated

    visit(LEVELS, (), True, True)
    return found


def told(made: Program, folder: Path) -> Counter[tuple[tuple[int, ...], str]]:
    """Count how often a product is attributed to a call path of lines, forward and backward."""
    import tensorflow as tf
    from tensorflow.python.eager import context
    from tfperfkit_probes.lines.graph.model import Place
    from tfperfkit_probes.lines.graph.origin import Origins
    from tfperfkit_probes.lines.graph.record import BuiltGraphs, definition

    from tfperfkit.graph.built import build
    from tfperfkit.graph.model import Graph
    from tfperfkit.instruments.graphs.sources import GraphSources

    file = folder / "program.py"
    file.write_text(made.text, encoding="utf-8")
    seen: list[BuiltGraphs] = []

    recorded: dict[str, Graph] = {}

    def listen(functions: Any, traced: Any, cost: int) -> None:
        if traced is not None:
            found = definition(getattr(traced.function, "python_function", traced.python_function), "")
            frames = [Place(f.file, f.line, f.function) for f in reversed(traced.frames) if f.file == str(file)]
            kept = {"function": found.function, "file": found.file, "line": found.line, "called_from": frames}
            seen.append(BuiltGraphs(number=len(seen), graphs=build(functions, recorded.get), owner="user", **kept))

    sources = GraphSources(
        lambda graph: recorded.update({graph.name: Graph(graph, recorded.get)}), lambda name: name == str(file)
    )
    spec = importlib.util.spec_from_file_location(f"program_{folder.name}", file)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    follower = sources.follow(listen)
    try:
        concrete = module.step.get_concrete_function(tf.TensorSpec([8, 8]))
    finally:
        follower.end()
    handle = context.context()
    handle.enable_graph_collection()
    concrete(tf.ones((8, 8)))
    graphs = handle.export_run_metadata().function_graphs
    handle.disable_graph_collection()
    (built,) = seen[-1:]
    origins = Origins(built)
    root = origins.graph_of(concrete.name if isinstance(concrete.name, str) else concrete.name.decode())
    assert root is not None
    found: Counter[tuple[tuple[int, ...], str]] = Counter()
    for node in graphs[-1].post_optimization_graph.node:
        if "MatMul" not in node.op:
            continue
        origin = origins.origin(root, node.name, node.op)
        way = tuple(item.line for item in origin.path if item.kind == "line") if origin is not None else ()
        found[way, origin.stage if origin is not None else "?"] += 1
    return found


def differences(seed: int, methods: bool) -> list[str]:
    made = program(seed, methods)
    product = next(number for number, line in enumerate(made.text.splitlines(), 1) if "tf.matmul" in line)
    truth = {(*way, product): what for way, what in expected(made).items()}
    with tempfile.TemporaryDirectory() as folder:
        found = told(made, Path(folder))
    wrong = []
    for (way, stage), count in sorted(found.items()):
        if way not in truth:
            wrong.append(f"{count} {stage} at {way}, where nothing is called")
        elif not (truth[way].used if stage == "f" else truth[way].gradient):
            wrong.append(f"{count} {stage} at {way}, where none is needed")
        elif count > (2 if stage == "b" else 1):
            wrong.append(f"{count} {stage} at {way}")
    for way, what in truth.items():
        if what.used and not found[way, "f"]:
            wrong.append(f"no forward at {way}")
        if what.gradient and not found[way, "b"]:
            wrong.append(f"no backward at {way}")
    return [f"seed {seed}{', methods' if methods else ''}: {text}" for text in wrong]


if __name__ == "__main__":
    wrong = [differences(int(seed), methods) for seed in sys.argv[1:] for methods in (False, True)]
    print(json.dumps(sum(wrong, [])))
