# coding: utf-8
# Weld seam inspection, exported from notebook "03-train-small-cnn.ipynb"

# In[1]:
import time
import numpy as np
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers

keras.utils.set_random_seed(42)
print(tf.__version__, keras.__version__)

# In[2]:
IMG = 48
CLASSES = ["ok", "crack", "pore", "burn"]


def weld_images(n, seed):
    rng = np.random.default_rng(seed)
    yy, xx = np.mgrid[0:IMG, 0:IMG].astype("float32")
    x = rng.normal(0.5, 0.08, (n, IMG, IMG, 1)).astype("float32")
    y = rng.integers(0, len(CLASSES), n)
    cx, cy = rng.uniform(10, IMG - 10, (2, n)).astype("float32")
    for i in range(n):
        if y[i] == 1:
            x[i, :, :, 0] -= 0.5 * (np.abs(yy - cy[i] - 0.4 * (xx - cx[i])) < 1.2)
        elif y[i] == 2:
            x[i, :, :, 0] -= 0.5 * ((yy - cy[i]) ** 2 + (xx - cx[i]) ** 2 < 9)
        elif y[i] == 3:
            x[i, :, :, 0] += 0.3 * np.exp(-((yy - cy[i]) ** 2 + (xx - cx[i]) ** 2) / 60)
    return np.clip(x, 0, 1), y.astype("int32")


x_train, y_train = weld_images(1500, 0)
x_test, y_test = weld_images(300, 1)
x_train.shape, np.bincount(y_train)

# In[3]:
def block(x, filters):
    x = layers.Conv2D(filters, 3, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    x = layers.ReLU()(x)
    return layers.MaxPooling2D()(x)


inputs = keras.Input((IMG, IMG, 1))
h = block(inputs, 24)
h = block(h, 48)
h = block(h, 96)
h = layers.GlobalAveragePooling2D()(h)
h = layers.Dropout(0.3)(h)
h = layers.Dense(len(CLASSES))(h)
outputs = layers.Activation("softmax", dtype="float32")(h)
model = keras.Model(inputs, outputs)
model.summary()

# In[4]:
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="sparse_categorical_crossentropy",
    metrics=["accuracy"],
    jit_compile=False,
)

t0 = time.time()
hist = model.fit(
    x_train, y_train,
    validation_data=(x_test, y_test),
    batch_size=64,
    epochs=3,
    verbose=2,
)
print("training took %.1f s" % (time.time() - t0))

# In[5]:
pred = model.predict(x_test, batch_size=128, verbose=0).argmax(1)
conf = np.zeros((4, 4), int)
np.add.at(conf, (y_test, pred), 1)
for name, row in zip(CLASSES, conf):
    print(f"{name:>6}", row)
