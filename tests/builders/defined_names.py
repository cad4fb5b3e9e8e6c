"""Defines the names that a made-up source leaves open: an analysis claims nothing of unknown names."""

from __future__ import annotations

import ast

_ARRAYS = "x xs ys scan vs bs data levels queries gallery items alphas weights image state now batch i g start r"
_MODELS = "m model net online target policy"
_DEFINITIONS = {
    **{name: f"{name} = np.zeros((9, 3))" for name in _ARRAYS.split()},
    **{name: f"{name} = tf.keras.Sequential([])" for name in _MODELS.split()},
    "np": "import numpy as np",
    "tf": "import tensorflow as tf",
    "paths": 'paths = ["a", "b"]',
    "counts": "from collections import defaultdict\ncounts = defaultdict(int)",
    "out": "out = np.zeros(9)",
    "rows": "rows = []",
    "hits": "hits = 0",
    "f": "f = tf.exp",
    "v": "v = tf.Variable(1.0)",
    "metric": "metric = tf.keras.metrics.Mean()",
    "optimizer": "optimizer = tf.keras.optimizers.Adam()",
    "replay": "def replay():\n    return list(np.zeros((9, 3)))",
    "learn": "def learn(rows):\n    return len(rows)",
    "rank": "def rank(known, query):\n    return known",
}


def with_definitions(source: str) -> str:
    """Return the source with definitions of its open names at the end: its lines stay where they are."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    bound = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    bound |= {node.name for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    bound |= {
        item.asname or item.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for item in node.names
    }
    used = {node.id for node in names} | {"np", "tf"}
    lines = [text for name, text in _DEFINITIONS.items() if name in used - bound]
    return "\n".join([source.rstrip("\n"), *sorted(lines, key=lambda text: not text.startswith("import"))]) + "\n"
