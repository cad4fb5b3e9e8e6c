# Implicit-feedback factors for songs and listeners (BPR), own training loop.
# Settings of the optimizer are taken over from our vision trainer.
import time
import numpy as np
import keras
import tensorflow as tf

N_SONGS = 400_000
N_USERS = 60_000
DIM = 48
BATCH = 512
STEPS = 250


def optimizer_from_config(cfg):
    kind = cfg.pop("kind")
    return {"sgd": keras.optimizers.SGD, "adam": keras.optimizers.Adam}[kind](**cfg)


CONFIG = {
    "kind": "sgd",
    "learning_rate": 0.5,
    "use_ema": True,
    "ema_momentum": 0.999,
}


class BPR(tf.Module):
    def __init__(self, seed=2):
        super().__init__()
        g = tf.random.Generator.from_seed(seed)
        self.songs = tf.Variable(0.1 * g.normal([N_SONGS, DIM]), name="songs")
        self.users = tf.Variable(0.1 * g.normal([N_USERS, DIM]), name="users")

    def __call__(self, u, pos, neg):
        uv = tf.gather(self.users, u)
        sp = tf.reduce_sum(uv * tf.gather(self.songs, pos), axis=-1)
        sn = tf.reduce_sum(uv * tf.gather(self.songs, neg), axis=-1)
        return sp, sn


def plays(rng):
    """popular songs come more often; taste = user id and song id agree modulo 16"""
    while True:
        u = rng.integers(0, N_USERS, BATCH).astype("int32")
        pos = (rng.power(0.4, BATCH) * (N_SONGS // 16)).astype("int64") * 16 + u % 16
        neg = rng.integers(0, N_SONGS, BATCH)
        yield u, np.minimum(pos, N_SONGS - 1).astype("int32"), neg.astype("int32")


keras.utils.set_random_seed(7)
model = BPR()
opt = optimizer_from_config(CONFIG)
opt.build(model.trainable_variables)


@tf.function
def train_step(u, pos, neg):
    with tf.GradientTape() as tape:
        sp, sn = model(u, pos, neg)
        loss = tf.reduce_sum(tf.nn.softplus(sn - sp)) / 16.0
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply(grads)
    return loss * 16.0 / BATCH, tf.reduce_mean(tf.cast(sp > sn, tf.float32))


stream = plays(np.random.default_rng(1))
t0 = time.time()
losses, accs = [], []
for step in range(1, STEPS + 1):
    u, p, n = next(stream)
    l, a = train_step(tf.constant(u), tf.constant(p), tf.constant(n))
    losses.append(l)
    accs.append(a)
    if step % 50 == 0:
        print(f"{step:5d}  loss {np.mean(losses[-50:]):.5f}  auc {np.mean(accs[-50:]):.4f}  "
              f"{step * BATCH / (time.time() - t0):.0f} triples/s")

v = model.songs.numpy()
print("song vectors:", v.shape, "mean norm", np.linalg.norm(v, axis=1).mean().round(5))
