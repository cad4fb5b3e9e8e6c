"""Transfer learning on a small image set: MobileNetV2 base + new classification head."""
import os
import numpy as np
import tensorflow as tf
import keras
from keras import layers

IMG = 96
NUM_CLASSES = 5
EPOCHS = 10
BATCH = 32
WEIGHTS = os.environ.get("MOBILENET_WEIGHTS")  # path to an .h5, optional

keras.utils.set_random_seed(7)


def synth_flowers(n, seed):
    """Coloured blobs with a class dependent number of petals."""
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:IMG, 0:IMG].astype("float32")
    labels = rng.integers(0, NUM_CLASSES, n)
    images = np.empty((n, IMG, IMG, 3), "float32")
    for i, k in enumerate(labels):
        cx, cy = rng.uniform(35, 61, 2)
        ang = np.arctan2(yy - cy, xx - cx) + rng.uniform(0, 6.28)
        rad = np.hypot(yy - cy, xx - cx)
        petals = (rad < 22 + 10 * np.cos((k + 3) * ang)).astype("float32")
        colour = rng.uniform(100, 255, 3)
        img = petals[..., None] * colour + rng.normal(40, 20, (IMG, IMG, 3))
        images[i] = np.clip(img, 0, 255)
    return images, labels.astype("int32")


def get_base():
    base = keras.applications.MobileNetV2(
        input_shape=(IMG, IMG, 3), include_top=False, weights=WEIGHTS,
        pooling="avg", alpha=0.5)
    base.trainable = False
    return base


def extract(base, images):
    x = keras.applications.mobilenet_v2.preprocess_input(images.copy())
    return base.predict(x, batch_size=BATCH, verbose=0)


def build_model(base):
    inputs = keras.Input(shape=base.output_shape[1:])
    x = layers.Dense(64, activation="relu")(inputs)
    outputs = layers.Dense(NUM_CLASSES)(x)
    return keras.Model(inputs, outputs)


def main():
    x_train, y_train = synth_flowers(640, seed=1)
    x_val, y_val = synth_flowers(160, seed=2)
    print("train:", x_train.shape, " val:", x_val.shape)

    base = get_base()
    x_train, x_val = extract(base, x_train), extract(base, x_val)
    model = build_model(base)
    model.compile(
        optimizer=keras.optimizers.Adam(1e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    trainable = sum(int(np.prod(w.shape)) for w in model.trainable_weights)
    print("trainable parameters:", trainable)

    hist = model.fit(
        x_train, y_train,
        validation_data=(x_val, y_val),
        epochs=EPOCHS,
        batch_size=BATCH,
        verbose=2,
    )

    loss, acc = model.evaluate(x_val, y_val, verbose=0)
    print(f"final val loss {loss:.4f}  val acc {acc:.4f}")
    print("best val acc:", max(hist.history["val_accuracy"]))


if __name__ == "__main__":
    main()
