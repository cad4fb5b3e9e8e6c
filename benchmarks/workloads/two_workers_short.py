"""Two workers that train for some seconds; each notes what it has done in a file of its own, for whoever kills it.

two_workers_short.py FOLDER STEPS       FOLDER/0 and FOLDER/1 get a line "NUMBER CLOCK PROCESSOR" (ns) after each step
"""

import json
import os
import sys
import time

import tensorflow as tf

FOLDER, STEPS = sys.argv[1], int(sys.argv[2])
CONFIG = os.environ.get("TF_CONFIG")  # without: one process
RANK = json.loads(CONFIG)["task"]["index"] if CONFIG else 0
strategy = tf.distribute.MultiWorkerMirroredStrategy()
with strategy.scope():
    weights = tf.Variable(tf.ones([64, 64]))
    optimizer = tf.keras.optimizers.SGD(0.01)
    optimizer.build([weights])


@tf.function
def train_step(x):
    def replica_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, weights)))
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
        return loss

    return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica_step, (x,)), axis=None)


done = os.open(os.path.join(FOLDER, str(RANK)), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
for number in range(1, STEPS + 1):
    train_step(tf.ones([32, 64]))
    os.write(done, f"{number} {time.monotonic_ns()} {time.process_time_ns()}\n".encode())
    time.sleep(0.005)
