"""Small VGG on synthetic 32x32 pictures, ordinary Keras."""
import numpy as np
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(0)
NUM_CLASSES, N_TRAIN, N_TEST = 10, 3072, 512
EPOCHS = 3


def pictures(n, seed):
    rng = np.random.default_rng(seed)
    protos = np.random.default_rng(99).normal(size=(NUM_CLASSES, 8, 8, 3))
    y = rng.integers(0, NUM_CLASSES, n)
    x = np.kron(protos[y], np.ones((1, 4, 4, 1)))
    x = x * 0.6 + rng.normal(size=(n, 32, 32, 3))
    return x.astype("float32"), y.astype("int32")


def conv_bn(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.Activation("relu")(x)


def vgg():
    inp = keras.Input((32, 32, 3))
    x = conv_bn(inp, 32)
    x = conv_bn(x, 32)
    x = layers.MaxPooling2D()(x)
    x = conv_bn(x, 64)
    x = conv_bn(x, 64)
    x = layers.MaxPooling2D()(x)
    x = conv_bn(x, 128)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.3)(x)
    return keras.Model(inp, layers.Dense(NUM_CLASSES)(x))


x_train, y_train = pictures(N_TRAIN, 1)
x_test, y_test = pictures(N_TEST, 2)

model = vgg()
steps = EPOCHS * (N_TRAIN // 128)
model.compile(
    optimizer=keras.optimizers.SGD(
        keras.optimizers.schedules.CosineDecay(0.05, steps), momentum=0.9, nesterov=True),
    loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    metrics=["accuracy"],
)
model.summary(line_length=80)
model.fit(x_train, y_train, batch_size=128, epochs=EPOCHS,
          validation_data=(x_test, y_test), verbose=2)


def confusion(model, x, y):
    guess = model.predict(x, batch_size=256, verbose=0).argmax(axis=1)
    table = np.zeros((NUM_CLASSES, NUM_CLASSES), int)
    np.add.at(table, (y, guess), 1)
    return table


table = confusion(model, x_test, y_test)
for c in range(NUM_CLASSES):
    print(f"class {c}: recall {table[c, c] / max(1, table[c].sum()):.2f}")
print("test:", [round(float(v), 4) for v in model.evaluate(x_test, y_test, batch_size=256, verbose=0)])
