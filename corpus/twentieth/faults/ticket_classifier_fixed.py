"""Train the support ticket classifier on word ids of varying length."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

VOCAB = 3000
CLASSES = 6
BATCH = 48


def make_tickets(n=144, seed=1):
    rng = np.random.RandomState(seed)
    labels = rng.randint(0, CLASSES, n)
    lengths = np.clip(rng.lognormal(3.6, 0.6, n).astype(int), 6, 200)
    tickets = []
    for label, length in zip(labels, lengths):
        topic = rng.randint(1 + label * 400, 1 + (label + 1) * 400, length)
        common = rng.randint(2500, VOCAB, length)
        tickets.append(np.where(rng.rand(length) < 0.3, topic, common).astype(np.int32))
    return tickets, labels.astype(np.int32)


def make_dataset(tickets, labels):
    def generate():
        for x, y in zip(tickets, labels):
            yield x, y

    ds = tf.data.Dataset.from_generator(generate, output_signature=(
        tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.int32)))
    return ds.padded_batch(BATCH).prefetch(tf.data.AUTOTUNE)


def build_model():
    inputs = tf.keras.Input((None,), dtype="int32")
    x = layers.Embedding(VOCAB, 48)(inputs)
    for filters in (64, 64):
        x = layers.Conv1D(filters, 5, padding="same", activation="relu")(x)
        x = layers.LayerNormalization()(x)
    x = layers.GlobalMaxPooling1D()(x)
    x = layers.Dense(64, activation="relu")(x)
    outputs = layers.Dense(CLASSES)(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


def main():
    tf.keras.utils.set_random_seed(5)
    tickets, labels = make_tickets()
    split = len(tickets) * 5 // 6
    train = make_dataset(tickets[:split], labels[:split])
    test = make_dataset(tickets[split:], labels[split:])
    model = build_model()
    history = model.fit(train, epochs=8, verbose=0)
    print("loss", [round(v, 3) for v in history.history["loss"]])
    loss, accuracy = model.evaluate(test, verbose=0)
    print("test loss %.3f accuracy %.3f" % (loss, accuracy))


if __name__ == "__main__":
    main()
