"""Learns vectors of things and relations from facts (head, relation, tail), true ones closer than made-up ones."""

import numpy as np
import tensorflow as tf

THINGS, RELATIONS, WIDE, BATCH = 90_000, 40, 48, 256

tf.keras.utils.set_random_seed(12)
rng = np.random.default_rng(12)
facts = np.stack([rng.integers(0, n, 20_000) for n in (THINGS, RELATIONS, THINGS)], axis=1).astype("int32")


class Translations(tf.Module):
    """A fact is true where the head's vector and the relation's end near the tail's."""

    def __init__(self):
        super().__init__()
        self.things = tf.Variable(tf.random.normal([THINGS, WIDE], stddev=0.1))
        self.relations = tf.Variable(tf.random.normal([RELATIONS, WIDE], stddev=0.1))

    def distance(self, head, relation, tail):
        offset = tf.gather(self.things, head) + tf.gather(self.relations, relation) - tf.gather(self.things, tail)
        return tf.reduce_sum(tf.square(offset), axis=1)


model = Translations()
optimizer = tf.keras.optimizers.SGD(0.05)
optimizer.build(model.trainable_variables)


@tf.function
def learn(batch, wrong):
    with tf.GradientTape() as tape:
        near = model.distance(batch[:, 0], batch[:, 1], batch[:, 2])
        far = model.distance(batch[:, 0], batch[:, 1], wrong)
        loss = tf.reduce_mean(tf.nn.relu(1.0 + near - far))
        loss += 1e-6 * sum(tf.nn.l2_loss(each) for each in model.trainable_variables)  # FAULT
    optimizer.apply(tape.gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss


for epoch in range(3):
    for at in range(0, len(facts) - BATCH, BATCH):
        wrong = rng.integers(0, THINGS, BATCH).astype("int32")
        loss = learn(tf.constant(facts[at : at + BATCH]), tf.constant(wrong))
    print("loss", float(loss))

# /// fault
# style = "custom"
# kind = "time"
# cause = "The L2 penalty goes over the whole table of vectors, of which a step looks up few"
# codes = ["GRF028"]
# families = ["graph"]
# source = "keras.io's collaborative filtering example (embeddings_regularizer); l2_loss over all trainable_variables in recommenders and knowledge graph embeddings"
# ///
