"""Insurance-claims severity model: many low-cardinality categorical columns + a few numeric ones."""
import argparse
import logging

import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

logging.basicConfig(level=logging.INFO, format="[%(levelname)s] %(message)s")


def get_args():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=24000)
    parser.add_argument("--columns", type=int, default=160)
    parser.add_argument("--numeric", type=int, default=14)
    parser.add_argument("--dim", type=int, default=8)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--seed", type=int, default=99)
    return parser.parse_args()


def synth_claims(args):
    rng = np.random.default_rng(args.seed)
    sizes = rng.integers(3, 30, args.columns)
    cats = np.stack([rng.integers(0, k, args.rows) for k in sizes], axis=1).astype("int32")
    nums = rng.normal(size=(args.rows, args.numeric)).astype("float32")
    y = nums[:, :3].sum(1)
    for j in range(0, args.columns, 9):
        y = y + rng.normal(0, 0.5, sizes[j])[cats[:, j]]
    y = y + rng.normal(0, 0.4, args.rows)
    return cats, nums, ((y - y.mean()) / y.std()).astype("float32"), sizes


class CategoricalBlock(layers.Layer):
    """Embeds every categorical column and concatenates the results."""

    def __init__(self, sizes, dim, **kwargs):
        super().__init__(**kwargs)
        self.sizes = [int(s) for s in sizes]
        self.dim = dim
        self.tables = [layers.Embedding(s, dim, name=f"col_{i}") for i, s in enumerate(self.sizes)]

    def call(self, inputs):
        parts = [table(inputs[:, i]) for i, table in enumerate(self.tables)]
        return tf.concat(parts, axis=-1)

    def compute_output_shape(self, input_shape):
        return (input_shape[0], len(self.sizes) * self.dim)


def build_model(args, sizes):
    cat_in = keras.Input((args.columns,), dtype="int32", name="cats")
    num_in = keras.Input((args.numeric,), name="nums")
    x = CategoricalBlock(sizes, args.dim)(cat_in)
    x = layers.Concatenate()([x, num_in])
    x = layers.Dense(128, activation="relu")(x)
    x = layers.Dropout(0.1)(x)
    x = layers.Dense(64, activation="relu")(x)
    out = layers.Dense(1)(x)
    model = keras.Model([cat_in, num_in], out)
    model.compile(optimizer=keras.optimizers.Adam(1e-3), loss="huber", metrics=["mae"])
    return model


def main():
    args = get_args()
    keras.utils.set_random_seed(args.seed)
    cats, nums, y, sizes = synth_claims(args)
    split = int(args.rows * 0.8)

    def to_ds(sl, shuffle):
        ds = tf.data.Dataset.from_tensor_slices(({"cats": cats[sl], "nums": nums[sl]}, y[sl, None]))
        if shuffle:
            ds = ds.shuffle(20000, seed=args.seed)
        return ds.batch(args.batch_size).prefetch(tf.data.AUTOTUNE)

    train, valid = to_ds(slice(0, split), True), to_ds(slice(split, None), False)
    model = build_model(args, sizes)
    logging.info("%d categorical columns, %d parameters", args.columns, model.count_params())
    stop = keras.callbacks.EarlyStopping(patience=2, restore_best_weights=True)
    hist = model.fit(train, validation_data=valid, epochs=args.epochs, callbacks=[stop], verbose=0)
    for i, (a, b) in enumerate(zip(hist.history["loss"], hist.history["val_mae"])):
        logging.info("epoch %d loss %.4f val_mae %.4f", i + 1, a, b)


if __name__ == "__main__":
    main()
