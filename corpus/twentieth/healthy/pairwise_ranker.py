"""BPR matrix factorisation with full ranking on the held-out items after every epoch."""
import os
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

USERS, ITEMS, DIM = 1500, 2500, 48
BATCH = 2048
EPOCHS = 6


def make_interactions(seed=0):
    rng = np.random.RandomState(seed)
    user_taste = rng.normal(size=(USERS, 8))
    item_taste = rng.normal(size=(ITEMS, 8))
    scores = user_taste @ item_taste.T + rng.gumbel(size=(USERS, ITEMS)) * 1.5
    liked = np.argpartition(-scores, 41, axis=1)[:, :41]
    users = np.repeat(np.arange(USERS), 40).astype(np.int32)
    return users, liked[:, :40].reshape(-1).astype(np.int32), liked[:, 40].astype(np.int32)


class Ranker(tf.Module):
    def __init__(self):
        super().__init__()
        init = tf.random_normal_initializer(stddev=0.05, seed=1)
        self.users = tf.Variable(init([USERS, DIM]), name="users")
        self.items = tf.Variable(init([ITEMS, DIM]), name="items")
        self.bias = tf.Variable(tf.zeros([ITEMS]), name="bias")


def main():
    tf.keras.utils.set_random_seed(1)
    users, items, held_out = make_interactions()
    seen = np.zeros((USERS, ITEMS), bool)
    seen[users, items] = True
    penalty = tf.constant(np.where(seen, -1e9, 0.0).astype(np.float32))
    held_out = tf.constant(held_out)
    model = Ranker()
    optimizer = tf.keras.optimizers.Adagrad(0.1)
    optimizer.build(model.trainable_variables)

    @tf.function
    def train_step(u, i, j):
        with tf.GradientTape() as tape:
            eu, ei, ej = tf.gather(model.users, u), tf.gather(model.items, i), tf.gather(model.items, j)
            margin = (tf.reduce_sum(eu * (ei - ej), 1)
                      + tf.gather(model.bias, i) - tf.gather(model.bias, j))
            loss = -tf.reduce_mean(tf.math.log_sigmoid(margin))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss

    @tf.function
    def evaluate(block):
        scores = tf.matmul(tf.gather(model.users, block), model.items, transpose_b=True)
        scores += model.bias + tf.gather(penalty, block)
        target = tf.gather(held_out, block)
        own = tf.gather(scores, target, batch_dims=1)
        rank = tf.reduce_sum(tf.cast(scores > own[:, None], tf.int32), 1)
        return tf.reduce_sum(tf.cast(rank < 50, tf.float32))

    rng = np.random.RandomState(2)
    checkpoint = tf.train.Checkpoint(model=model)
    folder = tempfile.mkdtemp()
    blocks = tf.data.Dataset.range(USERS).batch(500)
    for epoch in range(EPOCHS):
        order = rng.permutation(len(users))
        negatives = rng.randint(0, ITEMS, len(users)).astype(np.int32)
        ds = tf.data.Dataset.from_tensor_slices((users[order], items[order], negatives))
        losses = [train_step(u, i, j) for u, i, j in ds.batch(BATCH, drop_remainder=True).prefetch(2)]
        hits = sum(float(evaluate(block)) for block in blocks)
        print("epoch", epoch, "loss %.4f hit@50 %.4f" % (np.mean(losses), hits / USERS))
        if epoch % 3 == 2:
            checkpoint.write(os.path.join(folder, "ranker-%d" % epoch))


if __name__ == "__main__":
    main()
