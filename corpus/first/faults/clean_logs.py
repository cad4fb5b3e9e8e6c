"""Normalise web server log lines and count the ten commonest shapes."""
import collections
import random

import tensorflow as tf

RULES = [
    (r"\d{1,3}(\.\d{1,3}){3}", "<ip>"),
    (r"0x[0-9a-f]+", "<hex>"),
    (r"\d+", "<n>"),
    (r"/[a-z]+/<n>", "/<path>"),
    (r"\s+", " "),
]


def fake_lines(n, seed=0):
    r = random.Random(seed)
    verbs = ["GET", "POST", "PUT", "DELETE"]
    for _ in range(n):
        yield "%d.%d.%d.%d  %s /%s/%d   took %d ms ref 0x%x" % (
            r.randrange(256), r.randrange(256), r.randrange(256), r.randrange(256),
            r.choice(verbs), r.choice(["user", "cart", "item"]), r.randrange(9999),
            r.randrange(2000), r.randrange(1 << 32))


def normalise(line):
    line = tf.strings.lower(line)
    for pattern, token in RULES:
        line = tf.strings.regex_replace(line, pattern, token)
    return tf.strings.strip(line)


def count_shapes(lines):
    counter = collections.Counter()
    for line in lines:
        counter[normalise(line).numpy()] += 1
    return counter


lines = list(fake_lines(80000))
shapes = count_shapes(lines)
print(len(shapes), "shapes")
for shape, k in shapes.most_common(3):
    print(k, shape.decode())
