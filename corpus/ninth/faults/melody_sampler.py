"""Sample new tunes from the note model and print simple statistics about them."""
import os
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

NOTES = 96
START = 0
TUNES = 24
LENGTH = 360
TEMPERATURE = 0.9


class NoteModel(keras.Model):
    def __init__(self, notes=NOTES, width=192, **kw):
        super().__init__(**kw)
        self.embed = layers.Embedding(notes, 48)
        self.rnn = layers.GRU(width, return_sequences=True, return_state=True)
        self.out = layers.Dense(notes)

    def call(self, notes, state=None):
        x = self.embed(notes)
        seq, state = self.rnn(x, initial_state=state)
        return self.out(seq), state


def restore_model(folder):
    # stands in for the weights that the training job leaves behind
    keras.utils.set_random_seed(4)
    trained = NoteModel()
    trained(tf.zeros([1, 2], tf.int32))
    path = os.path.join(folder, "notes.weights.h5")
    trained.save_weights(path)
    model = NoteModel()
    model(tf.zeros([1, 2], tf.int32))
    model.load_weights(path)
    return model


class Sampler:
    def __init__(self, model, temperature):
        self.model = model
        self.temperature = temperature

    @tf.function(input_signature=[tf.TensorSpec([TUNES, None], tf.int32), tf.TensorSpec([], tf.int32)])
    def next_note(self, notes, position):
        logits, _ = self.model(notes)
        gumbel = -tf.math.log(-tf.math.log(
            tf.random.stateless_uniform([TUNES, NOTES], tf.stack([position, 77]), minval=1e-7)))
        return tf.argmax(logits[:, -1] / self.temperature + gumbel, axis=-1, output_type=tf.int32)

    def sample(self, length):
        notes = tf.fill([TUNES, 1], START)
        for position in range(length):
            new = self.next_note(notes, tf.constant(position))
            notes = tf.concat([notes, new[:, None]], axis=1)
        return notes.numpy()[:, 1:]


def describe(tunes):
    steps = np.abs(np.diff(tunes, axis=1))
    hist = np.bincount(tunes.ravel(), minlength=NOTES) / tunes.size
    entropy = -(hist[hist > 0] * np.log2(hist[hist > 0])).sum()
    print(f"{tunes.shape[0]} tunes of {tunes.shape[1]} notes")
    print(f"mean interval {steps.mean():.2f}, entropy {entropy:.3f} bits, checksum {int(tunes.sum())}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        model = restore_model(folder)
        tunes = Sampler(model, TEMPERATURE).sample(LENGTH)
        describe(tunes)
