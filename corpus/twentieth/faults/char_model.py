"""Character model on the collected letters, after the book's chapter on RNNs."""
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf

N_STEPS = 40
BATCH_SIZE = 64


def make_text(n_sentences=1050, seed=0):
    rng = np.random.RandomState(seed)
    subjects = ["the miller", "my brother", "a stranger", "the old queen", "nobody"]
    verbs = ["walked", "sang", "waited", "slept", "wrote a letter"]
    places = ["by the river", "in the garden", "at the inn", "under the bridge"]
    return " ".join(
        "%s %s %s." % (subjects[rng.randint(5)], verbs[rng.randint(5)], places[rng.randint(4)])
        for _ in range(n_sentences))


def encode(text):
    chars = sorted(set(text))
    ids = {c: i for i, c in enumerate(chars)}
    return np.array([ids[c] for c in text], np.int32), len(chars)


def make_dataset(encoded):
    window_length = N_STEPS + 1
    dataset = tf.data.Dataset.from_tensor_slices(encoded)
    dataset = dataset.window(window_length, shift=1, drop_remainder=True)
    dataset = dataset.flat_map(lambda window: window.batch(window_length))
    dataset = dataset.shuffle(10000, seed=42).batch(BATCH_SIZE)
    dataset = dataset.map(lambda windows: (windows[:, :-1], windows[:, -1]))
    return dataset.prefetch(1)


def main():
    tf.keras.utils.set_random_seed(42)
    encoded, n_chars = encode(make_text())
    split = len(encoded) * 9 // 10
    train_set = make_dataset(encoded[:split])
    valid_set = make_dataset(encoded[split:])

    model = tf.keras.Sequential([
        tf.keras.Input((N_STEPS,), dtype="int32"),
        tf.keras.layers.Embedding(n_chars, 12),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(n_chars, activation="softmax"),
    ])
    model.compile(loss="sparse_categorical_crossentropy", optimizer="adam",
                  metrics=["accuracy"], jit_compile=False)
    history = model.fit(train_set, epochs=2, validation_data=valid_set, verbose=0)
    for name in ("loss", "accuracy", "val_loss"):
        print(name, [round(v, 3) for v in history.history[name]])


if __name__ == "__main__":
    main()
