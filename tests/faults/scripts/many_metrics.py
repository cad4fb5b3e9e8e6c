import numpy as np
from tensorflow import keras

rng = np.random.default_rng(44)
X = rng.normal(size=(40_000, 30)).astype("float32")
y = (X[:, 0] + 0.5 * X[:, 1] ** 2 > 0.4).astype("float32")

model = keras.Sequential(
    [
        keras.Input((30,)),
        keras.layers.Dense(64, activation="relu"),
        keras.layers.Dense(1, activation="sigmoid"),
    ]
)
model.compile(
    optimizer="adam",
    loss="binary_crossentropy",
    metrics=[  # FAULT
        keras.metrics.AUC(name="roc", num_thresholds=2000),  # FAULT
        keras.metrics.AUC(name="pr", curve="PR", num_thresholds=2000),  # FAULT
        keras.metrics.PrecisionAtRecall(0.8, num_thresholds=2000),  # FAULT
    ],
)
history = model.fit(X, y, batch_size=512, epochs=4, verbose=2)  # FAULT
print("loss", history.history["loss"][-1])

# /// fault
# style = "fit"
# kind = "time"
# cause = "Costly metrics (AUC with many thresholds) are computed in every training step"
# codes = ["GRF002", "STP001"]
# families = ["graph", "step"]
# source = "Stack Overflow questions on tf.keras.metrics.AUC slowing the training; Keras documentation of num_thresholds"
# renamed = true
# ///
