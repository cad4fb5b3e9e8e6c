import os
import tempfile

import numpy as np
import tensorflow as tf

FOLDER = tempfile.mkdtemp()
dice = np.random.default_rng(3)
for number in range(2):
    status, seconds = dice.choice([200, 404, 500], 20_000), dice.random(20_000)
    with open(os.path.join(FOLDER, f"access{number}.log"), "w") as log:
        log.writelines(f"{n}|{code}|{took:.3f}|GET\n" for n, (code, took) in enumerate(zip(status, seconds)))


def fields(line):
    parts = tf.strings.split(line, "|")
    return tf.strings.to_number(parts[1], tf.int32), tf.strings.to_number(parts[2])


files = tf.data.Dataset.list_files(os.path.join(FOLDER, "*.log"), shuffle=False)
lines = files.interleave(tf.data.TextLineDataset)
requests = lines.map(fields, num_parallel_calls=tf.data.AUTOTUNE).batch(256)  # FAULT

slow = np.zeros(600, int)
for limit in (0.5, 0.9, 0.99):
    for status, seconds in requests:
        np.add.at(slow, status.numpy(), seconds.numpy() > limit)
print(slow[[200, 404, 500]])

# /// fault
# style = "text"
# kind = "time"
# cause = "The lines of a log are split one by one before batch, in a loop that only counts"
# codes = ["INP007"]
# families = ["input"]
# source = "questions on slow TextLineDataset pipelines that split or decode_csv each line; tensorflow.org guide on CSV data, which parses batches"
# ///
