"""Next-chord prediction: a small causal transformer with a train_step of its own."""
import keras
import numpy as np
import tensorflow as tf

VOCAB, LENGTH, DIM = 96, 64, 96


class ChordModel(keras.Model):
    def __init__(self, depth=2):
        super().__init__()
        self.tokens = keras.layers.Embedding(VOCAB, DIM)
        self.places = keras.layers.Embedding(LENGTH, DIM)
        self.attend = [keras.layers.MultiHeadAttention(4, DIM // 4) for _ in range(depth)]
        self.feed = [keras.Sequential([keras.layers.Dense(4 * DIM, "gelu"), keras.layers.Dense(DIM)])
                     for _ in range(depth)]
        self.norms = [keras.layers.LayerNormalization() for _ in range(2 * depth)]
        self.out = keras.layers.Dense(VOCAB)
        self.tracker = keras.metrics.Mean(name="loss")

    def call(self, chords):
        x = self.tokens(chords) + self.places(tf.range(LENGTH))
        for i, (attend, feed) in enumerate(zip(self.attend, self.feed)):
            h = self.norms[2 * i](x)
            x = x + attend(h, h, use_causal_mask=True)
            x = x + feed(self.norms[2 * i + 1](x))
        return self.out(x)

    def train_step(self, pieces):
        with tf.GradientTape() as tape:
            logits = self(pieces[:, :-1], training=True)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(pieces[:, 1:], logits))
        grads, _ = tf.clip_by_global_norm(tape.gradient(loss, self.trainable_variables), 1.0)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        self.tracker.update_state(loss)
        return {"loss": self.tracker.result()}

    @property
    def metrics(self):
        return [self.tracker]


def pieces(count, seed):
    rng = np.random.default_rng(seed)
    start = rng.integers(0, VOCAB, (count, 1))
    steps = rng.choice([5, 7, 12], (count, LENGTH))
    return ((start + np.cumsum(np.hstack([0 * start, steps]), 1)) % VOCAB).astype("int32")


keras.utils.set_random_seed(88)
data = tf.data.Dataset.from_tensor_slices(pieces(2048, 88)).shuffle(2048).batch(64).prefetch(2)
model = ChordModel()
model.compile(keras.optimizers.AdamW(1e-3))
model.fit(data, epochs=2, verbose=2)
