"""Multi-label tagging with many curves watched during training."""

import keras
import numpy as np
from keras import layers

TAGS = 40
rng = np.random.default_rng(0)
features = rng.normal(size=(20_000, 128)).astype("float32")
tags = (rng.random((20_000, TAGS)) < 0.1).astype("float32")

model = keras.Sequential(
    [
        keras.Input((128,)),
        layers.Dense(256, activation="relu"),
        layers.Dropout(0.3),
        layers.Dense(128, activation="relu"),
        layers.Dense(TAGS, activation="sigmoid"),
    ]
)
model.compile(
    optimizer=keras.optimizers.Adam(1e-3),
    loss="binary_crossentropy",
    metrics=[
        keras.metrics.AUC(name="roc", multi_label=True, num_labels=TAGS, num_thresholds=500),
        keras.metrics.AUC(name="pr", curve="PR", multi_label=True, num_labels=TAGS, num_thresholds=500),
        keras.metrics.PrecisionAtRecall(0.8, num_thresholds=500),
    ],
)
model.fit(
    features[:18_000],
    tags[:18_000],
    validation_data=(features[18_000:], tags[18_000:]),
    batch_size=128,
    epochs=12,
    verbose=2,
)
