"""Topic tagging of public tenders: bag of embeddings classifier trained with fit."""
import os
import shutil
import tempfile

import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

VOCAB = 24_000
WORDS = 60
TOPICS = 12


def tenders(n, seed):
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, TOPICS, n)
    own = rng.integers(0, 400, (n, WORDS)) + 400 * topic[:, None] + 1
    other = rng.integers(1, VOCAB, (n, WORDS))
    text = np.where(rng.random((n, WORDS)) < 0.25, own, other)
    return text.astype("int32"), topic.astype("int32")


class TopicTagger(keras.Model):
    def __init__(self, width=64):
        super().__init__()
        self.embed = layers.Embedding(VOCAB, width)
        self.pool = layers.GlobalAveragePooling1D()
        self.hidden = layers.Dense(64, activation="relu")
        self.out = layers.Dense(TOPICS)

    def call(self, words):
        return self.out(self.hidden(self.pool(self.embed(words))))


def train(workdir, epochs=2):
    x, y = tenders(9_600, 1)
    xv, yv = tenders(1_000, 2)
    model = TopicTagger()
    model(x[:1])
    model.compile(keras.optimizers.Adam(3e-3),
                  keras.losses.SparseCategoricalCrossentropy(from_logits=True),
                  metrics=["accuracy"], jit_compile=False)
    callbacks = [
        keras.callbacks.BackupAndRestore(os.path.join(workdir, "backup"), save_freq="epoch"),
        keras.callbacks.EarlyStopping("val_loss", patience=5),
    ]
    history = model.fit(x, y, batch_size=96, epochs=epochs, validation_data=(xv, yv),
                        callbacks=callbacks, verbose=2)
    return model, history


def main():
    keras.utils.set_random_seed(3)
    workdir = tempfile.mkdtemp()
    try:
        model, history = train(workdir)
        best = max(history.history["val_accuracy"])
        print(f"best validation accuracy {best:.4f}")
    finally:
        shutil.rmtree(workdir)


if __name__ == "__main__":
    main()
